package simagent_test

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"

	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/agent/simagent"
	"github.com/seed7221b0f9/parley/internal/test/parts"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestProvider runs the acceptance suite. The agent has no MCP server, no tasks, and no process
// that could exit.
func TestProvider(t *testing.T) {
	agenttest.Run(t, func(t *testing.T) agenttest.Subject {
		return agenttest.Subject{
			Provider:     &simagent.Provider{Dir: t.TempDir(), Pace: -1},
			Capabilities: parts.Of(t, "`simagent`"),
			Prompts:      agenttest.Prompts{Say: "say hello", Tool: "tool Bash", Plan: "plan", Question: "ask me a question", Wait: "wait"},
		}
	})
}

// A tour changes only a new file of the session's directory, after permission, and reports its tokens.
func TestProvider_project(t *testing.T) {
	dir := t.TempDir()
	taken := filepath.Join(dir, "parley-demo-notes.md")
	if err := os.WriteFile(taken, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	var tokens atomic.Int64
	p := &simagent.Provider{Pace: -1, Project: true}
	s, err := p.Open(t.Context(), agent.Options{Dir: dir, OnUsed: func(u agent.Used) { tokens.Add(u.Tokens.Input + u.Tokens.Output) }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Send(t.Context(), agent.Input{UUID: "7ab1e5e5-0000-4000-8000-000000000002", Text: "edit"}); err != nil {
		t.Fatal(err)
	}
	asked := 0
	for ev, err := range s.Events(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if ask, ok := ev.(*event.PermissionRequest); ok {
			if _, err := os.Stat(filepath.Join(dir, "parley-demo-notes-2.md")); (err == nil) != (asked > 0) {
				t.Errorf("request %d: the file exists: %v", asked, err == nil)
			}
			asked++
			if err := s.Answer(t.Context(), ask.RequestID, &agent.PermissionAnswer{Allow: true}); err != nil {
				t.Fatal(err)
			}
		}
		if _, ok := ev.(*event.ResultMessage); ok {
			break
		}
	}
	made, err := os.ReadFile(filepath.Join(dir, "parley-demo-notes-2.md"))
	if own, _ := os.ReadFile(taken); string(own) != "mine" || err != nil || string(made) != "# Notes\n\n- done\n" {
		t.Errorf("the files have %q and %q, %v", own, made, err)
	}
	if asked != 2 || tokens.Load() == 0 {
		t.Errorf("%d requests, %d tokens", asked, tokens.Load())
	}
}
