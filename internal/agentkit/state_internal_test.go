package agentkit

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
)

// TestState compares random steps with a table of the allowed transitions of each request.
func TestState(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		st := &state{limit: 4, open: map[string]*Prompt{}}
		phase := map[string]string{} // open, answered, or absent
		asked := map[string]bool{}   // and not resolved
		pushed, popped := 0, 0
		for range 200 {
			id := fmt.Sprint(rnd.IntN(6))
			switch rnd.IntN(6) {
			case 0:
				st.push([]event.Event{&event.PermissionRequest{RequestID: id, Kind: event.PermissionTool}}, nil)
				phase[id], asked[id] = "open", true
				pushed++
			case 1:
				st.push([]event.Event{&event.PermissionResolved{RequestID: id}}, nil)
				if asked[id] {
					pushed++ // only opened requests are resolved
				}
				delete(phase, id)
				delete(asked, id)
			case 2:
				r, err := st.request(id, &agent.PermissionAnswer{})
				if (err == nil) != (phase[id] == "open") || err != nil && !errors.Is(err, agent.ErrNotOpen) {
					t.Fatalf("seed %d: request %s is %q, its answer %v", seed, id, phase[id], err)
				}
				if err == nil {
					r.settle(&agent.PermissionAnswer{})
					phase[id] = "answered"
				}
			case 3:
				for _, r := range st.withdraw(func(r *Prompt) bool { return r.ID <= id }) {
					if phase[r.ID] != "open" {
						t.Fatalf("seed %d: withdrew %s, which is %q", seed, r.ID, phase[r.ID])
					}
					delete(phase, r.ID)
				}
			default:
				if _, ok := st.pop(); ok != (popped < pushed) {
					t.Fatalf("seed %d: pop after %d of %d events: %v", seed, popped, pushed, ok)
				} else if ok {
					popped++
				}
			}
			if ready := pushed-popped <= st.limit; len(st.queue) != pushed-popped || st.ready() != ready || len(st.open) != len(phase) {
				t.Fatalf("seed %d: %d events wait, ready %v, %d requests of %d", seed, len(st.queue), st.ready(), len(st.open), len(phase))
			}
		}
		if n := len(st.leftOpen()); n != len(asked) {
			t.Fatalf("seed %d: %d requests are left, want %d", seed, n, len(asked))
		}
	}
}

// TestState_end checks that the first end counts, and that later calls have no effect.
func TestState_end(t *testing.T) {
	first, second := errors.New("first"), errors.New("second")
	for _, tt := range []struct {
		name string
		end  func(st *state) []bool
		err  error
	}{
		{"end twice", func(st *state) []bool { return []bool{st.end(first), !st.end(second)} }, first},
		{"stop before end", func(st *state) []bool { return []bool{st.stop(nil), !st.stop(second), st.end(first)} }, nil},
		{"stop after end", func(st *state) []bool { return []bool{st.end(first), !st.stop(second)} }, first},
	} {
		st := &state{limit: 1, held: 1, open: map[string]*Prompt{}}
		for i, ok := range tt.end(st) {
			if !ok {
				t.Errorf("%s: step %d", tt.name, i)
			}
		}
		st.push([]event.Event{&event.Notice{}}, nil)
		if st.err != tt.err || len(st.queue) != 0 || st.alive() == nil || !st.ready() {
			t.Errorf("%s: %v, %d events, %v", tt.name, st.err, len(st.queue), st.alive())
		}
	}
}

// TestState_maxOpen checks that the table of requests is limited, and that further requests are
// still passed on as events.
func TestState_maxOpen(t *testing.T) {
	st := &state{limit: 1, open: map[string]*Prompt{}}
	for i := range maxOpen + 5 {
		st.push([]event.Event{&event.QuestionRequest{RequestID: fmt.Sprint(i), Kind: event.QuestionAsk}}, nil)
	}
	if len(st.open) != maxOpen || len(st.queue) != maxOpen+5 {
		t.Errorf("%d requests, %d events", len(st.open), len(st.queue))
	}
}

