package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/internal/sim"
	"github.com/seed7221b0f9/parley/internal/supervise"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
)

// escapes are the ways in which a command leaves the process $P in the background.
var escapes = []string{`sh -c "$P" &`, `(nohup sh -c "$P" &)`, `(setsid sh -c "$P" &)`, `(env -i sh -c "$P" &)`, `(setsid env -i sh -c "$P" &)`}

// escapee is a CLI that leaves processes running: it starts a process in each way and then runs the
// simulated agent. The processes write their ids to dir.
type escapee struct{ program, dir string }

func newEscapee(t *testing.T) escapee {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	e := escapee{filepath.Join(t.TempDir(), "claude"), t.TempDir()}
	script := "#!/bin/sh\n"
	for i, how := range escapes {
		script += fmt.Sprintf("P='echo $$ >%s/'$$'-%d; exec tail -f /dev/null'\n{ %s\n} </dev/null >/dev/null 2>&1\n", e.dir, i, how)
	}
	script += fmt.Sprintf("for i in 0 1 2 3 4; do while ! test -s %s/$$-$i; do sleep 0.01; done; done\n", e.dir)
	script += fmt.Sprintf("%s=0 CLAUDETEST_PROGRAM=%s exec %s \"$@\"\n", sim.PaceVariable, sim.Name, self)
	if err := os.WriteFile(e.program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for pid := range e.running(t) {
			_ = syscall.Kill(pid, syscall.SIGKILL) // in case the test has failed
		}
	})
	return e
}

