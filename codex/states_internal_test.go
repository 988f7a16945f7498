package codex

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/seed7221b0f9/parley/codex/item"
)

// TestMailbox_states checks what a mailbox keeps before, with and after its reader.
func TestMailbox_states(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		note := func(text string) item.Notification { return &item.Warning{Message: text} }
		gone, later := errors.New("gone"), errors.New("later")
		read := func(m *mailbox) string {
			var all []string
			m.each(t.Context(), func(n item.Notification, err error) bool {
				if err != nil {
					all = append(all, err.Error())
				} else {
					all = append(all, n.(*item.Warning).Message)
				}
				return true
			})
			return strings.Join(all, " ")
		}
		for name, tt := range map[string]struct {
			max  int
			do   func(m *mailbox)
			want string
		}{
			"one that is larger than the box": {1, func(m *mailbox) { m.attach(); m.push(note("a"), nil) }, "a gone"},
			"too many without a reader":       {300, func(m *mailbox) { m.push(note("a"), nil); m.push(note("b"), nil) }, ErrOverflow.Error()},
			"the reader is slow to attach":    {1 << 20, func(m *mailbox) { m.push(note("a"), nil); m.attach(); m.push(note("b"), nil) }, "a b gone"},
			"given up with a reader":          {1 << 20, func(m *mailbox) { m.attach(); m.push(note("a"), nil); m.abandon(); m.push(note("b"), nil) }, "a b gone"},
			"given up without one":            {1 << 20, func(m *mailbox) { m.push(note("a"), nil); m.abandon(); m.push(note("b"), nil) }, "gone"},
			"after the end":                   {1 << 20, func(m *mailbox) { m.end(later); m.push(note("a"), nil) }, "later"},
			"room again": {600, func(m *mailbox) {
				m.attach()
				m.push(note("a"), nil)
				_, _, _ = m.next(t.Context())
				m.push(note("b"), nil)
				m.push(note("c"), nil)
			}, "b c gone"},
		} {
			m := newMailbox(tt.max)
			tt.do(m)
			m.end(gone)
			if got := read(m); got != tt.want {
				t.Errorf("%s: the reader gets %q, want %q", name, got, tt.want)
			}
			if m.state.bytes != 0 || len(m.state.list) > 0 {
				t.Errorf("%s: %d bytes of %d notifications are left", name, m.state.bytes, len(m.state.list))
			}
		}
		m := newMailbox(1)
		m.abandon()
		if m.attach() {
			t.Error("an abandoned box has got a reader")
		}
		m = newMailbox(1)
		if !m.attach() || m.attach() {
			t.Error("a box has got no reader, or two")
		}
	})
}

// testRoutes returns routes with the thread t and its running turn u, whose reader is the box.
func testRoutes() (r *routes, s *threadState, box *mailbox) {
	r = &routes{threads: map[string]*threadState{}, held: map[string][]item.Notification{}, asks: map[item.JSON]*ask{}}
	s, box = newThreadState("t"), newMailbox(1<<20)
	r.threads["t"] = s
	core := newTurnCore("t", "u")
	core.own, core.boxes = true, []*mailbox{box}
	s.turns["u"], s.active = core, core
	return r, s, box
}

func note(thread, turn string) item.Note { return item.Note{ThreadID: thread, TurnID: turn} }

func spawned(thread, turn, tool string, ids ...string) item.Notification {
	return &item.ItemCompleted{Note: note(thread, turn), Item: &item.CollabAgentToolCall{ItemHead: item.ItemHead{ID: "call"}, Tool: tool, ReceiverThreadIDs: ids}}
}

func says(thread, turn, text string) item.Notification {
	return &item.AgentMessageDelta{Note: note(thread, turn), ItemID: "m", Delta: text}
}

// reaches returns the texts that a box gets of notifications.
func reaches(r *routes, box *mailbox, list ...item.Notification) string {
	var all []string
	for _, n := range list {
		for _, d := range r.toThread(item.ThreadOf(n), n) {
			if delta, ok := d.n.(*item.AgentMessageDelta); ok && d.box == box {
				all = append(all, delta.Delta)
			}
		}
	}
	return strings.Join(all, " ")
}

