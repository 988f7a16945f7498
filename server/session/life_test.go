package session

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
)

// failing is a provider with agents that do not start.
type failing struct{ agent.Provider }

func (failing) Open(context.Context, agent.Options) (agent.Session, error) {
	return nil, errors.New("it does not start")
}

// TestLife_placeOfFailedStart checks that a failed start releases its place and its preparations.
func TestLife_placeOfFailedStart(t *testing.T) {
	for name, tt := range map[string]struct {
		prepare  error
		released int
	}{"the agent": {nil, 1}, "its preparation": {errFault, 0}} {
		t.Run(name, func(t *testing.T) {
			s, _ := memSessions(t)
			released := 0
			s.opts.Prepare = func(string, agent.Provider, *agent.Options) (func(), error) { return func() { released++ }, tt.prepare }
			a := s.newActor(Prefix+"failed", "e")
			defer a.cancel()
			a.provider = failing{providerOf(s)}
			before, _ := s.Places()
			if _, _, err := a.open(t.Context(), "", false, agent.Options{}); err == nil {
				t.Fatal("the agent was started")
			}
			if after, _ := s.Places(); after != before || released != tt.released {
				t.Errorf("%d places are free and %d of %d preparations released, want %d places", after, released, tt.released, before)
			}
		})
	}
}

// TestLife_pump checks the end of an agent under a host. The host forgets it when the log has its last events; its access to the model
// ends when the host has forgotten it, because another server may have taken it over. Its place is free in any case.
func TestLife_pump(t *testing.T) {
	for name, tt := range map[string]struct {
		blocked, forget    error
		forgotten, revoked int
	}{
		"stored":         {nil, nil, 1, 1},
		"not stored":     {errFault, nil, 0, 0},
		"not forgotten":  {nil, errFault, 1, 0},
		"neither of two": {errFault, errFault, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := memSessions(t)
			a := s.newActor(Prefix+"pump", "e")
			a.core.Provider, a.provider, a.blocked = "claude", providerOf(s), tt.blocked
			s.wg.Go(a.run)
			defer func() { a.cancel(); <-a.done }()
			b := newBare("agent")
			forgotten, freed, revoked := 0, 0, 0
			r := &running{session: b, events: make(chan pumped, 1), close: b.Close, ended: make(chan struct{}),
				access: &access{sync.OnceFunc(func() { freed++ }), sync.OnceFunc(func() { revoked++ })},
				forget: func(context.Context) error { forgotten++; return tt.forget }}
			close(r.ended)
			_ = b.Close() // its events end
			a.pump(r)
			if forgotten != tt.forgotten || revoked != tt.revoked || freed != 1 {
				t.Errorf("forgotten %d, revoked %d, freed %d times; want %d, %d, 1", forgotten, revoked, freed, tt.forgotten, tt.revoked)
			}
		})
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
