package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/codex/codextest"
	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
	"github.com/seed7221b0f9/parley/internal/test/e2e/codexcli"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/spawn/box"
)

// hostWorld runs parley serve with a real CLI and a scripted API.
type hostWorld struct {
	t         *testing.T
	project   string
	data      string
	env, args []string
	api       *claudetest.FakeAPI
	server    *exec.Cmd
	client    *client.Client
	session   string
	proxied   bool   // its agents use the key proxy
	key       string // of the key proxy, or ""
}

func newHostWorld(t *testing.T, script claudetest.Script) *hostWorld {
	return newHostWorldOn(t, claudetest.StartFakeAPI(t, script))
}

// newHostWorldOn is like newHostWorld with a running API, and with arguments for the server.
func newHostWorldOn(t *testing.T, api *claudetest.FakeAPI, args ...string) *hostWorld {
	cli := e2e.CLI(t)
	w := &hostWorld{t: t, api: api}
	dir := t.TempDir()
	env, err := claudetest.HermeticEnv(dir, w.api.URL())
	if err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(dir, "project")
	if err := claudetest.IsolateProject(project); err != nil {
		t.Fatal(err)
	}
	env = append(env, "PATH="+os.Getenv("PATH")) // PATH of the test
	w.start(project, env, append([]string{"--cli", cli, "--agent", "claude"}, args...)...)
	return w
}

// newCodexHostWorld is like newHostWorld for the real codex, or for parley acp with it.
func newCodexHostWorld(t *testing.T, acp bool, replies ...codextest.Reply) *hostWorld {
	program := codexcli.Require(t, codexcli.Newer)
	api := codextest.NewAPI(t)
	api.Reply(replies...)
	home := codextest.NewHome(t, api, "")
	w := &hostWorld{t: t}
	agent := "codex"
	if acp {
		agent = "acp:" + linkedProgram(t) + " acp --agent codex"
	}
	w.start(home.Project, append(home.Env(), "PARLEY_CODEX="+program), "--agent", agent)
	return w
}

// start starts the server.
func (w *hostWorld) start(project string, env []string, args ...string) {
	w.project, w.data, w.env = project, filepath.Join(w.t.TempDir(), "data"), env
	w.args = append([]string{"--listen", "127.0.0.1:0", "--data", w.data, "--dir", project, "--log-level", "warn", "--host"}, args...)
	for _, entry := range w.env {
		name, _, _ := strings.Cut(entry, "=")
		w.args = append(w.args, "--pass-env", name)
	}
	w.t.Cleanup(w.stopHost)
	w.serve()
}

// stopHost ends the host, as parley host stop does.
func (w *hostWorld) stopHost() {
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	l, err := host.Dial(ctx, w.data, 0)
	if err != nil {
		return // no host runs
	}
	defer l.Close()
	if err := l.Stop(ctx); err != nil {
		w.t.Errorf("the host is not stopped: %v", err)
	}
}

func (w *hostWorld) serve() { w.server, w.client = serveProcess(w.t, w.env, w.args) }

// end ends the server with a signal. Before that no file and no process may have its key.
func (w *hostWorld) end(s syscall.Signal) {
	w.t.Helper()
	if w.key != "" {
		checkNoCopies(w.t, w.data, w.key)
	}
	if err := w.server.Process.Signal(s); err != nil {
		w.t.Fatal(err)
	}
	_ = w.server.Wait() // it was killed, or prints its error
}

func (w *hostWorld) call(method string, params, result any) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), waitLimit)
	defer cancel()
	if err := w.client.Call(ctx, method, params, result); err != nil {
		w.t.Fatalf("%s: %v", method, err)
	}
}

// until follows the session until a condition holds, and returns the conversation.
func (w *hostWorld) until(what string, ok func(*event.Conversation) bool) *event.Conversation {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), waitLimit)
	defer cancel()
	var view client.View
	for ev, err := range w.client.Follow(ctx, w.session, nil) {
		if err == nil {
			err = view.Apply(ev)
		}
		if err != nil {
			w.t.Fatalf("%s: %v; state %q", what, err, view.Conversation.State)
		}
		if ok(&view.Conversation) {
			return &view.Conversation
		}
	}
	w.t.Fatalf("%s: the events have ended", what)
	return nil
}

