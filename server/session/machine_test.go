//go:build unix

package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/spawn"
)

// catPolicy is the policy of a machine on which agents repeat their lines.
type catPolicy struct{ refuse error }

func (p catPolicy) Start(_ context.Context, l host.Launch, start func(spawn.Command) error) error {
	if p.refuse != nil {
		return p.refuse
	}
	return start(spawn.Command{Path: "/bin/cat", Dir: "/", Env: []string{"PATH=/bin"}})
}

func (catPolicy) Line(_ string, line []byte) ([]byte, error) { return line, nil }

// machineStage runs servers, one after another, with a machine that joins them.
type machineStage struct {
	*hostStage
	machines *Machines
	policy   catPolicy
	link     net.Conn      // the machine's end of its last connection
	served   chan struct{} // closed when that connection has ended at the server
}

// newMachineStage runs the host of machine m1 and the first server, and joins them.
func newMachineStage(t *testing.T) *machineStage {
	t.Helper()
	c := &machineStage{hostStage: newHostOnly(t)}
	c.serveMachines()
	c.await("the host", func() bool {
		l, err := host.Dial(t.Context(), c.dir, 0)
		if err != nil {
			return false
		}
		return l.Close() == nil
	})
	c.join()
	return c
}

// serveMachines starts the next server.
func (c *machineStage) serveMachines() {
	c.Helper()
	logger := slog.New(slog.NewTextHandler(c.lines, nil))
	c.machines = NewMachines(c.dir, HostOptions{}, logger)
	c.server, _ = memSessions(c.T, func(o *Options) {
		o.Store, o.Machines, o.Logger, o.List, o.Dir = c.store, c.machines, logger, filepath.Join(c.lists, "list"), c.lists
		o.Prepare = func(string, agent.Provider, *agent.Options) (func(), error) {
			c.Error("the agent of a machine got a key or a box of the server")
			return func() {}, nil
		}
		o.Provider = func(context.Context, string, string) (agent.Provider, []string, error) { return c.puppets, nil, nil }
	})
}

// join connects the machine with the server, and waits until it has joined.
func (c *machineStage) join() {
	c.Helper()
	c.connect()
	c.await("the machine", func() bool { return c.reachable("m1") })
}

func (c *machineStage) reachable(name string) bool {
	_, err := c.machines.Find(name)
	return err == nil
}

// connect connects the machine with the server over loopback, and waits until the server has replaced an earlier connection.
func (c *machineStage) connect() {
	c.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		c.Fatal(err)
	}
	defer l.Close()
	machineEnd, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		c.Fatal(err)
	}
	serverEnd, err := l.Accept()
	if err != nil {
		c.Fatal(err)
	}
	machines, served := c.machines, make(chan struct{})
	go func() {
		defer close(served)
		err := machines.Serve(context.Background(), serverEnd, "token")
		fmt.Fprintln(c.lines, "the connection of the machine ended:", err)
	}()
	r := host.Registration{Version: host.Version, Name: "m1", Agents: []string{"claude"}, Dirs: []string{"/d"}}
	if err := host.Register(c.Context(), machineEnd, r); err != nil {
		c.Fatal(err)
	}
	relayed := make(chan struct{})
	go func() {
		defer close(relayed)
		_ = host.Relay(context.Background(), c.dir, machineEnd, c.policy, slog.New(slog.DiscardHandler))
	}()
	c.Cleanup(func() {
		machineEnd.Close()
		<-relayed
		<-served
	})
	c.link, c.served = machineEnd, served
}

// cut breaks the connection and waits until the session has no link.
func (c *machineStage) cut() {
	c.Helper()
	c.link.Close()
	c.await("the end of the link", func() bool { return !c.reachable("m1") })
	c.isAway(true)
}

func (c *machineStage) isAway(want bool) {
	c.Helper()
	c.await("the agent away", func() bool {
		away := false
		c.with(func(a *actor) error { away = a.away; return nil })
		return away == want
	})
}

