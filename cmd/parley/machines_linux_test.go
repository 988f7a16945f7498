package main

import (
	"context"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/host/join"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
	"github.com/seed7221b0f9/parley/server/api"
)

// cutter is a proxy with connections that a test can break.
type cutter struct {
	net.Listener
	wg sync.WaitGroup

	mu    sync.Mutex
	to    string // "" breaks every connection
	conns map[net.Conn]bool
}

func newCutter(t *testing.T) *cutter {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{Listener: l, conns: map[net.Conn]bool{}}
	c.wg.Go(c.run)
	t.Cleanup(func() {
		l.Close()
		c.lead("")
		c.wg.Wait()
	})
	return c
}

// lead breaks the connections, and sends later ones to an address.
func (c *cutter) lead(to string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.to = to
	for conn := range c.conns {
		conn.Close()
	}
}

func (c *cutter) run() {
	for {
		in, err := c.Accept()
		if err != nil {
			return
		}
		c.mu.Lock()
		out, err := net.Dial("tcp", c.to)
		if c.to == "" || err != nil {
			c.mu.Unlock()
			in.Close()
			continue
		}
		c.conns[in], c.conns[out] = true, true
		c.mu.Unlock()
		for _, pair := range [][2]net.Conn{{in, out}, {out, in}} {
			c.wg.Go(func() {
				_, _ = io.Copy(pair[0], pair[1]) // until the connection is broken
				in.Close()
				out.Close()
			})
		}
	}
}

// machineWorld is a server, and a machine with the real CLI that joins the server through a proxy.
type machineWorld struct {
	*hostWorld
	way     *cutter
	home    string // home directory on the machine
	project string // directory on the machine
	hostDir string
	token   string   // the id of its token
	env     []string // environment on the machine
	joined  *exec.Cmd
	errors  *lockedText
	cut     func() // breaks the link
}

// lockedText collects the output of a program.
type lockedText struct {
	mu sync.Mutex
	strings.Builder
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Builder.Write(p)
}

func (l *lockedText) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.String()
}

// newMachine returns a world with the files of a machine and no server.
func newMachine(t *testing.T, fake *claudetest.FakeAPI) *machineWorld {
	w := &machineWorld{errors: &lockedText{}}
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w.home = home
	if w.env, err = claudetest.HermeticEnv(home, fake.URL()); err != nil {
		t.Fatal(err)
	}
	if err := claudetest.IsolateProject(filepath.Join(home, "elsewhere")); err != nil {
		t.Fatal(err)
	}
	return w
}

// moveIn adds a server to the world, and chooses the directory of its sessions on the machine.
func (w *machineWorld) moveIn(h *hostWorld) {
	w.hostWorld, w.project = h, filepath.Join(w.home, "elsewhere")
}

func newMachineWorld(t *testing.T, replies ...claudetest.Reply) *machineWorld {
	fake := claudetest.StartFakeAPI(t, claudetest.Replies(replies...))
	w := newMachine(t, fake)
	w.moveIn(newHostWorldOn(t, fake))
	w.way = newCutter(t)
	w.cut = func() { w.way.lead("") }
	home, env := w.home, w.env
	var err error
	var made api.TokensCreateResult
	w.call("tokens.create", api.TokensCreateParams{Name: "the machine", Role: "host"}, &made)
	w.token = made.ID
	server, data := "http://"+w.way.Addr().String(), filepath.Join(home, "data")
	if w.hostDir, err = join.HostDir(data, server); err != nil {
		t.Fatal(err)
	}
	args := []string{"host", "join", "--data", data, "--name", "m1", "--dir", w.project, "--cli", e2e.CLI(t)}
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		args = append(args, "--pass-env", name)
	}
	w.joined = exec.Command(linkedProgram(t), append(args, server)...)
	w.env = append(env, "PATH="+os.Getenv("PATH"))
	w.joined.Env = append(slices.Clone(w.env), "PARLEY_TOKEN="+made.Token)
	w.joined.Dir, w.joined.Stderr = home, w.errors
	t.Cleanup((&simHost{T: t, data: w.hostDir}).stop)
	w.way.lead(w.address())
	if err := w.joined.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = w.joined.Process.Signal(os.Interrupt) // it may have ended
		_ = w.joined.Wait()
		if t.Failed() {
			t.Log(w.errors.text())
		}
	})
	w.is(api.MachineReachable)
	return w
}

// address is the address of the server.
func (w *machineWorld) address() string {
	u, err := url.Parse(w.client.URL())
	if err != nil {
		w.t.Fatal(err)
	}
	return u.Host
}

// is waits until the machine has a state.
func (w *machineWorld) is(state string) {
	w.t.Helper()
	eventually(w.t, "the machine is "+state, func() bool {
		var all api.MachinesListResult
		w.call("machines.list", api.Empty{}, &all)
		return len(all.Machines) == 1 && all.Machines[0].State == state
	})
}