// processes returns the processes of the host.
func (w *hostWorld) processes() []host.Agent {
	ctx, cancel := context.WithTimeout(w.t.Context(), waitLimit)
	defer cancel()
	l, err := host.Dial(ctx, w.data, 0)
	if err != nil {
		return nil
	}
	defer l.Close()
	list, err := l.Agents(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}

// agents returns the agents of sessions at the host.
func (w *hostWorld) agents() []host.Agent {
	return slices.DeleteFunc(w.processes(), func(a host.Agent) bool { return a.Key == "helper" })
}

// variable returns a variable of a process or of the process in its box, or "".
func (w *hostWorld) variable(pid int, name string) string {
	w.t.Helper()
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		w.t.Fatal(err)
	}
	entries := strings.Split(string(env), "\x00")
	for _, entry := range append(box.Unpacked(entries), entries...) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// holdsToken reports whether the environment of a process has a token of the key proxy.
func (w *hostWorld) holdsToken(pid int) bool {
	return strings.HasPrefix(w.variable(pid, "ANTHROPIC_API_KEY"), "sk-parley-")
}

// helper returns the id of the key proxy's process, or 0.
func (w *hostWorld) helper() int {
	for _, a := range w.processes() {
		if a.Key == "helper" && a.Exit == nil {
			return a.PID
		}
	}
	return 0
}

// TestServe_host ends a server while a tool of the real CLI waits for a permission. The CLI
// continues, the next server has the same session, and the turn ends as usual.
func TestServe_host(t *testing.T) {
	for name, signal := range map[string]syscall.Signal{"kill": syscall.SIGKILL, "term": syscall.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			checkHosted(newHostWorld(t, claudetest.Replies(
				claudetest.Use("Bash", map[string]any{"command": "echo kept > kept", "description": "Write a file"}), claudetest.Say("It is written."), claudetest.Say("And again."))), signal)
		})
	}
}

// TestServe_hostCodex is like TestServe_host with the real codex, directly and through the Agent
// Client Protocol.
func TestServe_hostCodex(t *testing.T) {
	for name, acp := range map[string]bool{"codex": false, "acp": true} {
		t.Run(name, func(t *testing.T) {
			checkHosted(newCodexHostWorld(t, acp, codextest.Calls(codextest.EscalatedCommand("call_1", "echo kept > kept", "May I?")),
				codextest.Say("It is written."), codextest.Say("And again.")), syscall.SIGKILL)
		})
	}
}