// TestState_lines checks that consecutive lines without events are one batch, also before the
// consumer reads, and that the events of a line stay together.
func TestState_lines(t *testing.T) {
	st := &state{limit: 4, open: map[string]*Prompt{}}
	add := func(line uint64, events ...event.Event) {
		st.line = line
		st.push(events, nil)
		st.endLine(line)
	}
	for n := range uint64(1000) {
		add(n + 1)
	}
	add(1001, &event.Notice{}, &event.Notice{})
	add(1002)
	add(1003)
	add(1004, &event.Notice{})
	if len(st.queue) > 8 {
		t.Errorf("%d places are taken", len(st.queue))
	}
	var got []string
	for {
		b, ok := st.popBatch()
		if !ok {
			break
		}
		got = append(got, fmt.Sprintf("%d:%d", b.Line, len(b.Events)))
	}
	if want := "[1000:0 1001:2 1003:0 1004:1]"; fmt.Sprint(got) != want {
		t.Errorf("batches %v, want %s", got, want)
	}
}

// TestState_past checks that only unresolved requests of an earlier process are kept.
func TestState_past(t *testing.T) {
	st := &state{limit: 4, open: map[string]*Prompt{}}
	ask := func(id string) event.Event {
		return &event.PermissionRequest{RequestID: id, Kind: event.PermissionTool}
	}
	st.pushPast([]event.Event{ask("a"), ask("b"), ask("c"), &event.PermissionResolved{RequestID: "a"}}, nil)
	st.push([]event.Event{&event.PermissionResolved{RequestID: "b"}}, nil)
	if len(st.past) != 1 || st.past["c"] == nil || len(st.open) != 0 {
		t.Errorf("the requests of the past are %v, those that are open %v", st.past, st.open)
	}
}

// TestState_pastBound checks that the unresolved requests of an earlier process are limited, and that resolved ones make room.
func TestState_pastBound(t *testing.T) {
	st := &state{limit: 1, open: map[string]*Prompt{}}
	for i := range maxOpen + 5 {
		st.pushPast([]event.Event{&event.QuestionRequest{RequestID: fmt.Sprint(i), Kind: event.QuestionAsk}}, nil)
	}
	if len(st.past) != maxOpen || len(st.queue) != maxOpen+5 {
		t.Errorf("%d requests are kept of %d events, want %d of %d", len(st.past), len(st.queue), maxOpen, maxOpen+5)
	}
	st.pushPast([]event.Event{&event.QuestionResolved{RequestID: "0"}, &event.QuestionRequest{RequestID: "new", Kind: event.QuestionAsk}}, nil)
	if st.past["new"] == nil || st.past["0"] != nil {
		t.Error("a resolved request is kept, or makes no room for a new one")
	}
}

// TestState_expired checks that a request cannot be answered once its context has ended, and that a removed request no longer watches it.
func TestState_expired(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	released := 0
	st := &state{limit: 1, open: map[string]*Prompt{"r": {ID: "r", Kind: event.PermissionTool, ctx: ctx, release: func() bool { released++; return true }}}}
	if _, err := st.request("r", &agent.PermissionAnswer{}); err != nil {
		t.Errorf("an open request: %v, want no error", err)
	}
	cancel()
	if r, err := st.request("r", &agent.PermissionAnswer{}); !errors.Is(err, agent.ErrNotOpen) {
		t.Errorf("a request whose context has ended: %v, %v, want %v", r, err, agent.ErrNotOpen)
	}
	st.close("r")
	st.close("r")
	if released != 1 || len(st.open) != 0 {
		t.Errorf("the request was released %d times and %d are open, want 1 and 0", released, len(st.open))
	}
}

// TestState_askedAgain checks that a request with the id of an open one is the same request, and with the id of an answered one a new one.
func TestState_askedAgain(t *testing.T) {
	st := &state{limit: 1, open: map[string]*Prompt{}}
	ask := func() *Prompt {
		st.push([]event.Event{&event.PermissionRequest{RequestID: "r", Kind: event.PermissionTool}}, nil)
		return st.open["r"]
	}
	first := ask()
	if again := ask(); again != first {
		t.Error("the open request was replaced by another one with its id")
	}
	first.settle(&agent.PermissionAnswer{})
	second := ask()
	if _, err := st.request("r", &agent.PermissionAnswer{}); second == first || err != nil {
		t.Errorf("after the answer the request is the answered one: %v; it can be answered: %v, want a new one", second == first, err)
	}
}
