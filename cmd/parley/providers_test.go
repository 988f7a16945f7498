package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/serve"
	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
	"github.com/seed7221b0f9/parley/server/api"
)

// greeting collects the output of a server, and sends its address when it is printed.
type greeting struct {
	mu      sync.Mutex
	text    bytes.Buffer
	address chan string
}

var greetingLink = regexp.MustCompile(`http://127\.0\.0\.1:\d+/#token=\S+`)

func (g *greeting) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.text.Write(p)
	if link := greetingLink.FindString(g.text.String()); link != "" {
		select {
		case g.address <- link:
		default:
		}
	}
	return len(p), nil
}

func (g *greeting) String() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.text.String()
}

// serveForTest runs parley serve until the test ends and returns a client of it.
func serveForTest(t *testing.T, f *serve.Settings) (*client.Client, *greeting) {
	t.Helper()
	c, out, _ := serveUntil(t, f)
	return c, out
}

// serveUntil runs parley serve until stop is called, or the test ends.
func serveUntil(t *testing.T, f *serve.Settings) (c *client.Client, out *greeting, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	out = &greeting{address: make(chan string, 1)}
	served := make(chan error, 1)
	go func() { served <- f.Serve(ctx, out) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-served; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	t.Cleanup(stop)
	select {
	case url := <-out.address:
		c, err := client.New(client.Options{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		return c, out, stop
	case err := <-served:
		served <- nil
		t.Fatalf("the server ended: %v", err)
	case <-time.After(30 * time.Second):
		t.Fatal("no address was printed")
	}
	return nil, nil, nil
}

// converse sends a prompt, allows all permission requests and returns the view after the
// turn.
func converse(t *testing.T, c *client.Client, text string) (view client.View, allowed int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var session api.ConnectResult
	if err := c.Call(ctx, "session.connect", api.ConnectParams{}, &session); err != nil {
		t.Fatal(err)
	}
	if err := c.Call(ctx, "session.query", api.QueryParams{SessionID: session.SessionID, Text: text}, nil); err != nil {
		t.Fatal(err)
	}
	asked := map[string]bool{}
	for ev, err := range c.Follow(ctx, session.SessionID, nil) {
		if err != nil {
			t.Fatal(err)
		}
		if err := view.Apply(ev); err != nil {
			t.Fatal(err)
		}
		for _, p := range view.Conversation.Prompts {
			if asked[p.RequestID()] {
				continue
			}
			asked[p.RequestID()] = true
			answer := api.PermissionRespondParams{SessionID: session.SessionID, RequestID: p.RequestID(), Behavior: "allow"}
			if err := c.Call(ctx, "permission.respond", answer, nil); err != nil {
				t.Fatal(err)
			}
			allowed++
		}
		if view.Conversation.Totals.Turns == 1 {
			return view, allowed
		}
	}
	t.Fatal("the events ended before the turn")
	return view, allowed
}

// claudeWorld is an environment for the real CLI with a scripted API, and for a server that runs
// it.
type claudeWorld struct {
	cli, project string
	env          map[string]string
	client       *client.Client
	out          *greeting
	api          *claudetest.FakeAPI
	args         []string
	stop         func() // ends the server
}

func serveClaude(t *testing.T, script claudetest.Script) *claudeWorld {
	t.Helper()
	w := newClaudeWorld(t, script)
	w.serve(t)
	return w
}

// serve starts a server in the world, again after stop.
func (w *claudeWorld) serve(t *testing.T, more ...string) (*client.Client, *greeting) {
	t.Helper()
	f := serveFlagsFor(t, slices.Concat(w.args, more)...)
	w.client, w.out, w.stop = serveUntil(t, f)
	return w.client, w.out
}

func newClaudeWorld(t *testing.T, script claudetest.Script) *claudeWorld {
	t.Helper()
	w := &claudeWorld{cli: e2e.CLI(t), env: map[string]string{}}
	w.api = claudetest.StartFakeAPI(t, script)
	dir := t.TempDir()
	env, err := claudetest.HermeticEnv(dir, w.api.URL())
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "bin")
	w.project = filepath.Join(dir, "project")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(w.cli, filepath.Join(bin, "claude")); err != nil {
		t.Fatal(err)
	}
	if err := claudetest.IsolateProject(w.project); err != nil {
		t.Fatal(err)
	}
	w.args = []string{"--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "data"), "--dir", w.project, "--log-level", "error"}
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		if name == "PATH" {
			value = bin + string(filepath.ListSeparator) + value
		}
		t.Setenv(name, value)
		w.env[name] = value
		w.args = append(w.args, "--pass-env", name)
	}
	return w
}

// TestServe_claude serves the real CLI against a scripted API: a prompt is answered, and a
// tool runs after it was allowed over HTTP.
func TestServe_claude(t *testing.T) {
	w := serveClaude(t, claudetest.Replies(
		claudetest.Use("Bash", map[string]any{"command": "touch made", "description": "Make a file"}), claudetest.Say("I made it.")))
	var hello api.HelloResult
	if err := w.client.Call(t.Context(), "hello", api.HelloParams{}, &hello); err != nil || hello.Simulated {
		t.Errorf("hello: %+v, %v", hello, err)
	}
	if strings.Contains(w.out.String(), "simulated") {
		t.Errorf("the greeting calls the agent simulated: %s", w.out.String())
	}
	_, allowed := converse(t, w.client, "make a file")
	if allowed != 1 {
		t.Errorf("permission was asked for %d times, want once", allowed)
	}
	if _, err := os.Stat(filepath.Join(w.project, "made")); err != nil {
		t.Errorf("the tool did not run: %v", err)
	}
}

// TestServe_simulated checks that a machine without the CLI gets the simulated agent, that the
// terminal and clients report that it is simulated, and that the suggestions of the first page
// work.
func TestServe_simulated(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", "/usr/bin:/bin")
	t.Setenv("HOME", dir)
	t.Setenv("PARLEY_SIM_PACE", "0")
	f := serveFlagsFor(t, "--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "data"), "--dir", dir, "--log-level", "error")
	if path, err := proc.Find("", os.Environ()); err == nil {
		t.Skipf("a CLI is installed for everyone on this machine: %s", path)
	}
	c, out := serveForTest(t, f)
	if text := out.String(); !strings.Contains(text, "There is no claude and no codex on this machine") || !strings.Contains(text, "simulated agent") {
		t.Errorf("the greeting does not say what the agent is: %s", text)
	}
	var hello api.HelloResult
	if err := c.Call(t.Context(), "hello", api.HelloParams{}, &hello); err != nil || !hello.Simulated {
		t.Errorf("hello: %+v, %v", hello, err)
	}
	for prompt, want := range map[string]int{"say hello": 0, "tool Bash": 1, "tool Edit": 2} {
		if _, allowed := converse(t, c, prompt); allowed != want {
			t.Errorf("%s: permission was asked for %d times, want %d", prompt, allowed, want)
		}
	}
}