// checkHosted ends a server while a tool waits for a permission, and answers it after the start of the next one.
func checkHosted(w *hostWorld, signal syscall.Signal) {
	t := w.t
	t.Helper()
	var r api.ConnectResult
	w.call("session.connect", api.ConnectParams{InitialPrompt: "write it"}, &r)
	w.session = r.SessionID
	asks := func(c *event.Conversation) bool { return c.State == "requires_action" && len(c.Prompts) == 1 }
	request := w.until("the CLI asks", asks).Prompts[0].RequestID()
	before, helper := w.agents(), w.helper()
	if (helper != 0) != w.proxied || w.holdsToken(before[0].PID) != w.proxied {
		t.Errorf("the agent uses the key proxy (process %d): %v, want %v", helper, !w.proxied, w.proxied)
	}
	w.end(signal)
	if w.helper() != helper {
		t.Errorf("after the end of the server the key proxy is process %d, it was %d", w.helper(), helper)
	}
	if after := w.agents(); len(before) != 1 || len(after) != 1 || after[0].PID != before[0].PID || after[0].Exit != nil {
		t.Fatalf("before the end of the server the agents are %+v, after it %+v", before, after)
	}
	if signal == syscall.SIGKILL {
		w.guarded(time.Duration(short.Count(0, 1, 180)) * time.Second)
	}
	w.serve()
	if c := w.until("the CLI still asks", asks); c.Prompts[0].RequestID() != request {
		t.Fatalf("the request is %s, it was %s", c.Prompts[0].RequestID(), request)
	}
	w.call("permission.respond", api.PermissionRespondParams{SessionID: w.session, RequestID: request, Behavior: "allow"}, nil)
	c := w.until("the turn ends", func(c *event.Conversation) bool { return c.Totals.Turns == 1 && c.State == "idle" })
	if n := strings.Count(conversationText(c), "It is written."); n != 1 {
		t.Errorf("the answer is there %d times:\n%s", n, conversationText(c))
	}
	if text, err := os.ReadFile(filepath.Join(w.project, "kept")); err != nil || string(text) != "kept\n" {
		t.Errorf("the tool has written %q, %v", text, err)
	}
	w.call("session.query", api.QueryParams{SessionID: w.session, Text: "again"}, nil)
	w.until("the next turn ends", func(c *event.Conversation) bool { return c.Totals.Turns == 2 && c.State == "idle" })
	if after := w.agents(); len(after) != 1 || after[0].PID != before[0].PID {
		t.Errorf("the agents are %+v at the end, want the one of the beginning", after)
	}
	w.end(syscall.SIGINT)
	if left := w.agents(); left != nil {
		t.Errorf("after Ctrl-C there are %+v", left)
	}
}

// guarded checks, for a while without a server, that a tool that waits for a permission neither
// runs nor fails.
func (w *hostWorld) guarded(wait time.Duration) {
	w.t.Helper()
	over, tick := time.After(wait), time.NewTicker(50*time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-over:
			return
		case <-tick.C:
		}
		if _, err := os.Stat(filepath.Join(w.project, "kept")); err == nil {
			w.t.Fatal("without a server the tool has run")
		}
		if a := w.agents(); len(a) != 1 || a[0].Exit != nil {
			w.t.Fatalf("without a server the agents are %+v, want one that waits", a)
		}
	}
}

// TestServe_hostKilled kills the host and the server during a turn. No agent is left, and the next
// server shows the session as one that can be continued.
func TestServe_hostKilled(t *testing.T) {
	w := newHostWorld(t, claudetest.Replies(
		claudetest.Use("Bash", map[string]any{"command": "echo x > x", "description": "Write a file"}),
		claudetest.Say("It goes on."), claudetest.Say("It goes on."), claudetest.Say("It goes on."))) // the CLI may make one more request before it ends
	var r api.ConnectResult
	w.call("session.connect", api.ConnectParams{InitialPrompt: "do it", MaxBudgetUSD: new(5.0)}, &r)
	w.session = r.SessionID
	w.until("the CLI asks", func(c *event.Conversation) bool { return c.State == "requires_action" })
	agent := w.agents()[0]
	if agent.OrphanTimeout != 10*time.Minute {
		t.Errorf("the orphan timeout of an agent with a budget is %v, want 10 minutes", agent.OrphanTimeout)
	}
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	l, err := host.Dial(ctx, w.data, 0)
	if err != nil {
		t.Fatal(err)
	}
	pid := l.Host().PID
	l.Close()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	w.end(syscall.SIGKILL)
	eventually(t, "the agent ends with its host", func() bool { return syscall.Kill(agent.PID, 0) != nil })
	w.serve()
	c := w.until("the session is interrupted", func(c *event.Conversation) bool { return c.State == "interrupted" })
	if len(c.Prompts) != 0 {
		t.Errorf("the request of an agent that is gone is open: %+v", c.Prompts)
	}
	w.call("session.query", api.QueryParams{SessionID: w.session, Text: "go on"}, nil)
	w.until("the session goes on", func(c *event.Conversation) bool { return strings.Contains(conversationText(c), "It goes on.") })
	w.end(syscall.SIGINT)
}
