package mcpserver

import (
	"context"
	"errors"
	"iter"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/server/api"
)

// service has one session that goes through a list of states, each with a message.
type service struct {
	states  []api.SessionSummary
	looks   int
	follows int
	events  chan client.Event // further messages
	err     error             // the error of Follow
}

func (s *service) Call(_ context.Context, _ string, _, result any) error {
	if len(s.states) == 0 {
		return errBroken
	}
	*result.(*api.ListResult) = api.ListResult{Sessions: s.states[:1]}
	s.looks++
	if len(s.states) > 1 {
		s.states = s.states[1:]
	}
	return nil
}

func (s *service) Follow(ctx context.Context, _ string, _ *api.Cursor) iter.Seq2[client.Event, error] {
	s.follows++
	return func(yield func(client.Event, error) bool) {
		for {
			select {
			case ev, ok := <-s.events:
				if !ok {
					yield(client.Event{}, s.err)
					return
				}
				if !yield(ev, nil) {
					return
				}
			case <-ctx.Done():
				yield(client.Event{}, ctx.Err())
				return
			}
		}
	}
}

var errBroken = errors.New("broken")

// TestWait checks that a wait requests the session only after messages that may have changed its state.
func TestWait(t *testing.T) {
	state := func(s string) api.SessionSummary { return api.SessionSummary{SessionID: "s", State: s} }
	attached, text := client.Event{Attached: &api.AttachResult{}}, client.Event{Events: []event.Event{&event.TextDelta{}}}
	changed, queue := client.Event{Events: []event.Event{&event.SessionState{}}}, client.Event{Events: []event.Event{&event.QueueChanged{}}}
	for name, tt := range map[string]struct {
		states  []api.SessionSummary
		events  []client.Event
		err     error
		looks   int
		follows int
		busy    bool
		fails   error
	}{
		"idle":                  {states: []api.SessionSummary{state("idle")}, looks: 1},
		"idle when it attaches": {states: []api.SessionSummary{state("running"), state("idle")}, events: []client.Event{attached}, looks: 2, follows: 1},
		"a turn with much text": {states: []api.SessionSummary{state("running"), state("running"), state("idle")},
			events: []client.Event{attached, text, text, text, text, changed}, looks: 3, follows: 1},
		"a queue that ends": {states: []api.SessionSummary{{SessionID: "s", State: "idle", Queued: 1}, {SessionID: "s", State: "idle", Queued: 1}, state("idle")},
			events: []client.Event{attached, text, queue}, looks: 3, follows: 1},
		"deleted":         {states: []api.SessionSummary{state("running")}, events: []client.Event{attached}, err: errBroken, looks: 2, follows: 1, busy: true, fails: errBroken},
		"a failing first": {fails: errBroken},
	} {
		t.Run(name, func(t *testing.T) {
			s := &service{states: tt.states, events: make(chan client.Event, len(tt.events)), err: tt.err}
			for _, ev := range tt.events {
				s.events <- ev
			}
			close(s.events)
			out, err := wait(context.Background(), s, waitIn{SessionID: "s", Seconds: 600})
			if out.Busy != tt.busy || !errors.Is(err, tt.fails) || s.looks != tt.looks || s.follows != tt.follows {
				t.Errorf("%+v, %v with %d looks and %d follows, want %+v", out, err, s.looks, s.follows, tt)
			}
		})
	}
}

// TestWait_ends checks that a wait ends with its context, and that it ends after its timeout
// without an error.
func TestWait_ends(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := &service{states: []api.SessionSummary{{SessionID: "s", State: "running"}}, events: make(chan client.Event)}
	time.AfterFunc(time.Millisecond, cancel)
	if out, err := wait(ctx, s, waitIn{SessionID: "s", Seconds: 600}); !errors.Is(err, context.Canceled) || !out.Busy {
		t.Errorf("%+v, %v; want errors.Is(err, context.Canceled) and out.Busy", out, err)
	}
	if out, err := wait(context.Background(), s, waitIn{SessionID: "s", Seconds: 1}); err != nil || !out.Busy || out.Session.State != "running" {
		t.Errorf("after the time: %+v, %v", out, err)
	}
}

func TestBusy(t *testing.T) {
	for _, tt := range []struct {
		state  string
		queued int64
		want   bool
	}{{"running", 0, true}, {"starting", 0, true}, {"idle", 1, true}, {"idle", 0, false}, {"requires_action", 1, false}, {"interrupted", 1, false}, {"failed", 0, false}} {
		if got := busy(api.SessionSummary{State: tt.state, Queued: tt.queued}); got != tt.want {
			t.Errorf("%s with %d in the queue: %v", tt.state, tt.queued, got)
		}
	}
}