// beginThere creates a session on the machine and begins a turn.
func (c *machineStage) beginThere() {
	c.Helper()
	if err := c.server.Create(c.Context(), c.id, Opened{Params: api.ConnectParams{CWD: "/d", Machine: "m1"}}); err != nil {
		c.Fatal(err)
	}
	if _, err := c.server.Query(c.Context(), c.id, "", event.Quote("text"), "", "by"); err != nil {
		c.Fatal(err)
	}
	c.is(Running)
	c.has("the prompt", `"status":"delivered"`)
}

// end ends the turn and checks that no event was lost or duplicated.
func (c *machineStage) end(texts ...string) {
	c.Helper()
	if _, err := Of[Agents](c.server).Interrupt(c.Context(), api.SessionRef{SessionID: c.id}); err != nil {
		c.Fatal(err)
	}
	c.await("the end of the turn", func() bool { return c.count(`"uuid":"result"`) > 0 })
	for _, text := range append(texts, `"uuid":"result"`) {
		if n := c.count(text); n != 1 {
			c.Errorf("%d records have %s, want 1", n, text)
		}
	}
}

// A link that breaks during a turn loses and duplicates no event: the agent continues, and so does
// the session when the machine is back.
func TestMachine_cut(t *testing.T) {
	short.SkipQuick(t, "starts many agents")
	for name, prepare := range map[string]func(c *machineStage){
		"the same server": func(c *machineStage) { c.cut() },
		"a connection that nobody closed": func(c *machineStage) {
			old := c.link
			c.connect() // replaces the link
			c.await("the end of the old connection", func() bool {
				_ = old.SetReadDeadline(time.Now().Add(time.Millisecond))
				_, err := old.Read(make([]byte, 1))
				return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
			})
			c.cut()
		},
		"another server": func(c *machineStage) {
			c.server.Leave(c.Context())
			c.link.Close()
			c.serveMachines()
			c.isAway(true)
		},
		"another server that was killed": func(c *machineStage) {
			c.link.Close()
			c.isAway(true)
			c.server.Close()
			c.serveMachines()
			c.isAway(true)
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newMachineStage(t)
			c.beginThere()
			c.say("begin stream")
			c.say("say before")
			c.await("the text", func() bool { return c.count(`"before"`) > 0 })
			prepare(c)
			c.is(Running)
			c.sayAlone("say between")
			c.puppets.calls.take()
			c.join()
			c.isAway(false)
			c.await("the adoption", func() bool { return strings.Contains(c.puppets.calls.take(), "Adopt agent-1") })
			c.await("what the agent said without a link", func() bool { return c.count(`"between"`) > 0 })
			c.end(`"before"`, `"between"`)
			if c.puppets.agent().got("Write prompt") {
				t.Error("the prompt was sent again")
			}
		})
	}
}

// While its machine is unreachable a session keeps its state and its open request, takes prompts, and rejects what needs the agent.
func TestMachine_away(t *testing.T) {
	c := newMachineStage(t)
	c.beginThere()
	c.say("ask r1")
	c.is(RequiresAction)
	c.cut()
	c.is(RequiresAction)
	_, err := Of[Requests](c.server).PermissionRespond(t.Context(), api.PermissionRespondParams{SessionID: c.id, RequestID: "r1", Behavior: "allow"}, "by")
	if f := FailureOf(err); err == nil || f.Reason != api.NotConnected || !strings.Contains(f.Message, `"m1" is unreachable since`) {
		t.Errorf("the answer fails with %v, want that the machine is unreachable", err)
	}
	if _, err := Of[Agents](c.server).SetModel(t.Context(), api.SetModelParams{SessionID: c.id, Model: "x"}); FailureOf(err).Reason != api.NotConnected {
		t.Errorf("a change of the model fails with %v, want not_connected", err)
	}
	if _, err := c.server.Query(t.Context(), c.id, "", event.Quote("second"), "", "by"); err != nil {
		t.Errorf("a prompt for later: %v", err)
	}
	if got := c.machines.List(); len(got) != 1 || got[0].State != api.MachineUnreachable || got[0].Since == "" {
		t.Errorf("the machines are %+v, want one that is unreachable", got)
	}
	c.join()
	c.isAway(false)
	c.await("the answer", func() bool {
		_, err := Of[Requests](c.server).PermissionRespond(t.Context(), api.PermissionRespondParams{SessionID: c.id, RequestID: "r1", Behavior: "allow"}, "by")
		return err == nil
	})
	c.await("the resolution", func() bool { return c.count(`"type":"permission_resolved"`) > 0 })
	if n := c.count(`"type":"permission_resolved"`); n != 1 {
		t.Errorf("the request is resolved %d times, want once", n)
	}
}

