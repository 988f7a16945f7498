package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
)

// newTerminalWorld starts a server with terminalAgent.
func newTerminalWorld(t *testing.T, command string) *hostWorld {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	env, err := claudetest.HermeticEnv(dir, "http://127.0.0.1:9")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "agent")
	script := fmt.Sprintf("#!/bin/sh\n%s='%s' exec %s\n", terminalVariable, command, self)
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	w := &hostWorld{t: t}
	w.start(t.TempDir(), append(env, "GORACE=atexit_sleep_ms=0", "PATH="+os.Getenv("PATH")), "--agent", "acp:"+program)
	return w
}

// terminals returns the commands that the host runs for agents.
func (w *hostWorld) terminals() []host.Agent {
	return slices.DeleteFunc(w.agents(), func(a host.Agent) bool { return !strings.Contains(a.Key, "/terminal-") })
}

// TestServe_hostTerminal ends a server while a command runs that an agent has started in a
// terminal. The command continues and is not started again; the agent gets all of its output and
// its exit from the next server. In a second turn the command ends while no server runs.
func TestServe_hostTerminal(t *testing.T) {
	short.SkipQuick(t, "starts several servers")
	w := newTerminalWorld(t, "echo begin; echo error >&2; echo run >>runs; while ! [ -e go ]; do sleep 0.02; done; rm go; echo end; exit 3")
	path := func(name string) string { return filepath.Join(w.project, name) }
	var r api.ConnectResult
	w.call("session.connect", api.ConnectParams{}, &r)
	w.session = r.SessionID
	var before []host.Agent
	for turn := 1; turn <= 2; turn++ {
		w.call("session.query", api.QueryParams{SessionID: w.session, Text: "run it"}, nil)
		eventually(t, "the command runs", func() bool {
			text, _ := os.ReadFile(path("runs"))
			before = w.terminals() // the host lists a command a moment after its start
			return strings.Count(string(text), "run") == turn && len(before) > 0
		})
		w.end(syscall.SIGKILL)
		if after := w.terminals(); len(before) != 1 || len(after) != 1 || after[0].PID != before[0].PID || after[0].Exit != nil {
			t.Fatalf("before the end of the server the terminals are %+v, after it %+v", before, after)
		}
		begin := func() {
			if err := os.WriteFile(path("go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if turn == 2 {
			begin()
			eventually(t, "the command ends", func() bool { all := w.terminals(); return len(all) == 1 && all[0].Exit != nil })
		}
		w.serve()
		if turn == 1 {
			begin()
		}
		c := w.until("the turn ends", func(c *event.Conversation) bool { return c.Totals.Turns == int64(turn) && c.State == "idle" })
		want := `offered true, output "begin\nerror\nend\n", exit map[exitCode:3]`
		if n := strings.Count(conversationText(c), want); n != turn {
			t.Errorf("turn %d: %q is there %d times:\n%s", turn, want, n, conversationText(c))
		}
		eventually(t, "the released terminal is forgotten", func() bool { return len(w.terminals()) == 0 })
	}
	if text, err := os.ReadFile(path("runs")); err != nil || string(text) != "run\nrun\n" {
		t.Errorf("the commands have run %q, %v, want once for each turn", text, err)
	}
	w.end(syscall.SIGINT)
}

// TestServe_hostTerminalEnds checks that commands in terminals end with their agent: when its
// session ends, and when no server can adopt it.
func TestServe_hostTerminalEnds(t *testing.T) {
	short.SkipQuick(t, "starts several servers")
	for _, way := range []string{"closed", "agent killed", "host killed"} {
		t.Run(way, func(t *testing.T) {
			w := newTerminalWorld(t, "echo begin; exec sleep 1000")
			var r api.ConnectResult
			w.call("session.connect", api.ConnectParams{InitialPrompt: "run it"}, &r)
			w.session = r.SessionID
			eventually(t, "the command runs", func() bool { return len(w.terminals()) == 1 })
			command := w.terminals()[0].PID
			all := w.agents()
			agent := all[slices.IndexFunc(all, func(a host.Agent) bool { return a.Key == w.session })]
			switch way {
			case "closed":
				w.call("session.disconnect", api.SessionRef{SessionID: w.session}, nil)
			case "agent killed":
				w.end(syscall.SIGKILL)
				if err := syscall.Kill(agent.PID, syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
				w.serve()
			case "host killed":
				l, err := host.Dial(t.Context(), w.data, 0)
				if err != nil {
					t.Fatal(err)
				}
				pid := l.Host().PID
				l.Close()
				w.end(syscall.SIGKILL)
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
				w.serve()
			}
			eventually(t, "the command ends", func() bool { return syscall.Kill(command, 0) != nil && len(w.terminals()) == 0 })
			w.until("the session has no agent", func(c *event.Conversation) bool { return c.State != "running" && c.State != "requires_action" })
			w.end(syscall.SIGINT)
		})
	}
}
