package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
)

// address returns the address of the server with its token.
func (s *simServer) address() string {
	s.Helper()
	text, err := os.ReadFile(filepath.Join(s.data, "address"))
	if err != nil {
		s.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// sessions returns the ids of all sessions.
func (s *simServer) sessions() (ids []string) {
	s.Helper()
	var r api.ListResult
	s.call("session.list", api.ListParams{}, &r)
	for _, one := range r.Sessions {
		ids = append(ids, one.SessionID)
	}
	return ids
}

// TestRun_server runs prompts in sessions on a server, like with a local agent.
func TestRun_server(t *testing.T) {
	short.SkipQuick(t, "starts several commands")
	s := newSimServer(t)
	out, said, code := s.start("", "run", "--server", s.address(), "markdown").wait()
	ids := s.sessions()
	if code != 0 || len(ids) != 1 || !strings.Contains(out, "The end.") || !strings.Contains(said, "continue with: parley attach "+ids[0]) {
		t.Fatalf("exit code %d, sessions %q, answer %q, said %q", code, ids, out, said)
	}
	// The tool of the prompt is not allowed, and there is no user to ask.
	out, said, code = s.start("", "run", "--server", s.address(), "--session", ids[0], "bash").wait()
	if code != 0 || !strings.Contains(said, "declined, because no user is asked: Bash") || !strings.Contains(said, "✗") || strings.Contains(out, "The end.") || strings.Contains(said, "continue with") {
		t.Errorf("exit code %d, answer %q, said %q", code, out, said)
	}
	out, said, code = s.start("more input", "run", "--server", s.address(), "--session", ids[0], "--output", "json", "--quiet", "think").wait()
	var result struct{ Type, Subtype string }
	if err := json.Unmarshal([]byte(out), &result); err != nil || result.Type != "result" || result.Subtype != "success" || code != 0 || said != "" {
		t.Errorf("exit code %d, answer %q, said %q, %v", code, out, said, err)
	}
	if again := s.sessions(); len(again) != 1 {
		t.Errorf("the sessions are %q", again)
	}
	// A chat has the same options for its new session.
	if out, said, code := s.start("markdown\n", "chat", "--server", s.address(), "--agent", "sim", "--permission-mode", "plan").wait(); code != 0 || !strings.Contains(out, "The end.") {
		t.Errorf("chat: exit code %d, answer %q, said %q", code, out, said)
	}
	var list api.ListResult
	if s.call("session.list", api.ListParams{}, &list); !slices.ContainsFunc(list.Sessions, func(s api.SessionSummary) bool { return s.PermissionMode == "plan" }) {
		t.Errorf("the sessions are %+v, want one in the mode plan", list.Sessions)
	}
	if _, said, code := s.start("hello\n", "chat", "--server", s.address(), "--agent", "none").wait(); code != term.ExitFailed || !strings.Contains(said, `unknown provider "none"`) {
		t.Errorf("chat with an unknown agent: exit code %d, said %q", code, said)
	}
	if _, said, code := s.start("hello\n", "chat", "--server", s.address(), "--settings", "{}").wait(); code != term.ExitUsage || !strings.Contains(said, "--settings is unsupported with --server") {
		t.Errorf("chat with settings: exit code %d, said %q", code, said)
	}
	for _, tt := range []struct {
		args string
		code int
		says string
	}{
		{"--server " + s.address() + " --session s-none hello", term.ExitFailed, "s-none"},
		{"--server " + s.address() + " --agent none hello", term.ExitFailed, `unknown provider "none"; this server has sim`},
		{"--session " + ids[0] + " --agent sim hello", term.ExitUsage, "--agent is unsupported with --session"},
		{"--session " + ids[0] + " --model m hello", term.ExitUsage, "--model is unsupported with --session"},
		{"--machine m1 hello", term.ExitUsage, "--machine m1: it needs --server"},
		{"--session " + ids[0] + " --machine m1 hello", term.ExitUsage, "--machine is unsupported with --session"},
		{"--server " + s.address() + " --machine m1 hello", term.ExitFailed, `no machine "m1" has joined`},
		{"--session " + ids[0] + " hello", term.ExitFailed, "no server runs with the data in"},
	} {
		if out, said, code := s.start("", append([]string{"run"}, strings.Fields(tt.args)...)...).wait(); code != tt.code || out != "" || !strings.Contains(said, tt.says) {
			t.Errorf("%s: exit code %d, answer %q, said %q", tt.args, code, out, said)
		}
	}
}

// A prompt that waits for the turn of another client ends when it is removed from the queue, or
// cancelled by Ctrl-C or the timeout. The turn continues.
func TestRun_serverQueue(t *testing.T) {
	short.SkipQuick(t, "starts several commands")
	s := newSimServer(t)
	id := s.talking("wait", "running")
	queued := func(n int) { s.until(id, func(c *event.Conversation) bool { return len(c.Queue) == n }) }
	remove := func(*program) {
		var r api.QueueListResult
		s.call("queue.list", api.SessionRef{SessionID: id}, &r)
		s.call("queue.remove", api.QueueItemParams{SessionID: id, ID: r.Items[0].ID}, nil)
	}
	run := []string{"run", "--server", s.address(), "--session", id, "think"}
	for _, tt := range []struct {
		name  string
		input string
		args  []string
		end   func(p *program)
		code  int
		says  string
	}{
		{"removed", "", run, remove, term.ExitFailed, "error: another client removed the prompt from the queue"},
		{"removed of attach", "think\n", []string{"attach", "--data", s.data, id}, remove, term.ExitFailed, "another client removed the prompt from the queue: think"},
		{"interrupted", "", run, func(p *program) {
			if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
				t.Error(err)
			}
		}, term.ExitOnSIGINT, ""},
		{"timed out", "", append(run, "--timeout", "1s"), nil, term.ExitFailed, "timed out after 1s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := s.start(tt.input, tt.args...)
			if tt.end != nil {
				queued(1)
				tt.end(p)
			}
			if out, said, code := p.wait(); code != tt.code || out != "" && tt.input == "" || !strings.Contains(said, tt.says) {
				t.Errorf("exit code %d, answer %q, said %q", code, out, said)
			}
			queued(0)
			s.until(id, func(c *event.Conversation) bool { return c.State == "running" })
		})
	}
	s.call("session.interrupt", api.SessionRef{SessionID: id}, nil) // the server does not wait for the end of the turn
	s.until(id, func(c *event.Conversation) bool { return c.State == "idle" })
}
