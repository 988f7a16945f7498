package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/host/join"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// joinWorld is a server that machines can join, and a machine that uses, instead of Claude Code, a
// program that writes the lines that it reads.
type joinWorld struct {
	*testing.T
	dir, data string
	env       []string
	server    *httptest.Server
	links     chan *host.Link
	seen      chan host.Registration
	token     string
}

func newJoinWorld(t *testing.T) *joinWorld {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &joinWorld{T: t, dir: dir, data: filepath.Join(dir, "data"), token: "secret", links: make(chan *host.Link, 4), seen: make(chan host.Registration, 4)}
	w.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir, "GORACE=atexit_sleep_ms=0"}
	w.server = httptest.NewServer(w)
	t.Cleanup(w.server.Close)
	w.write("claude", "#!/bin/sh\nexec cat\n", 0o700)
	w.write("token", "secret\n", 0o600)
	if err := os.Mkdir(filepath.Join(dir, "project"), 0o700); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *joinWorld) write(name, text string, mode os.FileMode) {
	w.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), mode); err != nil {
		w.Fatal(err)
	}
}

func (w *joinWorld) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if r.URL.Path != join.Path || r.Header.Get("Authorization") != "Bearer "+w.token {
		rw.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(rw, `{"error":{"message":"the token was revoked"}}`)
		return
	}
	ws, err := websocket.Accept(rw, r, &websocket.AcceptOptions{Subprotocols: []string{join.Subprotocol}})
	if err != nil {
		return
	}
	defer ws.CloseNow()
	conn := websocket.NetConn(context.Background(), ws, websocket.MessageBinary)
	registered, err := host.AcceptRegistration(r.Context(), conn, func(host.Registration) error { return nil })
	if err != nil {
		return
	}
	w.seen <- registered
	l, err := host.NewLink(context.Background(), conn, 1)
	if err != nil {
		return
	}
	w.links <- l
	<-l.Done()
}

// command returns parley host join with these arguments before the address of the server.
func (w *joinWorld) command(stdin string, args ...string) *exec.Cmd {
	args = slices.Concat([]string{"host", "join", "--data", w.data, "--cli", filepath.Join(w.dir, "claude"), "--dir", filepath.Join(w.dir, "project")}, args)
	cmd := exec.Command(linkedProgram(w.T), args...)
	cmd.Env, cmd.Dir, cmd.Stdin = w.env, w.dir, strings.NewReader(stdin)
	return cmd
}

// TestJoin checks that a machine joins a server with a token from standard input, that its limits
// apply, and that after Ctrl-C its agent runs on and the command prints where.
func TestJoin(t *testing.T) {
	w := newJoinWorld(t)
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	cmd := w.command("secret\n", "--name", "laptop", "--label", "fast", "--slots", "1", w.server.URL)
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	hostDir, err := join.HostDir(w.data, w.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup((&simHost{T: t, data: hostDir}).stop)
	defer context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })() // of a failed test
	out := bufio.NewReader(pipe)
	if line, err := out.ReadString('\n'); line != "Joined "+w.server.URL+" as laptop; agents: claude.\n" {
		t.Errorf("it prints %q, %v", line, err)
	}
	l, r := next(ctx, t, w.links), next(ctx, t, w.seen)
	if project := filepath.Join(w.dir, "project"); r.Name != "laptop" || r.Slots != 1 || r.MaxMode != "default" || !slices.Equal(r.Labels, []string{"fast"}) || !slices.Equal(r.Dirs, []string{project}) {
		t.Errorf("the registration is %+v", r)
	}
	w.work(ctx, l)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	next(ctx, t, l.Done())
	if line, err := out.ReadString('\n'); !strings.Contains(line, "The agents run on (1).") {
		t.Errorf("after Ctrl-C it prints %q, %v", line, err)
	}
	for range 2 { // an empty line, and the directory
		line, err := out.ReadString('\n')
		if err != nil || line != "\n" && line != "  --data "+hostDir+"\n" {
			t.Errorf("after Ctrl-C it prints %q, %v", line, err)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ends with %v", err)
	}
	if agents, runs := (&simHost{T: t, data: hostDir}).agents(); !runs || len(agents) != 1 || agents[0].Exit != nil {
		t.Errorf("the host has the agents %+v", agents)
	}
}