// TestRoutes_subagents checks which notifications of subagents reach the turn that started them.
func TestRoutes_subagents(t *testing.T) {
	started := &item.ThreadStarted{Thread: item.Thread{ID: "a", ParentThreadID: "t"}}
	for name, tt := range map[string]struct {
		list []item.Notification
		want string
	}{
		"a started one":           {[]item.Notification{spawned("t", "u", "spawnAgent", "a"), says("a", "x", "1")}, "1"},
		"a resumed one":           {[]item.Notification{spawned("t", "u", "resumeAgent", "a"), says("a", "x", "1")}, "1"},
		"one that is only waited": {[]item.Notification{spawned("t", "u", "wait", "a"), says("a", "x", "1")}, ""},
		"one of a subagent":       {[]item.Notification{spawned("t", "u", "spawnAgent", "a"), spawned("a", "x", "spawnAgent", "b"), says("b", "y", "1")}, "1"},
		"one that names itself":   {[]item.Notification{started, spawned("a", "x", "spawnAgent", "a"), spawned("t", "u", "spawnAgent", "a"), says("a", "x", "1")}, "1"},
		"linked twice":            {[]item.Notification{says("a", "x", "1"), spawned("t", "u", "spawnAgent", "a"), spawned("t", "u", "spawnAgent", "a"), says("a", "x", "2")}, "1 2"},
		"of an ended turn":        {[]item.Notification{spawned("t", "u", "spawnAgent", "a"), &item.TurnCompleted{Note: note("t", "u"), Turn: item.Turn{ID: "u", Status: item.StatusCompleted}}, says("a", "x", "1")}, ""},
	} {
		r, _, box := testRoutes()
		if got := reaches(r, box, tt.list...); got != tt.want {
			t.Errorf("%s: the turn gets %q, want %q", name, got, tt.want)
		}
	}
	// Linked without an item and then with one: the held notifications are delivered once.
	r, s, _ := testRoutes()
	r.toThread("a", says("a", "x", "1"))
	r.link("a", &Origin{ThreadID: "t"})
	if again := r.link("a", &Origin{ThreadID: "t", TurnID: "u", ItemID: "call"}); len(s.backlog) != 1 || len(again) > 0 {
		t.Errorf("the thread gets %d notifications, and then %d; want the held one once", len(s.backlog), len(again))
	}
	// A subagent that the caller opens is a thread of the caller.
	thread := &Thread{}
	thread.info.Thread.ID = "a"
	r.adopt(thread)
	if o := r.threads["a"].origin; o != nil {
		t.Errorf("an opened thread has the origin %+v, want none", o)
	}
}

// TestRoutes_limits checks how many notifications are kept for a thread that is not known and for one without a reader.
func TestRoutes_limits(t *testing.T) {
	r, s, _ := testRoutes()
	for i := range maxOrphans + 1 {
		r.toThread(fmt.Sprint("x", i), says(fmt.Sprint("x", i), "", "1"))
	}
	for range maxHeld + 5 {
		r.toThread("x0", says("x0", "", "1"))
	}
	if len(r.held) != maxOrphans || len(r.held["x0"]) != maxHeld || len(r.held["x1"]) != 1 {
		t.Errorf("%d threads are held, %d and %d notifications; want %d, %d and 1", len(r.held), len(r.held["x0"]), len(r.held["x1"]), maxOrphans, maxHeld)
	}
	for i := range maxBacklog + 3 {
		r.toThread("t", says("t", "", fmt.Sprint(i)))
	}
	if len(s.backlog) != maxBacklog || s.lost != 3 || s.backlog[0].(*item.AgentMessageDelta).Delta != "3" {
		t.Errorf("%d are kept from %v on and %d lost, want %d from 3 on and 3", len(s.backlog), s.backlog[0], s.lost, maxBacklog)
	}
}

// TestRoutes_turns checks which turn of a thread runs after the start and the end of turns.
func TestRoutes_turns(t *testing.T) {
	begin := func(id string) item.Notification {
		return &item.TurnStarted{Note: note("t", ""), Turn: item.Turn{ID: id, Status: item.StatusInProgress}}
	}
	end := func(id string) item.Notification {
		return &item.TurnCompleted{Note: note("t", ""), Turn: item.Turn{ID: id, Status: item.StatusCompleted}}
	}
	for name, tt := range map[string]struct {
		awaited bool
		list    []item.Notification
		active  string
		turns   int
	}{
		"another turn":             {false, []item.Notification{begin("v")}, "v", 2},
		"the end of another turn":  {false, []item.Notification{begin("v"), end("u")}, "v", 1},
		"its end":                  {false, []item.Notification{end("u")}, "", 0},
		"the end of a strange one": {false, []item.Notification{end("x")}, "u", 1},
		"a review":                 {true, []item.Notification{begin("v")}, "u", 1},
		"a turn after a review":    {true, []item.Notification{begin("v"), begin("w")}, "w", 2},
	} {
		r, s, box := testRoutes()
		s.active.awaited = tt.awaited
		for _, n := range tt.list {
			r.toThread("t", n)
		}
		active := ""
		if s.active != nil {
			active = s.active.id
		}
		if active != tt.active || len(s.turns) != tt.turns {
			t.Errorf("%s: the turn %q runs of %d, want %q of %d", name, active, len(s.turns), tt.active, tt.turns)
		}
		_ = box
	}
	// Only a turn of another party keeps its beginning for those that join.
	r, s, _ := testRoutes()
	r.toThread("t", says("t", "u", "1"))
	r.toThread("t", begin("v"))
	r.toThread("t", says("t", "v", "1"))
	if own, other := len(s.turns["u"].early), len(s.turns["v"].early); own != 0 || other != 2 {
		t.Errorf("%d early notifications of an own turn and %d of another, want 0 and 2", own, other)
	}
	thread := &Thread{client: &Client{opts: (&Options{}).withDefaults()}, id: "t"}
	first, second := thread.newTurn(nil), thread.newTurn(nil)
	first.join(s.turns["v"], false)
	second.join(s.turns["v"], false)
	if a, b := len(first.box.state.list), len(second.box.state.list); a != 2 || b != 0 {
		t.Errorf("the first that joins gets %d early notifications and the next %d, want 2 and 0", a, b)
	}
	// The next turn of the server belongs to a compaction.
	r, s, _ = testRoutes()
	turn := thread.newTurn(&Prompt{Compact: true})
	s.expected, s.sending = turn, true
	r.toThread("t", begin("c"))
	if turn.ID() != "c" || s.expected != nil || s.sending || !s.turns["c"].own {
		t.Errorf("the compaction has the turn %q, expected %v, sending %v; want c, and neither", turn.ID(), s.expected, s.sending)
	}
}

