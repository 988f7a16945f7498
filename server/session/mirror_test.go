package session

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/server/api"
)

// mirroredSession starts a session with an agent on a server of a cluster.
func mirroredSession(t *testing.T, n *node, id string) *puppet {
	t.Helper()
	if err := n.Create(t.Context(), id, Opened{Params: api.ConnectParams{CWD: "/work"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Query(t.Context(), id, "", `"prompt"`, "", "by"); err != nil {
		t.Fatal(err)
	}
	n.delivered(t, id)
	return n.puppets.agent()
}

// mirrors returns the number of copies that a server has begun.
func (n *node) mirrors() int {
	n.puppets.calls.mu.Lock()
	defer n.puppets.calls.mu.Unlock()
	count := 0
	for _, call := range *n.puppets.calls.calls {
		if call == "Mirror agent-1 /work" {
			count++
		}
	}
	return count
}

// TestMirror copies the agent's files after a turn, one copy at a time, and at the end of the server. The server that resumes the session fetches them.
func TestMirror(t *testing.T) {
	c := newNodes(t, "a", "b")
	a, b := c.all["a"], c.all["b"]
	open := sync.OnceFunc(a.puppets.calls.block("Mirror"))
	defer open()
	p := mirroredSession(t, a, "s-1")
	if a.mirrors() != 0 || a.puppets.calls.got("Fetch") {
		t.Errorf("a new session is copied or fetched: %v", a.puppets.calls.take())
	}
	p.result()
	soon(t, "the first turn is copied", func() bool { return a.mirrors() == 1 })
	if _, err := a.Query(t.Context(), "s-1", "", `"second"`, "", "by"); err != nil {
		t.Fatal(err)
	}
	a.delivered(t, "s-1")
	p.result()
	soon(t, "the second turn ends", func() bool { i, _ := a.Lookup(t.Context(), "s-1"); return i.State == string(Idle) && i.Turns == 2 })
	if n := a.mirrors(); n != 1 {
		t.Errorf("%d copies are made at once", n)
	}
	open()
	soon(t, "the second turn is copied", func() bool { return a.mirrors() >= 2 })
	soon(t, "what the agent writes after the turn is copied", func() bool { return a.mirrors() >= 3 })
	a.puppets.calls.take()
	last := sync.OnceFunc(a.puppets.calls.block("Mirror"))
	defer last()
	closed := make(chan struct{})
	go func() { a.Close(); close(closed) }()
	soon(t, "the server makes a last copy", func() bool { return a.mirrors() > 0 })
	select {
	case <-closed:
		t.Error("the server ends before its last copy")
	case <-time.After(100 * time.Millisecond):
		if len(c.owners()) == 0 {
			t.Error("the server releases the session before its last copy")
		}
	}
	last()
	<-closed
	mirroredAgain := func() bool { return b.puppets.calls.got("Fetch agent-1 /work") }
	if _, err := b.Query(t.Context(), "s-1", "", `"third"`, "", "by"); err != nil {
		t.Fatal(err)
	}
	soon(t, "the session is fetched", mirroredAgain)
	soon(t, "the session is resumed", func() bool { return b.puppets.calls.got("Resume agent-1") })
	calls := b.puppets.calls.take()
	if strings.Index(calls, "Fetch") > strings.Index(calls, "Resume") {
		t.Errorf("the session is resumed before its files are fetched: %s", calls)
	}
}

// TestMirror_longTurn copies a turn that goes on.
func TestMirror_longTurn(t *testing.T) {
	c := newNodes(t, "a")
	a := c.all["a"]
	mirroredSession(t, a, "s-1")
	tick := func(after time.Duration) {
		if err := a.with(t.Context(), "s-1", func(x *actor) error { x.watchMirror(time.Now().Add(after)); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	tick(mirrorInterval)
	soon(t, "the turn is copied", func() bool { return a.mirrors() == 1 })
	tick(mirrorInterval / 2)
	tick(mirrorInterval)
	soon(t, "the turn is copied again", func() bool { return a.mirrors() >= 2 })
	if n := a.mirrors(); n != 2 {
		t.Errorf("there were %d copies, want 2", n)
	}
}

// TestFetch_fails does not start an agent whose files cannot be fetched: it would lack what other servers have added. Without a copy it does.
func TestFetch_fails(t *testing.T) {
	c := newNodes(t, "a", "b")
	a, b := c.all["a"], c.all["b"]
	mirroredSession(t, a, "s-1").result()
	soon(t, "the turn ends", func() bool { i, _ := b.Lookup(t.Context(), "s-1"); return i.State == string(Idle) })
	a.Close()
	b.puppets.calls.setFailWith("Fetch", errors.New("the store does not answer"))
	if _, err := b.Connected(t.Context(), "s-1"); err == nil || b.puppets.calls.got("Resume") {
		t.Errorf("the agent is started without its files: %v", err)
	}
	b.puppets.calls.setFailWith("Fetch", agent.ErrNotFound)
	if _, err := b.Connected(t.Context(), "s-1"); err != nil || !b.puppets.calls.got("Resume") {
		t.Errorf("a session without a copy: %v", err)
	}
}

// TestMirror_notCopied copies nothing without a cluster, and nothing of a session on another machine.
func TestMirror_notCopied(t *testing.T) {
	c := newStage(t, Opened{})
	c.connect()
	c.turn("prompt")
	c.puppets.agent().result()
	c.inState(Idle)
	if c.puppets.calls.got("Mirror") || c.puppets.calls.got("Fetch") {
		t.Errorf("a session without a cluster is copied: %s", c.puppets.calls.take())
	}
	l := &life{journal: &journal{owner: oneNode{}}, provider: c.puppets}
	l.core.AgentID = "agent-1"
	if l.mirrored() == nil {
		t.Error("a session of a cluster is not copied")
	}
	l.core.Opened.Params = api.ConnectParams{Machine: "other"}
	if l.mirrored() != nil {
		t.Error("a session on another machine is copied from this one")
	}
}