// next returns the next value of a channel.
func next[T any](ctx context.Context, t *testing.T, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-ctx.Done():
		t.Fatal("the machine does not do its next step")
	}
	return v
}

// work starts an agent, and tries to exceed the limits.
func (w *joinWorld) work(ctx context.Context, l *host.Link) {
	w.Helper()
	launch := host.Launch{Agent: "claude", Dir: filepath.Join(w.dir, "project"), Options: json.RawMessage(`{"model":"m"}`)}
	p, err := l.Launch(ctx, launch, host.AgentOptions{Key: "s"})
	if err != nil {
		w.Fatal(err)
	}
	const prompt = `{"message":{"content":"hello","role":"user"},"type":"user"}` + "\n"
	if _, err := p.Write(ctx, "1", []byte(prompt)); err != nil {
		w.Fatal(err)
	}
	for {
		r, err := p.Next(ctx)
		if err != nil {
			w.Fatal(err)
		}
		if r.Kind == host.Output {
			if string(r.Data) != prompt {
				w.Errorf("the agent reads %s", r.Data)
			}
			break
		}
	}
	_, err = p.Write(ctx, "2", []byte(`{"type":"control_request","request_id":"1","request":{"subtype":"set_permission_mode","mode":"acceptEdits"}}`+"\n"))
	if !errors.Is(err, host.ErrRefused) || !strings.Contains(err.Error(), "highest of this machine") {
		w.Errorf("a mode above the ceiling: %v", err)
	}
	if _, err := l.Launch(ctx, launch, host.AgentOptions{Key: "t"}); err == nil || !strings.Contains(err.Error(), "1 slots") {
		w.Errorf("a second agent: %v", err)
	}
	launch.Dir = w.dir
	if _, err := l.Launch(ctx, launch, host.AgentOptions{Key: "t"}); err == nil || !strings.Contains(err.Error(), "not below") {
		w.Errorf("another directory: %v", err)
	}
}

// TestJoin_refused checks command lines and tokens that are refused.
func TestJoin_refused(t *testing.T) {
	short.SkipQuick(t, "starts several commands")
	w := newJoinWorld(t)
	w.write("readable", "secret\n", 0o644)
	w.write("other", "other\n", 0o600)
	for name, c := range map[string]struct {
		stdin string
		args  []string
		code  int
		want  string
	}{
		"no token":             {"", []string{w.server.URL}, 2, "the token is empty"},
		"an empty line":        {"\nsecret\n", []string{w.server.URL}, 2, "the token is empty"},
		"a readable file":      {"", []string{"--token-file", "readable", w.server.URL}, 2, "chmod 600 readable"},
		"no file":              {"", []string{"--token-file", "none", w.server.URL}, 1, "no such file"},
		"another token":        {"", []string{"--token-file", "other", w.server.URL}, 1, "401: the token was revoked"},
		"plain HTTP":           {"secret\n", []string{"http://server.example"}, 2, "without encryption"},
		"an unknown mode":      {"secret\n", []string{"--max-mode", "plan", w.server.URL}, 2, "--max-mode plan"},
		"an unknown box":       {"secret\n", []string{"--sandbox", "docker", w.server.URL}, 2, "bwrap or none"},
		"negative slots":       {"secret\n", []string{"--slots", "-1", w.server.URL}, 2, "negative"},
		"no such directory":    {"secret\n", []string{"--dir", "none", w.server.URL}, 1, "none"},
		"no address":           {"secret\n", nil, 2, "needs 1 argument"},
		"no program of Claude": {"secret\n", []string{"--cli", "none", w.server.URL}, 1, "none"},
	} {
		var out strings.Builder
		cmd := w.command(c.stdin, c.args...)
		cmd.Stdout, cmd.Stderr = &out, &out
		_ = cmd.Run() // the exit code is checked
		if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: code %d, %q, want %d and %q", name, code, out.String(), c.code, c.want)
		}
	}
	hostDir, err := join.HostDir(w.data, w.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	(&simHost{T: t, data: hostDir}).stop()
}
