package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/top"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
)

// simServer is a server with the simulated agent, and its environment for other programs.
type simServer struct {
	flags []string
	stop  func()
	*testing.T
	c    *client.Client
	data string
	dir  string // sessions may run in it
	env  []string
}

func newSimServer(t *testing.T, args ...string) *simServer {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("PARLEY_SIM_PACE", "0")
	t.Setenv("HOME", dir) // git reads the configuration in it
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	s := &simServer{T: t, data: filepath.Join(dir, "data"), dir: filepath.Join(dir, "work")}
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s.flags = append([]string{"--listen", "127.0.0.1:0", "--data", s.data, "--dir", s.dir, "--log-level", "error", "--agent", "sim"}, args...)
	f := serveFlagsFor(t, s.flags...)
	s.c, _, s.stop = serveUntil(t, f)
	hermetic, err := claudetest.HermeticEnv(filepath.Join(dir, "other"), "http://127.0.0.1:9")
	if err != nil {
		t.Fatal(err)
	}
	s.env = append(hermetic, "GORACE=atexit_sleep_ms=0")
	return s
}

// call calls a method that must succeed.
func (s *simServer) call(method string, params, result any) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), waitLimit)
	defer cancel()
	if err := s.c.Call(ctx, method, params, result); err != nil {
		s.Fatalf("%s: %v", method, err)
	}
}

// start starts the command without a terminal, with this input.
func (s *simServer) start(input string, args ...string) *program {
	s.Helper()
	path, err := exec.LookPath("parley") // created by TestMain
	if err != nil {
		s.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(s.Context(), waitLimit)
	s.Cleanup(cancel)
	p := &program{s: s, cmd: exec.CommandContext(ctx, path, args...)}
	p.cmd.Env, p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = s.env, strings.NewReader(input), &p.out, &p.complaints
	if err := p.cmd.Start(); err != nil {
		s.Fatal(err)
	}
	return p
}

// program is the running command.
type program struct {
	s               *simServer
	cmd             *exec.Cmd
	out, complaints bytes.Buffer
}

func (p *program) wait() (stdout, stderr string, code int) {
	p.s.Helper()
	if err := p.cmd.Wait(); err != nil {
		if _, ok := errors.AsType[*exec.ExitError](err); !ok {
			p.s.Fatal(err)
		}
	}
	return p.out.String(), p.complaints.String(), p.cmd.ProcessState.ExitCode()
}

// parley runs the command on the server, without a terminal.
func (s *simServer) parley(args ...string) (stdout, stderr string, code int) {
	s.Helper()
	return s.start("", append(args, "--data", s.data)...).wait()
}

// until follows a session until its conversation satisfies ok.
func (s *simServer) until(session string, ok func(c *event.Conversation) bool) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), waitLimit)
	defer cancel()
	var v client.View
	for ev, err := range s.c.Follow(ctx, session, nil) {
		if err == nil {
			err = v.Apply(ev)
		}
		if err != nil {
			s.Fatal(err)
		}
		if ok(&v.Conversation) {
			return
		}
	}
}

// talking creates a session with a prompt, and returns it when it has a state.
func (s *simServer) talking(prompt, state string) string {
	s.Helper()
	var r api.ConnectResult
	s.call("session.connect", api.ConnectParams{}, &r)
	s.call("session.query", api.QueryParams{SessionID: r.SessionID, Text: prompt}, nil)
	s.until(r.SessionID, func(c *event.Conversation) bool { return c.State == state })
	return r.SessionID
}

// asking creates a session with an agent that waits for a person.
func (s *simServer) asking() string {
	s.Helper()
	return s.talking("tool Bash", "requires_action")
}

func TestTop(t *testing.T) {
	short.SkipQuick(t, "starts several commands")
	s := newSimServer(t, "--budget", "scope=server period=day tokens=1000000")
	id := s.asking()
	out, complaints, code := s.parley("top")
	for _, want := range []string{"agents 1 of 8, 0 waiting · sessions 1 · requests 1 · queued 0 · memory ", " MB · p99 ", " of 1.0M tokens  server per day", id, "requires_action"} {
		if code != 0 || complaints != "" || !strings.Contains(out, want) || strings.Contains(out, "\x1b") {
			t.Errorf("exit code %d, %q; there is no %q in\n%s", code, complaints, want, out)
		}
	}
	out, _, code = s.parley("top", "--json")
	var frame top.Frame
	if err := json.Unmarshal([]byte(out), &frame); err != nil || code != 0 || len(frame.Sessions) != 1 || frame.Sessions[0].SessionID != id || frame.Metrics.P99 == nil || len(frame.Budgets) != 1 {
		t.Errorf("exit code %d: %s, %v", code, out, err)
	}
	s.env = append(s.env, "PARLEY_TOKEN=wrong")
	if _, complaints, code := s.parley("top", "--server", s.c.URL()); code != 1 || !strings.HasPrefix(complaints, "parley: ") {
		t.Errorf("with a wrong token: exit code %d, %q", code, complaints)
	}
	if _, _, code := s.parley("top", "--interval", "1ms"); code != term.ExitUsage {
		t.Errorf("with a short interval: exit code %d", code)
	}
}

// On a terminal the view is live and follows resizes, and Ctrl-C restores the terminal.
func TestTop_terminal(t *testing.T) {
	short.SkipQuick(t, "starts several commands")
	s := newSimServer(t)
	id := s.asking()
	s.call("session.rename", api.SessionRenameParams{SessionID: id, Title: "a title"}, nil)
	p := sitDown(t, "http://127.0.0.1:9", nil, "top", "--data", s.data, "--interval", "100ms")
	p.sees(string(term.OtherScreen), "sessions 1 · requests 1", id, "a title")
	p.resizes(30, 10)
	p.sees("agents 1 of 8, 0 waiting · se…")
	var r api.ConnectResult
	s.call("session.connect", api.ConnectParams{}, &r)
	p.resizes(120, 20)
	p.sees("sessions 2 · requests 1", r.SessionID)
	p.types("\x03")
	if all := p.ends(0); !strings.Contains(all, string(term.OwnScreen)) {
		t.Errorf("seen %q", all)
	}
}