// An agent that has ended before its machine is back was interrupted. An agent without a session is
// ended.
func TestMachine_agentExited(t *testing.T) {
	c := newMachineStage(t)
	c.beginThere()
	c.cut()
	h, err := OpenHost(t.Context(), c.dir, HostOptions{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	agents, err := h.running().Agents(t.Context())
	if err != nil || len(agents) != 1 {
		t.Fatalf("the host has %v, %v, want an agent", agents, err)
	}
	p, err := h.running().Attach(t.Context(), agents[0].Number, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Exit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.Forget(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the older one is not offered
		if _, err := h.running().SpawnAgent(t.Context(), spawn.Command{Path: "/bin/cat", Dir: "/"}, host.AgentOptions{Key: "claude/" + Prefix + "nobody"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	c.join()
	c.is(Interrupted)
	c.await("the end of the other agent", func() bool {
		l, err := host.Dial(t.Context(), c.dir, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		left, err := l.Agents(t.Context())
		return err == nil && len(left) == 0
	})
}

// If a machine refuses to start an agent, the caller gets the reason. A name belongs to the token
// that used it first.
func TestMachine_refuses(t *testing.T) {
	c := newMachineStage(t)
	c.link.Close()
	<-c.served
	c.policy.refuse = errors.New("the directory /d is not offered")
	c.join()
	if err := c.server.Create(t.Context(), c.id, Opened{Params: api.ConnectParams{CWD: "/d", Machine: "m1"}}); err != nil {
		t.Fatal(err)
	}
	_, err := c.server.Connected(t.Context(), c.id)
	if err == nil || !strings.Contains(err.Error(), `machine "m1"`) || !strings.Contains(err.Error(), "is not offered") {
		t.Errorf("the start fails with %v, want the reason of the machine", err)
	}
	for name, tt := range map[string]struct{ name, token, want string }{
		"another token": {"m1", "other", "another token"},
		"no name":       {"", "token", "invalid"},
		"a slash":       {"a/b", "token", "invalid"},
		"a long name":   {strings.Repeat("x", 65), "token", "invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.machines.check(host.Registration{Version: host.Version, Name: tt.name}, tt.token)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("it joins with %v, want an error with %q", err, tt.want)
			}
		})
	}
}

// If a call notices the end of the link before the loop, the agent stays with the machine.
func TestMachine_unnoticed(t *testing.T) {
	c := newMachineStage(t)
	c.beginThere()
	c.with(func(a *actor) error {
		c.link.Close()
		c.await("the end of the link", a.lostLink)
		if err := a.linked(); FailureOf(err).Reason != api.NotConnected {
			t.Errorf("a call to the agent fails with %v, want not_connected", err)
		}
		a.back(t.Context())
		if !a.away || a.agent != nil {
			t.Errorf("the actor has the agent %v, away %v, want none until the machine is back", a.agent, a.away)
		}
		return nil
	})
	c.join()
	c.isAway(false)
	c.end()
}

// Conditions for joining, at each limit.
func TestMachines_check(t *testing.T) {
	ms := NewMachines(t.TempDir(), HostOptions{}, slog.New(slog.DiscardHandler))
	valid := host.Registration{Version: host.Version, Name: "m"}
	for name, tt := range map[string]struct {
		change func(r *host.Registration)
		want   string
	}{
		"a machine":      {func(*host.Registration) {}, ""},
		"a newer one":    {func(r *host.Registration) { r.Version++ }, ""},
		"an older one":   {func(r *host.Registration) { r.Version-- }, host.ErrVersion.Error()},
		"a long name":    {func(r *host.Registration) { r.Name = strings.Repeat("x", maxMachineName) }, ""},
		"a longer name":  {func(r *host.Registration) { r.Name = strings.Repeat("x", maxMachineName+1) }, "invalid"},
		"every letter":   {func(r *host.Registration) { r.Name = "azAZ09-_." }, ""},
		"a control":      {func(r *host.Registration) { r.Name = "a\x1b" }, "invalid"},
		"a grave accent": {func(r *host.Registration) { r.Name = "`" }, "invalid"},
		"a brace":        {func(r *host.Registration) { r.Name = "{" }, "invalid"},
		"an at sign":     {func(r *host.Registration) { r.Name = "@" }, "invalid"},
		"a bracket":      {func(r *host.Registration) { r.Name = "[" }, "invalid"},
		"a colon":        {func(r *host.Registration) { r.Name = ":" }, "invalid"},
	} {
		r := valid
		tt.change(&r)
		if err := ms.check(r, "token"); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s joins with %v, want an error with %q", name, err, tt.want)
		}
	}
	for i := range maxMachines - 1 {
		ms.all[fmt.Sprint(i)] = &machine{all: ms, token: "token"}
	}
	if err := ms.check(valid, "token"); err != nil {
		t.Errorf("the last machine below the limit: %v", err)
	}
	ms.all["known"] = &machine{all: ms, token: "token"}
	if err := ms.check(valid, "token"); err == nil {
		t.Error("a machine joined beyond the limit")
	}
	known := valid
	known.Name = "known"
	if err := ms.check(known, "token"); err != nil {
		t.Errorf("a known machine at the limit: %v", err)
	}
	ms.leave()
	if err := ms.check(known, "token"); err == nil {
		t.Error("a machine joined a server that stops")
	}
}

// A connection that fails to become a link returns an error, registers no machine, and is closed.
func TestMachines_noLink(t *testing.T) {
	dir := t.TempDir()
	valid := host.Registration{Version: host.Version, Name: "m1"}
	for name, tt := range map[string]struct {
		epochs string
		before func(t *testing.T, conn net.Conn) // after it the machine disconnects
	}{
		"no registration": {dir, func(t *testing.T, conn net.Conn) {}},
		"refused": {dir, func(t *testing.T, conn net.Conn) {
			bad := valid
			bad.Name = "a/b"
			if err := host.Register(t.Context(), conn, bad); err == nil || !strings.Contains(err.Error(), "invalid") {
				t.Errorf("the registration returned %v, want the reason", err)
			}
		}},
		"no epoch": {filepath.Join(dir, "missing", "\x00"), func(t *testing.T, conn net.Conn) {
			if err := host.Register(t.Context(), conn, valid); err != nil {
				t.Error(err)
			}
		}},
		"no host": {dir, func(t *testing.T, conn net.Conn) {
			if err := host.Register(t.Context(), conn, valid); err != nil {
				t.Error(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			ms := NewMachines(tt.epochs, HostOptions{}, slog.New(slog.DiscardHandler))
			ms.reached = func(context.Context, *machine) { t.Error("the machine was reached") }
			mine, theirs := net.Pipe()
			done := make(chan error, 1)
			go func() { done <- ms.Serve(context.Background(), theirs, "token") }()
			tt.before(t, mine)
			mine.Close()
			select {
			case err := <-done:
				if err == nil {
					t.Error("the connection ended without an error")
				}
			case <-time.After(10 * time.Second):
				t.Fatal("the connection has not ended 10 s after the machine hung up")
			}
			if list := ms.List(); len(list) != 0 {
				t.Errorf("the machines are %+v, want none", list)
			}
			if _, err := theirs.Write([]byte("x")); err == nil {
				t.Error("the connection is still open")
			}
		})
	}
}

// Ending an agent that an earlier server has left returns the error of the first step that fails.
func TestLeftAgent_end(t *testing.T) {
	c := newHostStage(t)
	c.begin()
	c.leave()
	h, err := OpenHost(t.Context(), c.dir, HostOptions{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	c.host = h
	all, err := h.left(t.Context())
	l := all[c.id]
	if err != nil || l == nil {
		t.Fatalf("the host has left %v, %v, want the agent of the session", all, err)
	}
	open := l.open
	l.open = func(context.Context) (spawn.LineProcess, error) { return nil, errPuppet }
	if err := l.end(t.Context()); !errors.Is(err, errPuppet) {
		t.Errorf("not attached: %v, want %v", err, errPuppet)
	}
	if n := len(c.left()); n != 1 {
		t.Fatalf("%d agents are left, want it to run", n)
	}
	l.open = open
	gone, cancel := context.WithCancel(t.Context())
	if _, err := l.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := l.end(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("without time to exit: %v, want %v", err, context.Canceled)
	}
	if err := l.end(t.Context()); err != nil {
		t.Errorf("the end returned %v", err)
	}
	if all := c.left(); len(all) != 0 {
		t.Errorf("the host has %+v, want none", all)
	}
}

// If the log of a session cannot be read, its agent is ended, because no one could answer its requests.
func TestHost_unreadable(t *testing.T) {
	c := newHostStage(t)
	c.begin()
	c.leave()
	log := c.store.Log(c.id).(*memLog)
	log.mu.Lock()
	log.events[len(log.events)-1] = []byte(`{"t":`)
	log.mu.Unlock()
	c.serve(nil)
	info, err := c.server.Lookup(t.Context(), c.id)
	if err != nil || info.State != string(Failed) || info.Title != damagedTitle || info.Loaded {
		t.Errorf("the list has %+v, %v, want a session that failed", info, err)
	}
	if all := c.left(); len(all) != 0 {
		t.Errorf("the host has the agents %+v, want none", all)
	}
}

// TestMachines_replaced checks that only the end of its newest link makes a machine unreachable, and that clients see the id of its token
// unless the server connected to the machine itself.
func TestMachines_replaced(t *testing.T) {
	ms := NewMachines(t.TempDir(), HostOptions{}, slog.New(slog.DiscardHandler))
	older, newer := &host.Link{}, &host.Link{}
	agent := &leftAgent{}
	left := map[string]*leftAgent{"s-1": agent}
	r := host.Registration{Name: "m"}
	ms.replace(r, older, nil, "token-1")
	m, before := ms.replace(r, newer, left, "token-1")
	if before != older {
		t.Error("the second link of a machine does not replace the first one")
	}
	ms.disconnected(m, older)
	if m.link != newer || len(m.left) != 1 {
		t.Errorf("after the end of the older link the machine has the link %p and %d agents, want the newer link and 1", m.link, len(m.left))
	}
	if l, known := m.take("s-1"); l != agent || !known {
		t.Errorf("taking an agent: %v, %v, want that of the session", l, known)
	}
	if l, known := m.take("s-1"); l != nil || !known {
		t.Errorf("taking an agent again: %v, %v, want none", l, known)
	}
	ms.replace(host.Registration{Name: "dialed"}, nil, nil, LinkedPrefix+"x")
	for _, got := range ms.List() {
		want := map[string]api.Machine{"m": {Token: "token-1", State: api.MachineReachable}, "dialed": {State: api.MachineUnreachable}}[got.Name]
		if got.Token != want.Token || got.State != want.State {
			t.Errorf("machine %s is %s with token %q, want %s with %q", got.Name, got.State, got.Token, want.State, want.Token)
		}
	}
	ms.disconnected(m, newer)
	if l, known := m.take("s-1"); m.link != nil || m.left != nil || l != nil || known {
		t.Errorf("without a link the machine has the link %p and the agent %v (known: %v), want none", m.link, l, known)
	}
}
