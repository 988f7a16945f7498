package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/acp/acpagent"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/codex/codextest"
	"github.com/seed7221b0f9/parley/internal/test/e2e/codexcli"
)

// promptCodex opens a session of parley acp with the real codex, sends a prompt, and closes the
// session with the test.
func promptCodex(t *testing.T, program string, home *codextest.Home, text string) (context.Context, agent.Session) {
	t.Helper()
	p := &acpagent.Provider{Command: []string{linkedProgram(t), "acp", "--agent", "codex", "--no-prewarm"}, Logger: slog.New(slog.DiscardHandler)}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	s, err := p.Open(ctx, agent.Options{Dir: home.Project, Env: append(home.Env(), "PARLEY_CODEX="+program)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // the agent may have ended
	if err := s.Send(ctx, agent.Input{UUID: "00000000-0000-4000-8000-000000000001", Text: text}); err != nil {
		t.Fatal(err)
	}
	return ctx, s
}

// TestACP_codex runs parley acp with the real codex as an editor would: text arrives, a command
// asks for permission once, and runs only if it is allowed.
func TestACP_codex(t *testing.T) {
	program := codexcli.Require(t, codexcli.Newer)
	for name, allow := range map[string]bool{"allowed": true, "declined": false} {
		t.Run(name, func(t *testing.T) {
			api := codextest.NewAPI(t)
			api.ReplyTo("make a file", codextest.Calls(codextest.EscalatedCommand("call_1", "touch made", "May I?")), codextest.Say("That ", "was it."))
			home := codextest.NewHome(t, api, "")
			ctx, s := promptCodex(t, program, home, "make a file")
			var conv event.Conversation
			asked := 0
			for ev, err := range s.Events(ctx) {
				if err != nil {
					t.Fatal(err)
				}
				conv.Apply(ev)
				if req, ok := ev.(*event.PermissionRequest); ok {
					asked++
					if err := s.Answer(ctx, req.RequestID, &agent.PermissionAnswer{Allow: allow}); err != nil {
						t.Error(err)
					}
				}
				if _, ok := ev.(*event.ResultMessage); ok {
					break
				}
			}
			_, err := os.Stat(filepath.Join(home.Project, "made"))
			if asked != 1 || (err == nil) != allow {
				t.Errorf("asked %d times, and the file is there: %v", asked, err)
			}
			if text := conversationText(&conv); !strings.Contains(text, "That was it.") {
				t.Errorf("the conversation has the text %q", text)
			}
		})
	}
}

// TestACP_codexChange runs parley acp with the real codex: before a file is changed, the editor
// gets its path, its location and the diff, and afterwards the diff again.
func TestACP_codexChange(t *testing.T) {
	program := codexcli.Require(t, codexcli.Newer)
	api := codextest.NewAPI(t)
	patch := "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+ONE\n two\n*** End Patch\n"
	api.ReplyTo("fix it", codextest.Calls(codextest.Patch("call_1", patch)), codextest.Say("Done."))
	home := codextest.NewHome(t, api, "approval_policy = \"on-request\"\nsandbox_mode = \"read-only\"\n")
	if err := os.WriteFile(filepath.Join(home.Project, "a.txt"), []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, s := promptCodex(t, program, home, "fix it")
	var asked, ended string
	for ev, err := range s.Events(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if r, ok := ev.(*event.PermissionRequest); ok && asked == "" {
			asked = r.DisplayName + string(r.Content) + string(r.Locations)
			if err := s.Answer(ctx, r.RequestID, &agent.PermissionAnswer{Allow: true}); err != nil {
				t.Error(err)
			}
		}
		if m, ok := ev.(*event.AssistantMessage); ok {
			for _, b := range m.Blocks {
				ended += string(b.Block.Content)
			}
		}
		if _, ok := ev.(*event.ResultMessage); ok {
			break
		}
	}
	for _, want := range []string{"Edit a.txt", `"newText":"ONE\ntwo"`, `"oldText":"one\ntwo"`, filepath.Join(home.Project, "a.txt")} {
		if !strings.Contains(asked, want) {
			t.Errorf("the request does not have %s: %s", want, asked)
		}
	}
	if !strings.Contains(ended, `"newText":"ONE\ntwo"`) {
		t.Errorf("the call does not have the diff: %s", ended)
	}
}

// conversationText returns the text of the agent.
func conversationText(c *event.Conversation) string {
	var b strings.Builder
	for _, th := range c.Threads {
		for _, it := range th.Items {
			if it.Message == nil {
				continue
			}
			for _, block := range it.Message.Blocks {
				b.WriteString(block.Text.String())
			}
		}
	}
	return b.String()
}
