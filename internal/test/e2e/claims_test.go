package e2e_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
)

// asked returns the text of all requests to the model.
func asked(api *claudetest.FakeAPI) string {
	var b strings.Builder
	for _, r := range api.Requests() {
		b.Write(r.Body)
	}
	return b.String()
}

// A guard is also called in the mode in which a classifier decides, and a refused call does not run.
func TestGuardInAutoMode(t *testing.T) {
	t.Parallel()
	w := newWorld(t, touchFile, claudetest.Say("done"))
	w.opts.PermissionMode = message.ModeAuto
	var seen atomic.Int32
	w.opts.Guard = func(_ context.Context, g *claude.GuardRequest) (*claude.Deny, error) {
		seen.Add(1)
		return &claude.Deny{Message: "guarded " + g.ToolName}, nil
	}
	talk := collect(claude.Query(t.Context(), "go", w.opts))
	if seen.Load() != 1 || w.exists("f1") || !strings.Contains(talk.toolResults(), "guarded Bash") {
		t.Errorf("seen %d times: %s", seen.Load(), talk.toolResults())
	}
}

// With Isolation the real CLI does not see the user's memory and settings and the environment of the
// caller; without it, it sees all three.
func TestIsolation(t *testing.T) {
	cli := e2e.CLI(t)
	config := filepath.Join(t.TempDir(), "config")
	if err := os.MkdirAll(config, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"CLAUDE.md":     "planted memory",
		"settings.json": `{"permissions":{"allow":["Bash(touch planted)"]}}`,
	} {
		if err := os.WriteFile(filepath.Join(config, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("CLAUDE_CONFIG_DIR", config)
	t.Setenv("PLANTED", "planted-variable")
	for name, isolation := range map[string]*claude.Isolation{"open": nil, "isolated": {}} {
		t.Run(name, func(t *testing.T) {
			api := claudetest.StartFakeAPI(t, claudetest.Replies(
				claudetest.Use("Bash", map[string]any{"command": "touch planted", "description": "touch"}),
				claudetest.Use("Bash", map[string]any{"command": "printenv PLANTED", "description": "look"}),
				claudetest.Say("done"),
			))
			hermetic, err := claudetest.HermeticOptions(t.TempDir(), api.URL())
			if err != nil {
				t.Fatal(err)
			}
			opts := &claude.Options{CLIPath: cli, Dir: hermetic.Dir, Isolation: isolation, Env: map[string]string{}, AllowedTools: []string{"Bash(printenv PLANTED)"}, SystemPrompt: &claude.PromptPreset{}}
			for key, value := range hermetic.Env {
				if key != "CLAUDE_CONFIG_DIR" && key != "HOME" {
					opts.Env[key] = value
				}
			}
			talk := collect(claude.Query(t.Context(), "go", opts))
			talk.one(t)
			_, err = os.Stat(filepath.Join(opts.Dir, "planted"))
			body := asked(api)
			got := []bool{strings.Contains(body, "planted memory"), err == nil, strings.Contains(body, "planted-variable")}
			for i, what := range []string{"the user's memory", "the user's settings", "the caller's environment"} {
				if want := isolation == nil; got[i] != want {
					t.Errorf("it sees %s: %v, want %v", what, got[i], want)
				}
			}
		})
	}
}

// A session is resumed up to a message: later messages are no longer part of the conversation.
func TestResumeAtMessage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, claudetest.Say("first-answer"), claudetest.Say("second-answer"), claudetest.Say("third-answer"))
	client := w.connect()
	at := ""
	for _, prompt := range []string{"first-prompt", "second-prompt"} {
		for msg, err := range client.Query(t.Context(), prompt) {
			if err != nil {
				t.Fatal(err)
			}
			if a, ok := msg.(*message.Assistant); ok && prompt == "first-prompt" {
				at = a.UUID
			}
		}
	}
	id := client.SessionID()
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	before := len(w.api.Requests())
	w.opts.Resume, w.opts.ResumeSessionAt, w.opts.ForkSession = id, at, true
	result, err := claude.Run(t.Context(), "third-prompt", w.opts)
	if err != nil || result.Result != "third-answer" || result.SessionID == id {
		t.Fatalf("%v, %v; want err == nil and result.Result == \"third-answer\" and result.SessionID != id", result, err)
	}
	var body strings.Builder
	for _, r := range w.api.Requests()[before:] {
		body.Write(r.Body)
	}
	for word, want := range map[string]bool{"first-prompt": true, "first-answer": true, "third-prompt": true, "second-prompt": false, "second-answer": false} {
		if got := strings.Contains(body.String(), word); got != want {
			t.Errorf("%s is in the resumed conversation: %v, want %v", word, got, want)
		}
	}
}