// TestRoutes_asks checks that the end of a turn ends the requests of this turn, and the end of the server its prompts.
func TestRoutes_asks(t *testing.T) {
	r, s, box := testRoutes()
	ended := map[string]error{}
	for _, turn := range []string{"u", "v", ""} {
		r.asks[item.JSON(turn)] = &ask{turnID: turn, cancel: func(err error) { ended[turn] = err }}
	}
	c := &Client{}
	c.deliver(r.toThread("t", &item.TurnCompleted{Note: note("t", "u"), Turn: item.Turn{ID: "u", Status: item.StatusCompleted}}))
	if len(ended) != 1 || !errors.Is(ended["u"], errResolved) {
		t.Errorf("the requests of %v end, want only that of u with %v", ended, errResolved)
	}
	thread := &Thread{client: &Client{opts: (&Options{}).withDefaults()}, id: "t"}
	waiting, expected := thread.newTurn(&Prompt{}), thread.newTurn(&Prompt{})
	s.waiting, s.expected = []*Turn{waiting}, expected
	sub := newMailbox(1 << 20)
	sub.attach()
	s.subs = []*mailbox{sub}
	c.deliver(r.toThread("t", &item.ItemStarted{Note: note("t", "w"), Item: &item.AgentMessage{ItemHead: item.ItemHead{ID: "m"}}}))
	gone := errors.New("gone")
	c.deliver(r.end(gone))
	for name, turn := range map[string]*Turn{"a waiting prompt": waiting, "a compaction": expected} {
		select {
		case <-turn.started:
		default:
			t.Errorf("%s still waits", name)
			continue
		}
		if !errors.Is(turn.err, gone) {
			t.Errorf("%s ends with %v, want %v", name, turn.err, gone)
		}
	}
	var got []string
	sub.each(t.Context(), func(n item.Notification, err error) bool {
		if cut, ok := n.(*item.ItemCut); ok {
			got = append(got, "cut of "+cut.ThreadID+" "+cut.TurnID)
		} else if err != nil {
			got = append(got, err.Error())
		}
		return true
	})
	if want := []string{"cut of t w", "gone"}; !slices.Equal(got, want) {
		t.Errorf("the reader gets %q, want %q", got, want)
	}
	_ = box
}

// TestClient_Notifications_left checks that a reader that leaves is forgotten, and that unread notifications are delivered once.
func TestClient_Notifications_left(t *testing.T) {
	c := &Client{opts: (&Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}).withDefaults(), stop: make(chan struct{})}
	r, s, _ := testRoutes()
	c.routes = *r
	thread := &Thread{client: c, id: "t"}
	c.route(says("t", "", "1"))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for i, want := range []int{1, 0} {
		n := 0
		for _, err := range thread.Notifications(ended) {
			if err == nil {
				n++
			}
		}
		if n != want || len(s.subs) > 0 {
			t.Errorf("reader %d gets %d notifications, and %d readers are left; want %d and none", i, n, len(s.subs), want)
		}
	}
	for range c.Notifications(ended) {
		continue
	}
	if len(c.routes.subs) > 0 {
		t.Errorf("%d readers of the client are left, want none", len(c.routes.subs))
	}
	c.deliver(c.routes.end(ErrClosed))
	for name, seq := range map[string]func(func(item.Notification, error) bool){"the client": c.Notifications(t.Context()), "the thread": thread.Notifications(t.Context())} {
		var last error
		for _, err := range seq {
			last = err
		}
		if !errors.Is(last, ErrClosed) {
			t.Errorf("notifications of %s after its end: %v, want %v", name, last, ErrClosed)
		}
	}
}

