//go:build unix

package session

import (
	"errors"
	"io"
	"log/slog"
	"testing"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/spawn"
)

// catCommand copies its input to its output.
var catCommand = spawn.Command{Path: "/bin/cat", Dir: "/", Env: []string{"PATH=/bin"}}

// keptBefore starts an agent and two processes of its keeper, and leaves them to the next server.
func keptBefore(c *hostStage) (number uint32) {
	c.begin()
	number = c.left()[0].Number
	k := c.host.keeper(host.AgentOptions{Key: c.id}, number, nil)
	for _, name := range []string{"one", "two"} {
		p, err := k.Keep(c.Context(), name, catCommand)
		if err != nil {
			c.Fatal(err)
		}
		if _, err := p.(keptProcess).Write(c.Context(), "line", []byte(name+"\n")); err != nil {
			c.Fatal(err)
		}
	}
	c.leave()
	return number
}

// open connects to the host as its owner, without a server.
func (c *hostStage) open() *Host {
	c.Helper()
	h, err := OpenHost(c.Context(), c.dir, HostOptions{}, slog.New(slog.DiscardHandler))
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() { _ = h.Close() })
	c.host = h
	return h
}

// The next server finds the processes of an agent by their names, and does not start any of them
// twice.
func TestKeeper(t *testing.T) {
	c := newHostStage(t)
	number := keptBefore(c)
	h := c.open()
	all, err := h.left(t.Context())
	if err != nil || len(all) != 1 || all[c.id] == nil || len(all[c.id].kept) != 2 {
		t.Fatalf("there are %+v, %v, want one agent with two processes", all, err)
	}
	k := h.keeper(host.AgentOptions{Key: c.id}, number, all[c.id].kept)
	if _, err := k.Find(t.Context(), "three"); !errors.Is(err, agent.ErrNotFound) {
		t.Errorf("a process that was not started: %v", err)
	}
	p, err := k.Keep(t.Context(), "one", catCommand)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(c.left()); n != 3 {
		t.Errorf("the host has %d processes, want 3: one was started twice", n)
	}
	text := make([]byte, 4)
	if _, err := io.ReadFull(p.Stdout(), text); err != nil || string(text) != "one\n" || p.Cut() {
		t.Errorf("the output is %q, %v, cut %v", text, err, p.Cut())
	}
	if err := p.Discard(t.Context(), p.Taken()); err != nil {
		t.Error(err)
	}
	for _, a := range c.left() {
		if a.Number == p.(keptProcess).Agent().Number && a.Checkpoint == 0 {
			t.Error("no output was given up")
		}
	}
	if err := all[c.id].drop(t.Context()); err != nil {
		t.Error(err)
	}
	if left := c.left(); len(left) != 0 {
		t.Errorf("after the end of the agent there are %+v", left)
	}
}

// Processes of an agent that no longer exists are ended, even if the session has another agent.
func TestKeeper_left(t *testing.T) {
	c := newHostStage(t)
	number := keptBefore(c)
	h := c.open()
	for key, agent := range map[string]uint32{c.id: number + 1, "s-gone": number} {
		if _, err := h.keeper(host.AgentOptions{Key: key}, agent, nil).Keep(t.Context(), "stray", catCommand); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(c.left()); n != 5 {
		t.Fatalf("the host has %d processes, want 5", n)
	}
	h = c.open()
	all, err := h.left(t.Context())
	if err != nil || len(all) != 1 || len(all[c.id].kept) != 2 || len(c.left()) != 3 {
		t.Errorf("there are %+v, %v, and the host has %d processes, want an agent with two", all, err, len(c.left()))
	}
	p, err := h.running().SpawnAgent(t.Context(), catCommand, host.AgentOptions{Key: c.id}) // a newer agent of the session
	if err != nil {
		t.Fatal(err)
	}
	again := c.open()
	if all, err = again.left(t.Context()); err != nil || all[c.id].Number != p.Agent().Number || len(all[c.id].kept) != 0 {
		t.Errorf("there are %+v, %v, want the newest agent alone", all, err)
	}
	if left := c.left(); len(left) != 1 {
		t.Errorf("the host has %+v, want the newest agent", left)
	}
}

func TestKeptKey(t *testing.T) {
	k := (&Host{}).keeper(host.AgentOptions{Key: "s-1"}, 12, nil)
	if session, agent, name, ok := keptKey(k.key("terminal-1/2")); session != "s-1" || agent != 12 || name != "terminal-1/2" || !ok {
		t.Errorf("the key is %q: %q, %d, %q, %v", k.key("terminal-1/2"), session, agent, name, ok)
	}
	for _, key := range []string{"s-1", "helper", "s-1/x/terminal", "s-1/1", "s-1/-1/t", "s-1/99999999999/t"} {
		if _, _, _, ok := keptKey(key); ok {
			t.Errorf("%q is taken for a process of an agent", key)
		}
	}
}
