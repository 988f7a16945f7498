package session

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
)

// failing is a provider with agents that do not start.
type failing struct{ agent.Provider }

func (failing) Open(context.Context, agent.Options) (agent.Session, error) {
	return nil, errors.New("it does not start")
}

// TestLife_placeOfFailedStart checks that a failed start releases its place.
func TestLife_placeOfFailedStart(t *testing.T) {
	s, _ := memSessions(t)
	released := 0
	s.opts.Prepare = func(string, agent.Provider, *agent.Options) (func(), error) { return func() { released++ }, nil }
	a := s.newActor(Prefix+"failed", "e")
	defer a.cancel()
	a.provider = failing{providerOf(s)}
	before, _ := s.Places()
	if _, _, err := a.open(t.Context(), "", false, agent.Options{}); err == nil {
		t.Fatal("the agent was started")
	}
	if after, _ := s.Places(); after != before || released != 1 {
		t.Errorf("%d places are free and %d of 1 preparations released, want %d places", after, released, before)
	}
}

// TestLife_firstReason checks that an agent that is being ended keeps the first reason.
func TestLife_firstReason(t *testing.T) {
	s, _ := memSessions(t)
	a := s.newActor(Prefix+"reason", "e")
	defer a.cancel()
	a.agent = &running{close: func() error { return nil }, ended: make(chan struct{})}
	a.stop(onEnd)
	a.stop(onEvict)
	if got := a.agent.reason; got != onEnd {
		t.Errorf("the reason is %q, want the first, %q", got, onEnd)
	}
	s.wg.Wait()
}

// TestLife_evictable checks when an agent can be ended without loss.
func TestLife_evictable(t *testing.T) {
	s, _ := memSessions(t)
	for _, c := range []struct {
		state                State
		running, sending, bg bool
		want                 bool
	}{
		{Idle, true, false, false, true},
		{Idle, false, false, false, false},
		{Running, true, false, false, false},
		{RequiresAction, true, false, false, false},
		{Idle, true, true, false, false},
		{Idle, true, false, true, false},
	} {
		a := s.newActor(Prefix+"evict", "e")
		a.core.State, a.sending = c.state, c.sending
		if c.running {
			a.agent = &running{}
		}
		if c.bg {
			a.conv.Apply(&event.TaskStarted{TaskID: "t"})
		}
		if got := a.evictable(); got != c.want {
			t.Errorf("%s: evictable is %v, want %v", fmt.Sprintf("%+v", c), got, c.want)
		}
		a.cancel()
	}
}

// TestTerminal_absorb checks which events of another process are added to the log: complete events,
// once, and none while the server has an agent.
func TestTerminal_absorb(t *testing.T) {
	s, _ := memSessions(t)
	message := &event.UserMessage{Header: event.Header{UUID: "u"}, IsPrompt: true, Blocks: []event.Content{event.TextContent("hi")}}
	delta := &event.TextDelta{Header: event.Header{MessageID: "m"}, Text: "x"}
	for name, c := range map[string]struct {
		events []event.Event
		busy   bool
		want   uint64
	}{
		"a message":        {[]event.Event{message}, false, 1},
		"a message twice":  {[]event.Event{message, message}, false, 1},
		"a delta after it": {[]event.Event{message, delta}, false, 1},
		"a server's agent": {[]event.Event{message}, true, 0},
	} {
		a := s.newActor(Prefix+"absorb"+name, "e")
		a.starting = c.busy
		seen := newSeen(&a.conv)
		for _, ev := range c.events {
			a.terminal.absorb(t.Context(), seen, ev)
		}
		if a.seq != c.want {
			t.Errorf("%s: %d records were written, want %d", name, a.seq, c.want)
		}
		a.cancel()
	}
}
