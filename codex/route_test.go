package codex

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/codex/item"
)

// TestRoutes_subagent checks that notifications of a subagent before its parent is known are delivered after the link, in order.
func TestRoutes_subagent(t *testing.T) {
	r := &routes{threads: map[string]*threadState{}, held: map[string][]item.Notification{}, asks: map[item.JSON]*ask{}}
	owner := newThreadState("owner")
	r.threads["owner"] = owner
	box := newMailbox(1 << 20)
	core := newTurnCore("owner", "turn")
	core.boxes = append(core.boxes, box)
	owner.turns["turn"] = core
	say := func(thread, turn, text string) item.Notification {
		return &item.AgentMessageDelta{Note: item.Note{ThreadID: thread, TurnID: turn}, ItemID: "m", Delta: text}
	}
	var seen []string
	feed := func(n item.Notification) {
		for _, d := range r.toThread(item.ThreadOf(n), n) {
			if d.box == box {
				if delta, ok := d.n.(*item.AgentMessageDelta); ok {
					seen = append(seen, delta.Delta)
				} else {
					seen = append(seen, item.Method(d.n))
				}
			}
		}
	}
	feed(say("child", "c", "one"))
	feed(say("stranger", "s", "never"))
	feed(say("child", "c", "two"))
	feed(say("owner", "turn", "mine"))
	feed(&item.ItemCompleted{Note: item.Note{ThreadID: "owner", TurnID: "turn"}, Item: &item.CollabAgentToolCall{
		ItemHead: item.ItemHead{ID: "call"}, Tool: "spawnAgent", ReceiverThreadIDs: []string{"child"},
	}})
	feed(say("child", "c", "three"))
	if got := strings.Join(seen, " "); got != "mine item/completed one two three" {
		t.Errorf("seen %s", got)
	}
	if o := r.threads["child"].origin; fmt.Sprint(*o) != "{owner turn call}" {
		t.Errorf("origin %+v", o)
	}
}

// TestRoutes_adopt checks that a joined thread has its running turn, and no ended turn.
func TestRoutes_adopt(t *testing.T) {
	for status, runs := range map[string]bool{item.StatusInProgress: true, item.StatusCompleted: false, item.StatusInterrupted: false, item.StatusFailed: false} {
		r := &routes{threads: map[string]*threadState{}, held: map[string][]item.Notification{}, asks: map[item.JSON]*ask{}}
		thread := &Thread{}
		thread.info.Thread = item.Thread{ID: "t", Name: "a name", Turns: []item.Turn{{ID: "first", Status: item.StatusCompleted}, {ID: "last", Status: status}}}
		r.adopt(thread)
		s := r.threads["t"]
		if thread.id != "t" || s == nil || s.handle != thread || s.track.name != "a name" {
			t.Fatalf("the thread is %q, its state %+v", thread.id, s)
		}
		if known := s.turns["last"] != nil; known != runs || (s.active != nil) != runs || s.active != nil && (s.active != s.turns["last"] || s.active.id != "last") {
			t.Errorf("a last turn that is %s: known %v, active %+v, want it to run: %v", status, known, s.active, runs)
		}
		if len(s.turns) > 1 {
			t.Errorf("a turn that has ended is there: %v", s.turns)
		}
	}
}

// TestThread_withdraw checks that the wait for a withdrawn prompt ends at once, and that the other prompts stay.
func TestThread_withdraw(t *testing.T) {
	c := &Client{opts: &Options{MaxBuffered: 1 << 20}}
	s := newThreadState("t")
	c.routes.threads = map[string]*threadState{"t": s}
	thread := &Thread{client: c, id: "t"}
	one, two := thread.newTurn(&Prompt{}), thread.newTurn(&Prompt{})
	s.waiting = []*Turn{one, two}
	if !thread.withdraw(one) || thread.withdraw(one) {
		t.Error("a prompt is withdrawn never, or twice")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if _, err := one.Wait(ctx); !errors.Is(err, ErrInterrupted) {
		t.Errorf("the wait for it ends with %v, want %v", err, ErrInterrupted)
	}
	if len(s.waiting) != 1 || s.waiting[0] != two || two.err != nil {
		t.Errorf("%d prompts wait, and the other one has the error %v", len(s.waiting), two.err)
	}
	if (&Thread{client: c, id: "gone"}).withdraw(two) {
		t.Error("a prompt of another thread is withdrawn")
	}
}

// TestBegun checks when a prompt is added to a running turn: if the server answers with the turn of
// an earlier prompt. If only notifications of the turn are known, the turn belongs to this prompt.
func TestBegun(t *testing.T) {
	client := &Client{opts: (&Options{}).withDefaults()}
	thread := &Thread{client: client, id: "thread"}
	s := newThreadState("thread")
	seen := newTurnCore("thread", "seen")
	s.turns["seen"] = seen
	for _, tt := range []struct {
		id      string
		err     error
		steered bool
		joins   string
	}{
		{"one", nil, false, "one"}, {"one", nil, true, "one"}, {"one", nil, true, "one"}, {"seen", nil, false, "seen"}, {"seen", nil, true, "seen"}, {"two", nil, false, "two"},
		{"three", errors.New("refused"), false, ""}, {"", nil, false, ""}, {"three", nil, false, "three"},
	} {
		turn := thread.newTurn(nil)
		s.sending = true
		s.begun(turn, tt.id, tt.err)
		if s.sending || turn.ID() != tt.joins {
			t.Errorf("after %q, %v the thread is sending: %v, and the prompt has the turn %q, want %q", tt.id, tt.err, s.sending, turn.ID(), tt.joins)
		}
		if tt.joins == "" {
			continue
		}
		turn.core.finish(nil)
		if r, err := turn.Wait(t.Context()); r == nil || r.Steered != tt.steered {
			t.Errorf("the prompt that %q answers has the result %+v, %v, want it added to a running turn: %v", tt.id, r, err, tt.steered)
		}
	}
}

// TestRoutes_link checks that a thread becomes a subagent only once, that a link with an item
// replaces a link without one, and that a thread of the caller never becomes a subagent.
func TestRoutes_link(t *testing.T) {
	bare, full := &Origin{ThreadID: "p"}, &Origin{ThreadID: "p", ItemID: "i"}
	for name, tt := range map[string]struct {
		before *threadState
		from   *Origin
		want   *Origin
	}{
		"a new thread":                   {nil, full, full},
		"a new thread without an item":   {nil, bare, bare},
		"a link without an item":         {&threadState{id: "s", origin: bare, turns: map[string]*turnCore{}}, full, full},
		"a link with an item":            {&threadState{id: "s", origin: full, turns: map[string]*turnCore{}}, &Origin{ThreadID: "p", ItemID: "other"}, full},
		"a thread that the caller began": {newThreadState("s"), full, nil},
	} {
		r := &routes{threads: map[string]*threadState{}, held: map[string][]item.Notification{}, asks: map[item.JSON]*ask{}}
		if tt.before != nil {
			r.threads["s"] = tt.before
		}
		r.link("s", tt.from)
		if got := r.threads["s"].origin; got != tt.want {
			t.Errorf("%s: the origin is %+v, want %+v", name, got, tt.want)
		}
	}
}