// started waits until the agent runs, and returns the leftover processes.
func (e escapee) started(t *testing.T) map[int]string {
	t.Helper()
	for end := time.After(time.Minute); ; {
		if running := e.running(t); len(running) >= len(escapes) {
			return running
		}
		select {
		case <-end:
			t.Fatal("the agent has not started its processes")
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// running returns the running processes with their command lines.
func (e escapee) running(t *testing.T) map[int]string {
	t.Helper()
	notes, err := filepath.Glob(filepath.Join(e.dir, "*-*"))
	if err != nil {
		t.Fatal(err)
	}
	running := map[int]string{}
	for _, note := range notes {
		text, _ := os.ReadFile(note)
		pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
		args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // empty for a process that has ended
		if pid > 0 && bytes.Contains(args, []byte("tail\x00-f\x00/dev/null")) {
			running[pid] = escapes[note[len(note)-1]-'0']
		}
	}
	return running
}

// checkEnded fails the test if a leftover process still runs after patience.
func (e escapee) checkEnded(t *testing.T, after string, patience time.Duration) {
	t.Helper()
	for end := time.After(patience); ; {
		running := e.running(t)
		if len(running) == 0 {
			return
		}
		select {
		case <-end:
			t.Fatalf("after %s there are %v", after, running)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// parleyCommand returns a command in an environment without other agents.
func parleyCommand(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Args[0], cmd.Dir = "parley", t.TempDir()
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + cmd.Dir, sim.PaceVariable + "=0", "GORACE=atexit_sleep_ms=0"}
	return cmd
}

// TestSupervisorIsFirst: the command becomes a supervisor before the packages of the server are initialised.
func TestSupervisorIsFirst(t *testing.T) {
	cmd := parleyCommand(t)
	cmd.Args[0], cmd.Env = supervise.Name, append(cmd.Env, "GODEBUG=inittrace=1")
	out, _ := cmd.CombinedOutput() // fails because no command to start is given
	var before []string
	for line := range strings.Lines(string(out)) {
		if name, ok := strings.CutPrefix(line, "init "); ok {
			before = append(before, strings.Fields(name)[0])
		}
	}
	if len(before) == 0 || len(before) > 40 || slices.ContainsFunc(before, func(name string) bool { return strings.Contains(name, "/parley/") }) {
		t.Errorf("initialised before the supervisor: %q", before)
	}
}

// TestRun_children: background processes of an agent end with parley run, chat and acp, regardless of how these end. Codex and
// the agent of the Agent Client Protocol never answer here.
func TestRun_children(t *testing.T) {
	short.SkipLong(t, "starts servers")
	newSession := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}` + "\n"
	for _, tt := range []struct {
		name   string
		args   []string
		input  string
		sig    syscall.Signal // 0: the input ends
		within time.Duration  // 0: when the command ends, no process may be left
	}{
		{"run", []string{"run", "--cli", "AGENT", "hello"}, "", 0, 0},
		{"run, kept", []string{"run", "--keep-children", "--cli", "AGENT", "hello"}, "", 0, 0},
		{"chat, interrupted", []string{"chat", "--cli", "AGENT"}, "hello\n", syscall.SIGINT, 0},
		{"chat, killed", []string{"chat", "--cli", "AGENT"}, "hello\n", syscall.SIGKILL, time.Minute},
		{"codex, interrupted", []string{"run", "--agent", "codex", "--cli", "AGENT", "hello"}, "", syscall.SIGINT, 0},
		{"acp:COMMAND, interrupted", []string{"run", "--agent", "acp:AGENT", "hello"}, "", syscall.SIGINT, 0},
		{"acp", []string{"acp", "--cli", "AGENT"}, newSession, 0, 0},
		{"acp, killed", []string{"acp", "--cli", "AGENT"}, newSession, syscall.SIGKILL, time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := newEscapee(t)
			cmd := parleyCommand(t, strings.Split(strings.ReplaceAll(strings.Join(tt.args, "\n"), "AGENT", e.program), "\n")...)
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			in, err := cmd.StdinPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.WriteString(in, tt.input)
			if tt.args[0] == "run" {
				_ = in.Close() // it waits for that
			}
			if tt.sig != 0 || tt.args[0] == "acp" {
				e.started(t)
			}
			if tt.sig != 0 {
				_ = cmd.Process.Signal(tt.sig)
			} else {
				_ = in.Close()
			}
			_ = cmd.Wait() // its status does not matter
			if notes, _ := os.ReadDir(e.dir); len(notes) < len(escapes) {
				t.Fatalf("the agent has not run: %s", &out)
			}
			if kept := e.running(t); slices.Contains(tt.args, "--keep-children") {
				if len(kept) == 0 {
					t.Error("nothing was kept")
				}
				return
			}
			e.checkEnded(t, tt.name, tt.within)
		})
	}
}

// escaping starts a server with an escapee. It returns a function that connects a session and waits for its processes.
func escaping(t *testing.T, more ...string) (e escapee, cmd *exec.Cmd, c *client.Client, connect func() (id string)) {
	t.Helper()
	e = newEscapee(t)
	dir := t.TempDir()
	env := []string{"PATH=" + filepath.Dir(e.program) + ":" + os.Getenv("PATH"), "HOME=" + dir, "GORACE=atexit_sleep_ms=0"}
	args := []string{"--agent", "claude", "--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "data"), "--dir", dir, "--log-level", "error"}
	cmd, c = serveProcess(t, env, append(args, more...))
	return e, cmd, c, func() string {
		t.Helper()
		var session api.ConnectResult
		if err := c.Call(t.Context(), "session.connect", api.ConnectParams{}, &session); err != nil {
			t.Fatal(err)
		}
		if err := c.Call(t.Context(), "session.query", api.QueryParams{SessionID: session.SessionID, Text: "say hello"}, nil); err != nil {
			t.Fatal(err)
		}
		e.started(t)
		return session.SessionID
	}
}

// TestServe_children: background processes end with the session's agent, with the server and when the server is killed.
func TestServe_children(t *testing.T) {
	short.SkipLong(t, "starts servers")
	e, cmd, c, connect := escaping(t, "--idle-timeout", "1s")
	if err := c.Call(t.Context(), "session.disconnect", map[string]string{"session_id": connect()}, nil); err != nil {
		t.Fatal(err)
	}
	e.checkEnded(t, "session.disconnect", 20*time.Second)
	connect()
	e.checkEnded(t, "the idle timeout", 30*time.Second)
	connect()
	_ = cmd.Process.Signal(syscall.SIGTERM)
	_ = cmd.Wait() // its status does not matter
	e.checkEnded(t, "the server", 0)

	e, cmd, _, connect = escaping(t, "--no-host")
	connect()
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
	e.checkEnded(t, "the kill of the server", 30*time.Second)
}

// TestServe_keepChildren checks that with --keep-children a process outside the agent's process group survives the server.
func TestServe_keepChildren(t *testing.T) {
	short.SkipLong(t, "starts servers")
	e, cmd, _, connect := escaping(t, "--keep-children")
	connect()
	_ = cmd.Process.Signal(syscall.SIGTERM)
	_ = cmd.Wait() // its status does not matter
	left := slices.Sorted(maps.Values(e.running(t)))
	want := slices.Sorted(slices.Values([]string{escapes[2], escapes[4]})) // those with setsid
	if !slices.Equal(left, want) {
		t.Errorf("left %q, want %q", left, want)
	}
}

// TestOptions_supervisor checks that with Options.Supervisor no process survives Run and
// Client.Close. Without it, only a process in another session with an empty environment survives.
func TestOptions_supervisor(t *testing.T) {
	short.SkipQuick(t, "starts several commands")
	parley, err := exec.LookPath("parley") // TestMain has put it there
	if err != nil {
		t.Fatal(err)
	}
	run := func(ctx context.Context, o *claude.Options) error {
		_, err := claude.Run(ctx, "hello", o)
		return err
	}
	closed := func(ctx context.Context, o *claude.Options) error {
		client, err := claude.Connect(ctx, o)
		if err != nil {
			return err
		}
		turn, err := client.Send(ctx, claude.Text("hello"))
		if err == nil {
			_, err = turn.Wait(ctx)
		}
		return errors.Join(err, client.Close())
	}
	for name, use := range map[string]func(context.Context, *claude.Options) error{"Run": run, "Close": closed} {
		for _, supervisor := range []string{parley, ""} {
			t.Run(fmt.Sprintf("%s, supervised %t", name, supervisor != ""), func(t *testing.T) {
				t.Parallel()
				e, home := newEscapee(t), t.TempDir()
				ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
				defer cancel()
				o := &claude.Options{
					CLIPath: e.program, Dir: home, Supervisor: supervisor, CleanEnv: true,
					Env: map[string]string{"PATH": os.Getenv("PATH"), "HOME": home, "GORACE": "atexit_sleep_ms=0"},
				}
				if err := use(ctx, o); err != nil {
					t.Fatal(err)
				}
				left := slices.Collect(maps.Values(e.running(t)))
				want := []string(nil)
				if supervisor == "" {
					want = escapes[4:]
				}
				if !slices.Equal(left, want) {
					t.Errorf("left %q, want %q", left, want)
				}
			})
		}
	}
}
