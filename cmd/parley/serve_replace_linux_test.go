package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
)

// answered allows the open request of a session's agent, and waits for the end of its turn.
func (s *simHost) answered(c *client.Client, session string) {
	s.Helper()
	viewer := &simServer{T: s.T, c: c}
	done := map[string]bool{}
	viewer.until(session, func(c *event.Conversation) bool {
		for _, p := range c.Prompts {
			if id := p.RequestID(); !done[id] {
				done[id] = true
				viewer.call("permission.respond", api.PermissionRespondParams{SessionID: session, RequestID: id, Behavior: "allow"}, nil)
			}
		}
		return c.State == "idle" && c.Totals.Turns == 1
	})
	if len(done) == 0 {
		s.Error("the agent has not asked")
	}
}

// TestServe_replace starts a server that replaces a running or a stopped one while an agent waits
// for a permission. The new server has the address, the tokens, the session and the agent of the
// old one, which ends.
func TestServe_replace(t *testing.T) {
	short.SkipLong(t, "starts servers")
	for _, stopped := range []bool{false, true} {
		t.Run(map[bool]string{false: "runs", true: "stopped"}[stopped], func(t *testing.T) {
			t.Parallel()
			s := newSimHost(t)
			old, viewer := s.serve("--host")
			id := s.connect(viewer)
			before, _ := s.agents()
			var exit *exec.ExitError
			if stopped {
				if err := old.Process.Signal(syscall.SIGSTOP); err != nil {
					t.Fatal(err)
				}
			}
			address := strings.TrimPrefix(viewer.URL(), "http://")
			server, c := s.serve("--host", "--replace", "--listen", address)
			if err := old.Wait(); errors.As(err, &exit) != stopped {
				t.Errorf("the old server ended with %v", err)
			}
			if c.URL() != viewer.URL() {
				t.Errorf("the new server is at %s, want %s", c.URL(), viewer.URL())
			}
			after, _ := s.agents()
			if len(before) != 1 || len(after) != 1 || after[0].PID != before[0].PID || after[0].Exit != nil {
				t.Errorf("the agents were %+v and are %+v, want the same", before, after)
			}
			s.answered(viewer, id)
			end(t, server, syscall.SIGINT)
		})
	}
}

// copyProgram replaces the file at a path with the program, as an upgrade does.
func copyProgram(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(linkedProgram(t))
	if err == nil {
		err = os.WriteFile(path+".new", data, 0o700)
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestServe_upgrade replaces the program and then the server while an agent waits for a permission.
// The turn ends as usual, and the host, which still runs the old program, starts an agent for the
// new server.
func TestServe_upgrade(t *testing.T) {
	short.SkipLong(t, "starts servers")
	s := newSimHost(t)
	program := filepath.Join(t.TempDir(), "parley")
	copyProgram(t, program)
	args := append(slices.Clone(s.args), "--host")
	old, viewer := serveProgram(t, program, s.env, args)
	first := s.connect(viewer)
	before, _ := s.agents()
	copyProgram(t, program)
	server, _ := serveProgram(t, program, s.env, append(args, "--replace", "--listen", strings.TrimPrefix(viewer.URL(), "http://")))
	if err := old.Wait(); err != nil {
		t.Errorf("the old server ended with %v", err)
	}
	second := s.connect(viewer)
	s.answered(viewer, first)
	s.answered(viewer, second)
	after, _ := s.agents()
	slices.SortFunc(after, func(a, b host.Agent) int { return int(a.Number) - int(b.Number) })
	if len(before) != 1 || len(after) != 2 || after[0].PID != before[0].PID {
		t.Errorf("the agents were %+v and are %+v, want one more", before, after)
	}
	end(t, server, syscall.SIGINT)
}

// TestServe_replaceFails starts a server that fails to replace the running one, which continues
// with the same address, tokens, session and agent.
func TestServe_replaceFails(t *testing.T) {
	short.SkipLong(t, "starts servers")
	s := newSimHost(t)
	server, viewer := s.serve("--host")
	id := s.connect(viewer)
	before, _ := s.agents()
	address := strings.TrimPrefix(viewer.URL(), "http://")
	second := exec.CommandContext(t.Context(), linkedProgram(t), append(append([]string{"serve"}, s.args...), "--host", "--replace", "--listen", address, "--agent", "no-such-agent")...)
	second.Env = s.env
	out, err := second.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "no-such-agent") {
		t.Fatalf("the second server ended with %v and printed %q", err, out)
	}
	s.answered(viewer, id)
	if after, _ := s.agents(); len(after) != 1 || after[0].PID != before[0].PID {
		t.Errorf("the agents were %+v and are %+v, want the same", before, after)
	}
	end(t, server, syscall.SIGINT)
}