// TestUnexpect checks that a refused compaction releases the thread only if its turn is the expected one.
func TestUnexpect(t *testing.T) {
	c := &Client{opts: (&Options{}).withDefaults()}
	r, s, _ := testRoutes()
	c.routes = *r
	thread := &Thread{client: c, id: "t"}
	mine, other := thread.newTurn(nil), thread.newTurn(nil)
	s.expected, s.sending = other, true
	if thread.unexpect(mine); s.expected != other || !s.sending {
		t.Error("the compaction of another caller was released")
	}
	if thread.unexpect(other); s.expected != nil || s.sending {
		t.Error("the thread was not released")
	}
}

// TestTracker_ends checks which items the end of a turn, a retry and the end of the server cut off, in the order of their starts.
func TestTracker_ends(t *testing.T) {
	items := []item.Item{
		&item.CommandExecution{ItemHead: item.ItemHead{ID: "command"}}, &item.AgentMessage{ItemHead: item.ItemHead{ID: "text"}}, &item.Reasoning{ItemHead: item.ItemHead{ID: "reasoning"}},
		&item.Plan{ItemHead: item.ItemHead{ID: "plan"}}, &item.MCPToolCall{ItemHead: item.ItemHead{ID: "tool"}},
	}
	completed := func(status string) item.Notification {
		return &item.TurnCompleted{Note: note("t", "u"), Turn: item.Turn{ID: "u", Status: status}}
	}
	for name, tt := range map[string]struct {
		n    item.Notification
		want string
	}{
		"a completed turn":      {completed(item.StatusCompleted), "text reasoning plan tool turn/completed"},
		"an interrupted turn":   {completed(item.StatusInterrupted), "command text reasoning plan tool turn/completed"},
		"a retry":               {&item.ErrorNotice{Note: note("t", "u"), WillRetry: true}, "error text reasoning plan"},
		"an error":              {&item.ErrorNotice{Note: note("t", "u")}, "error"},
		"another turn ends":     {&item.TurnCompleted{Note: note("t", "v"), Turn: item.Turn{ID: "v", Status: item.StatusCompleted}}, "turn/completed"},
		"the end of the server": {nil, "command text reasoning plan tool"},
	} {
		var tr tracker
		for _, i := range items {
			tr.apply(&item.ItemStarted{Note: note("t", "u"), Item: i})
		}
		out := tr.end
		if tt.n != nil {
			out = func() []item.Notification { return tr.apply(tt.n) }
		}
		var got []string
		for _, n := range out() {
			if cut, ok := n.(*item.ItemCut); ok {
				got = append(got, cut.Item.Head().ID)
			} else {
				got = append(got, item.Method(n))
			}
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s: %s, want %s", name, s, tt.want)
		}
	}
	// An item that starts again is a new one.
	var tr tracker
	tr.apply(&item.ItemStarted{Note: note("t", "u"), Item: items[1]})
	tr.apply(&item.AgentMessageDelta{Note: note("t", "u"), ItemID: "text", Delta: "old"})
	tr.apply(&item.ItemStarted{Note: note("t", "u"), Item: items[1]})
	tr.apply(&item.AgentMessageDelta{Note: note("t", "u"), ItemID: "text", Delta: "new"})
	if m := tr.find("u", "text").partial.Item().(*item.AgentMessage); m.Text != "new" {
		t.Errorf("the text of the item is %q, want new", m.Text)
	}
}

// TestResult_err checks the error of a turn by its status, and that a commentary is not the answer.
func TestResult_err(t *testing.T) {
	var r Result
	r.add(&item.ItemCompleted{Item: &item.AgentMessage{Text: "answer"}})
	r.add(&item.ItemCompleted{Item: &item.AgentMessage{Text: "by the way", Phase: item.PhaseCommentary}})
	failure := &item.TurnError{Message: "no", CodexErrorInfo: item.ErrorInfo{Kind: "overloaded"}}
	r.add(&item.TurnCompleted{Turn: item.Turn{Status: item.StatusFailed, Error: failure}})
	e, ok := errors.AsType[*TurnError](r.Err())
	if !ok || e.Message != "no" || e.Info.Kind != "overloaded" || e.Result != &r || r.Text != "answer" {
		t.Errorf("the error is %+v and the text %q; want that of the turn, and the answer", e, r.Text)
	}
	for status, want := range map[string]error{item.StatusCompleted: nil, item.StatusInterrupted: ErrInterrupted} {
		if err := (&Result{Status: status}).Err(); !errors.Is(err, want) {
			t.Errorf("a turn that is %s has the error %v, want %v", status, err, want)
		}
	}
	if (&Result{}).Err() == nil {
		t.Error("a turn without an end has no error")
	}
}
