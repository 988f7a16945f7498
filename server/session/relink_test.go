//go:build unix

package session

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
)

// cut closes the link to the host as a host closes it, and waits until the agent is adopted again.
func (c *hostStage) cut() {
	c.Helper()
	c.puppets.calls.take()
	if err := c.host.running().Close(); err != nil {
		c.Fatal(err)
	}
	c.await("the agent is adopted again", func() bool { return c.puppets.calls.got("Adopt agent-1") })
}

// A server that was dropped by its host connects again and has every event once: a turn, its open request and later prompts are not
// affected.
func TestHost_relink(t *testing.T) {
	c := newHostStage(t)
	c.begin()
	const cuts = 4
	for i := range cuts {
		c.say(fmt.Sprintf("say said-%d", i))
		c.cut()
		c.is(Running)
	}
	c.say("ask r-1")
	c.is(RequiresAction)
	c.cut()
	c.is(RequiresAction)
	if _, err := Of[Requests](c.server).PermissionRespond(t.Context(), api.PermissionRespondParams{SessionID: c.id, RequestID: "r-1", Behavior: "allow"}, "me"); err != nil {
		t.Fatal(err)
	}
	c.is(Running)
	c.cut()
	if _, err := Of[Agents](c.server).Interrupt(t.Context(), api.SessionRef{SessionID: c.id}); err != nil {
		t.Fatal(err)
	}
	c.is(Idle)
	c.cut()
	c.is(Idle)
	for i := range cuts {
		if n := c.count(fmt.Sprintf(`"said-%d"`, i)); n != 1 {
			t.Errorf("what the agent said before the cut %d is in %d records, want 1", i, n)
		}
	}
	if n := c.count(`"permission_resolved"`); n != 1 {
		t.Errorf("the request is resolved in %d records, want 1", n)
	}
	if all := c.left(); len(all) != 1 || all[0].Exit != nil {
		t.Errorf("the host has %+v, want the one agent", all)
	}
	if n := c.count(`"interrupted"`) + c.count("answer_lost"); n > 0 {
		t.Errorf("%d records report a loss", n)
	}
}

// An answer that a person gives while the link is lost is accepted: the agent gets it after its adoption.
func TestHost_relinkAnswer(t *testing.T) {
	c := newHostStage(t)
	c.begin()
	c.say("ask r-1")
	c.is(RequiresAction)
	c.with(func(a *actor) error {
		if err := c.host.running().Close(); err != nil {
			return err
		}
		a.leaveAgent()
		return nil
	})
	if _, err := Of[Requests](c.server).PermissionRespond(t.Context(), api.PermissionRespondParams{SessionID: c.id, RequestID: "r-1", Behavior: "allow"}, "me"); err != nil {
		t.Fatal(err)
	}
	c.is(Running)
	c.await("the agent is adopted", func() bool { return c.puppets.calls.got("Adopt agent-1") })
}

// An agent that starts while the link is lost starts over the next link, and is not mistaken for a leftover
// one.
func TestHost_relinkStart(t *testing.T) {
	c := newHostStage(t)
	c.begin()
	for i := range 5 {
		id := fmt.Sprint(Prefix, "other-", i)
		if err := c.host.running().Close(); err != nil {
			t.Fatal(err)
		}
		if err := c.server.Create(t.Context(), id, Opened{Params: api.ConnectParams{CWD: "/d"}}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.server.Connected(t.Context(), id); err != nil {
			t.Fatalf("session %d was not started: %v", i, err)
		}
	}
	c.await("all agents run", func() bool {
		link := c.host.running()
		if link == nil {
			return false
		}
		all, err := link.Agents(t.Context())
		runs := 0
		for _, a := range all {
			if a.Exit == nil {
				runs++
			}
		}
		return err == nil && runs == 6
	})
	for i := range 5 {
		if err := c.server.with(t.Context(), fmt.Sprint(Prefix, "other-", i), func(a *actor) error {
			if a.agent == nil && !a.away {
				t.Errorf("session %d has no agent", i)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// An agent whose end was requested when the link was lost ends over the next one.
func TestHost_relinkStop(t *testing.T) {
	c := newHostStage(t)
	c.begin()
	link := c.host.running()
	c.with(func(a *actor) error {
		if err := link.Close(); err != nil {
			return err
		}
		a.stop(onEnd)
		return nil
	})
	c.is(Ended)
	c.await("the host forgets the agent", func() bool {
		link := c.host.running()
		if link == nil {
			return false
		}
		all, err := link.Agents(t.Context())
		return err == nil && len(all) == 0
	})
}

// A server that was replaced as the owner of the host takes no agent back: its sessions keep their state, and calls to their agents fail.
func TestHost_relinkFenced(t *testing.T) {
	c := newHostStage(t)
	c.begin()
	other, err := OpenHost(t.Context(), c.dir, HostOptions{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	c.await("the server gives up", func() bool { return strings.Contains(c.lines.String(), "another server owns the agents") })
	c.is(Running)
	if _, err := Of[Agents](c.server).Interrupt(t.Context(), api.SessionRef{SessionID: c.id}); FailureOf(err).Reason != api.NotConnected {
		t.Errorf("an interrupt ends with %v, want not_connected", err)
	}
	if _, err := c.server.Query(t.Context(), c.id, "", event.Quote("text"), "", "by"); err != nil {
		t.Errorf("a prompt is not queued: %v", err)
	}
	all, err := other.running().Agents(t.Context())
	if err != nil || len(all) != 1 || all[0].Exit != nil {
		t.Errorf("the host has %+v, %v; want one agent that runs", all, err)
	}
	if n := c.count(`"interrupted"`); n > 0 {
		t.Errorf("%d records interrupt the session", n)
	}
}
