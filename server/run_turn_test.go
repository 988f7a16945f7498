package server

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/parts"
	"github.com/seed7221b0f9/parley/server/session"
)

// kindsOf returns the kinds of parts.
func kindsOf(all []parts.Part) (kinds []string) {
	for _, p := range all {
		kinds = append(kinds, string(p.Kind))
	}
	return kinds
}

// TestTurnView_waiting checks a stream that waits for its prompt: it shows no event of earlier turns, begins with the prompt, and ends if
// the prompt will not start.
func TestTurnView_waiting(t *testing.T) {
	queue := func(items ...event.QueueItem) event.Event { return &event.QueueChanged{Items: items} }
	state := func(s session.State) event.Event { return &event.SessionState{State: string(s)} }
	message := func(id string) event.Event { return &event.UserMessage{Header: event.Header{UUID: id}} }
	for _, tt := range []struct {
		name    string
		ev      event.Event
		started bool
		end     parts.Reason
		message string
	}{
		{name: "its prompt", ev: message("p"), started: true},
		{name: "another prompt", ev: message("q")},
		{name: "a message without an id", ev: message("")},
		{name: "it is queued", ev: queue(event.QueueItem{ID: "q", Status: "held"}, event.QueueItem{ID: "p"})},
		{name: "it is held", ev: queue(event.QueueItem{ID: "q"}, event.QueueItem{ID: "p", Status: "held"}), end: parts.Failed, message: "waits for a person"},
		{name: "its fate is unknown", ev: queue(event.QueueItem{ID: "p", Status: "unknown"}), end: parts.Failed, message: "waits for a person"},
		{name: "it was removed", ev: queue(event.QueueItem{ID: "q"}), end: parts.Cancelled},
		{name: "the queue is empty", ev: queue(), end: parts.Cancelled},
		{name: "another one changes", ev: &event.QueueUpdated{Items: []event.QueueItem{{ID: "q", Status: "held"}, {ID: "p"}}, Removed: []string{"r"}}},
		{name: "it changes to held", ev: &event.QueueUpdated{Items: []event.QueueItem{{ID: "p", Status: "held"}}}, end: parts.Failed, message: "waits for a person"},
		{name: "it is removed from others", ev: &event.QueueUpdated{Removed: []string{"q", "p"}}, end: parts.Cancelled},
		{name: "the turn before has ended", ev: state(session.Idle)},
		{name: "the agent is gone", ev: state(session.Interrupted)},
		{name: "the session has failed", ev: state(session.Failed), end: parts.Failed, message: "it is " + string(session.Failed)},
		{name: "the session has ended", ev: state(session.Ended), end: parts.Failed, message: "it is " + string(session.Ended)},
		{name: "the host is lost", ev: state(session.LostHost), end: parts.Failed, message: "it is " + string(session.LostHost)},
		{name: "an answer of the turn before", ev: &event.TextStart{Text: "old"}},
		{name: "the end of the turn before", ev: &event.ResultMessage{}},
	} {
		view := &turnView{turn: "p", reducer: parts.New(parts.Place{})}
		got := view.apply(tt.ev)
		if tt.end == "" {
			if len(got) > 0 || view.ended || (view.turn == "") != tt.started {
				t.Errorf("%s: %v, ended %t, waits for %q", tt.name, kindsOf(got), view.ended, view.turn)
			}
			continue
		}
		if len(got) != 1 || got[0].Kind != parts.Finish || got[0].End.Reason != tt.end || !strings.Contains(got[0].End.Message, tt.message) || (got[0].End.Message == "") != (tt.message == "") || !view.ended {
			t.Errorf("%s: %+v, ended %t; want the end %s %q", tt.name, got, view.ended, tt.end, tt.message)
		}
	}
}

// TestTurnView_running checks which events end the stream of a running turn, and that an open text
// is ended first.
func TestTurnView_running(t *testing.T) {
	for _, tt := range []struct {
		ev      event.Event
		end     parts.Reason // "" if the stream continues
		message string
	}{
		{ev: &event.SessionState{State: string(session.Running)}},
		{ev: &event.SessionState{State: string(session.RequiresAction)}},
		{ev: &event.SessionState{State: "a state of a newer server"}},
		{ev: &event.SessionState{State: string(session.Idle)}, end: parts.Stopped},
		{ev: &event.SessionState{State: string(session.Interrupted)}, end: parts.Failed, message: string(session.Interrupted)},
		{ev: &event.SessionState{State: string(session.Failed)}, end: parts.Failed, message: string(session.Failed)},
		{ev: &event.SessionState{State: string(session.Ended)}, end: parts.Failed, message: string(session.Ended)},
		{ev: &event.SessionState{State: string(session.LostHost)}, end: parts.Failed, message: string(session.LostHost)},
		{ev: &event.ResultMessage{StopReason: "max_tokens"}, end: parts.Length},
		{ev: &event.QueueChanged{}},
		{ev: &event.UserMessage{Header: event.Header{UUID: "q"}}},
	} {
		view := &turnView{reducer: parts.New(parts.Place{})}
		if got := kindsOf(view.apply(&event.TextStart{Text: "a"})); len(got) == 0 || view.ended {
			t.Fatalf("a text: %v, ended %t", got, view.ended)
		}
		got := view.apply(tt.ev)
		if tt.end == "" {
			if len(got) > 0 || view.ended {
				t.Errorf("%+v: %v, ended %t", tt.ev, kindsOf(got), view.ended)
			}
			continue
		}
		if kinds := kindsOf(got); !slices.Equal(kinds, []string{"text-end", "finish"}) || !view.ended {
			t.Fatalf("%+v: %v, ended %t", tt.ev, kinds, view.ended)
		}
		if end := got[1].End; end.Reason != tt.end || !strings.HasSuffix(end.Message, tt.message) || (end.Message == "") != (tt.message == "") {
			t.Errorf("%+v: the end %+v, want %s %q", tt.ev, end, tt.end, tt.message)
		}
		if again := view.apply(&event.TextStart{Text: "b"}); len(again) > 0 {
			t.Errorf("%+v: after the end %v", tt.ev, kindsOf(again))
		}
	}
}