// theirs are the agents of the machine.
func (w *machineWorld) theirs() []host.Agent {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), waitLimit)
	defer cancel()
	l, err := host.Dial(ctx, w.hostDir, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	defer l.Close()
	list, err := l.Agents(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}

// asks starts a session with a prompt, and returns the permission request of its agent.
func (w *machineWorld) asks(prompt string) (request string) {
	w.t.Helper()
	var r api.ConnectResult
	w.call("session.connect", api.ConnectParams{Machine: "m1", InitialPrompt: prompt}, &r)
	w.session = r.SessionID
	return w.until("the CLI asks", func(c *event.Conversation) bool { return c.State == "requires_action" && len(c.Prompts) == 1 }).Prompts[0].RequestID()
}

// answered allows a request, and checks that the turn ends with its answer and that the tool has run once.
func (w *machineWorld) answered(request string) {
	w.t.Helper()
	w.until("the CLI still asks", func(c *event.Conversation) bool { return c.State == "requires_action" && len(c.Prompts) == 1 })
	w.call("permission.respond", api.PermissionRespondParams{SessionID: w.session, RequestID: request, Behavior: "allow"}, nil)
	c := w.until("the turn ends", func(c *event.Conversation) bool { return c.Totals.Turns == 1 && c.State == "idle" })
	if n := strings.Count(conversationText(c), "It is written."); n != 1 {
		w.t.Errorf("the answer is there %d times:\n%s", n, conversationText(c))
	}
	if text, err := os.ReadFile(filepath.Join(w.project, "kept")); err != nil || string(text) != "kept\n" {
		w.t.Errorf("the tool has written %q, %v, want it once", text, err)
	}
}

// TestMachines runs the real CLI on another machine. While the CLI waits for a permission, the link
// is cut and then the server is killed: the CLI continues, and its turn ends as usual. When the
// machine's token is revoked, the machine is disconnected.
func TestMachines(t *testing.T) {
	w := newMachineWorld(t, claudetest.Use("Bash", map[string]any{"command": "echo kept >> kept", "description": "Write a file"}),
		claudetest.Say("It is written."), claudetest.Say("And again."), claudetest.Say("From the terminal."))
	var r api.ConnectResult
	w.call("session.connect", api.ConnectParams{Machine: "m1", InitialPrompt: "write it"}, &r)
	w.session = r.SessionID
	if r.CWD != w.project {
		t.Errorf("the session runs in %s, want %s", r.CWD, w.project)
	}
	asks := func(c *event.Conversation) bool { return c.State == "requires_action" && len(c.Prompts) == 1 }
	request := w.until("the CLI asks", asks).Prompts[0].RequestID()
	before := w.theirs()
	if len(before) != 1 || len(w.agents()) != 0 {
		t.Fatalf("the machine has the agents %+v, the server %+v, want one and none", before, w.agents())
	}

	w.way.lead("") // the link is cut
	w.is(api.MachineUnreachable)
	if c := w.until("the conversation is readable", asks); c.Prompts[0].RequestID() != request {
		t.Errorf("the request is %s, it was %s", c.Prompts[0].RequestID(), request)
	}
	w.way.lead(w.address())
	w.is(api.MachineReachable)

	w.end(syscall.SIGKILL) // the server is killed
	w.way.lead("")
	w.serve()
	w.way.lead(w.address())
	w.is(api.MachineReachable)
	w.until("the CLI still asks", asks)
	w.call("permission.respond", api.PermissionRespondParams{SessionID: w.session, RequestID: request, Behavior: "allow"}, nil)
	c := w.until("the turn ends", func(c *event.Conversation) bool { return c.Totals.Turns == 1 && c.State == "idle" })
	if n := strings.Count(conversationText(c), "It is written."); n != 1 {
		t.Errorf("the answer is there %d times:\n%s", n, conversationText(c))
	}
	if text, err := os.ReadFile(filepath.Join(w.project, "kept")); err != nil || string(text) != "kept\n" {
		t.Errorf("the tool has written %q, %v, want it once", text, err)
	}
	w.call("session.query", api.QueryParams{SessionID: w.session, Text: "again"}, nil)
	w.until("the next turn ends", func(c *event.Conversation) bool { return c.Totals.Turns == 2 && c.State == "idle" })
	if after := w.theirs(); len(after) != 1 || after[0].PID != before[0].PID {
		t.Errorf("the agents are %+v at the end, want the one of the beginning", after)
	}

	terminal := exec.Command(linkedProgram(t), "run", "--server", w.client.URL(), "--machine", "m1", "--cwd", w.project, "--quiet", "hello")
	var made api.TokensCreateResult
	w.call("tokens.create", api.TokensCreateParams{Role: "operator"}, &made)
	terminal.Env = append(w.env, "PARLEY_TOKEN="+made.Token)
	if out, err := terminal.CombinedOutput(); err != nil || !strings.Contains(string(out), "From the terminal.") {
		t.Errorf("parley run --machine: %v\n%s", err, out)
	}
	if agents := w.theirs(); len(agents) != 2 {
		t.Errorf("the agents are %+v, want another one of parley run", agents)
	}

	w.call("tokens.revoke", api.TokensRevokeParams{ID: w.token}, nil)
	w.is(api.MachineUnreachable)
	ended := make(chan error, 1)
	go func() { ended <- w.joined.Wait() }()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	if err := next(ctx, t, ended); err == nil || w.joined.ProcessState.ExitCode() != 1 {
		t.Errorf("after the token was revoked the machine's command ends with %v, want exit code 1", err)
	}
}
