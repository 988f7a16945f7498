package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/internal/sim"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
)

// simHost runs parley serve with the simulated agent over the Agent Client Protocol, which can run
// under a host.
type simHost struct {
	*testing.T
	data      string
	env, args []string
}

func newSimHost(t *testing.T) *simHost {
	dir := t.TempDir()
	s := &simHost{T: t, data: filepath.Join(dir, "data")}
	s.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir, sim.PaceVariable + "=0", "GORACE=atexit_sleep_ms=0"}
	s.args = []string{"--listen", "127.0.0.1:0", "--data", s.data, "--dir", dir, "--log-level", "error",
		"--agent", "acp:" + linkedProgram(t) + " acp --agent sim", "--pass-env", sim.PaceVariable}
	t.Cleanup(s.stop)
	return s
}

// agents returns the agents of the host, and whether a host runs.
func (s *simHost) agents() (agents []host.Agent, runs bool) {
	s.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	l, err := host.Dial(ctx, s.data, 0)
	if err != nil {
		return nil, false
	}
	defer l.Close()
	agents, err = l.Agents(ctx)
	if err != nil {
		s.Fatal(err)
	}
	return agents, true
}

// stop ends a host that a failed test has left running.
func (s *simHost) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	if l, err := host.Dial(ctx, s.data, 0); err == nil {
		defer l.Close()
		if err := l.Stop(ctx); err != nil {
			s.Errorf("the host is not stopped: %v", err)
		}
	}
}

// connect creates a session and waits until its agent asks for a permission.
func (s *simHost) connect(c *client.Client) string {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), waitLimit)
	defer cancel()
	var r api.ConnectResult
	if err := c.Call(ctx, "session.connect", api.ConnectParams{InitialPrompt: "hello"}, &r); err != nil {
		s.Fatal(err)
	}
	(&simServer{T: s.T, c: c}).until(r.SessionID, func(c *event.Conversation) bool { return c.State == "requires_action" })
	return r.SessionID
}

// serve starts a server.
func (s *simHost) serve(more ...string) (*exec.Cmd, *client.Client) {
	s.Helper()
	return serveProcess(s.T, s.env, slices.Concat(s.args, more))
}

// TestServe_hostSignals checks that a host starts with the first agent, that SIGTERM leaves both running, and that SIGINT ends both.
func TestServe_hostSignals(t *testing.T) {
	short.SkipLong(t, "starts servers")
	s := newSimHost(t)
	server, c := s.serve("--host")
	if agents, runs := s.agents(); runs {
		t.Errorf("before the first session a host runs with %+v", agents)
	}
	id := s.connect(c)
	before, _ := s.agents()
	if len(before) != 1 || before[0].Key != id {
		t.Fatalf("the host has %+v, want the agent of %s", before, id)
	}
	end(t, server, syscall.SIGTERM)
	if after, _ := s.agents(); len(after) != 1 || after[0].PID != before[0].PID || after[0].Exit != nil {
		t.Errorf("after SIGTERM the host has %+v, want process %d running", after, before[0].PID)
	}
	server, _ = s.serve("--host")
	if after, _ := s.agents(); len(after) != 1 || after[0].PID != before[0].PID {
		t.Errorf("the next server has %+v, want process %d", after, before[0].PID)
	}
	end(t, server, syscall.SIGINT)
	if after, runs := s.agents(); runs {
		t.Errorf("after SIGINT a host runs with %+v", after)
	}
	if err := syscall.Kill(before[0].PID, 0); err == nil {
		t.Errorf("after SIGINT the agent %d runs", before[0].PID)
	}
}

// TestServe_noHost checks that with --no-host no host starts, and that agents which an earlier
// server has left in a host are ended.
func TestServe_noHost(t *testing.T) {
	short.SkipLong(t, "starts servers")
	s := newSimHost(t)
	server, c := s.serve("--host")
	s.connect(c)
	end(t, server, syscall.SIGTERM)
	left, _ := s.agents()
	if len(left) != 1 {
		t.Fatalf("after SIGTERM the host has %+v, want one agent", left)
	}
	server, c = s.serve("--no-host")
	if after, runs := s.agents(); runs {
		t.Errorf("with --no-host a host runs with %+v", after)
	}
	if err := syscall.Kill(left[0].PID, 0); err == nil {
		t.Errorf("with --no-host the agent %d runs that the server before has left", left[0].PID)
	}
	s.connect(c)
	if after, runs := s.agents(); runs {
		t.Errorf("with --no-host an agent starts a host with %+v", after)
	}
	end(t, server, syscall.SIGTERM)
}

// end ends a server with a signal. The server must exit without an error.
func end(t *testing.T, server *exec.Cmd, s syscall.Signal) {
	t.Helper()
	if err := server.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
	if err := server.Wait(); err != nil {
		t.Fatalf("after %v the server ended with %v", s, err)
	}
}
