package claude

import (
	"errors"
	"strconv"
	"testing"

	"github.com/seed7221b0f9/parley/claude/message"
)

// routed returns a router with waiting turns, by their ids.
func routed(t *testing.T, ids ...string) (*router, map[string]*Turn) {
	t.Helper()
	r, turns := newRouter(), map[string]*Turn{}
	for _, id := range ids {
		turns[id] = newTurn(&Client{r: r}, id, nil)
		if err := r.open(turns[id]); err != nil {
			t.Fatal(err)
		}
	}
	return r, turns
}

// route delivers lines like the reader.
func route(r *router, lines ...string) {
	for _, line := range lines {
		r.deliver(decodedEntry(line, message.DecodeLine(line)))
	}
}

// count returns the number of queued entries.
func (m *lineQueue) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.queue)
}

const (
	startedA   = `{"type":"command_lifecycle","command_uuid":"a","state":"started"}`
	initA      = `{"type":"system","subtype":"init","user_message_uuids":["a"]}`
	answerLine = `{"type":"assistant","message":{"id":"m","role":"assistant","content":[]}}`
)

func resultOf(rest string) string {
	return `{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"x"` + rest + `}`
}

// A result that names unknown prompts, or that a background task has caused, ends no turn.
func TestRouterResultOfAnotherPrompt(t *testing.T) {
	for name, tt := range map[string]struct {
		rest string
		ends bool
	}{
		"its own":           {`,"user_message_uuid":"a"`, true},
		"its own in a list": {`,"user_message_uuids":["z","a"]`, true},
		"names nobody":      {``, true},
		"another's":         {`,"user_message_uuid":"z"`, false},
		"others' in a list": {`,"user_message_uuids":["y","z"]`, false},
		"of a task":         {`,"origin":{"kind":"task-notification"}`, false},
	} {
		r, turns := routed(t, "a")
		route(r, startedA, initA)
		before := turns["a"].box.count()
		route(r, resultOf(tt.rest))
		if a := turns["a"]; a.over() != tt.ends || (a.result != nil) != tt.ends || (a.box.count() > before) != tt.ends {
			t.Errorf("%s: over %v, result %v, %d entries more", name, a.over(), a.result, a.box.count()-before)
		}
	}
}

// A turn that the CLI begins by itself, with a first message that names no prompt, does not belong to the
// router's turns, even after a prompt was taken.
func TestRouterInitOfAnotherTurn(t *testing.T) {
	for name, tt := range map[string]struct {
		line string
		ours bool
	}{
		"names ours":   {initA, true},
		"names nobody": {`{"type":"system","subtype":"init","uuid":"i2","session_id":"s"}`, false},
	} {
		r, turns := routed(t, "a")
		route(r, startedA)
		before := turns["a"].box.count()
		route(r, tt.line)
		if got := turns["a"].box.count() > before; got != tt.ours {
			t.Errorf("%s: it belongs to the turn: %v", name, got)
		}
	}
}

// No more messages of an abandoned turn are kept, and it keeps its place until the CLI has finished it: its
// later messages do not belong to another turn.
func TestRouterMessagesAfterAbandonedTurn(t *testing.T) {
	r, turns := routed(t, "a", "b")
	var given []*Turn
	r.onStall = func(t *Turn) { given = append(given, t) }
	route(r, startedA, initA)
	stalled := &StalledError{Phase: "silence"}
	r.stalled(stalled)
	r.stalled(stalled) // it is abandoned once
	a, b := turns["a"], turns["b"]
	if len(given) != 1 || given[0] != a || !a.over() || a.finished() || b.over() {
		t.Fatalf("given up: %v", given)
	}
	before := a.box.count()
	route(r, answerLine, answerLine)
	if n := a.box.count(); n != before || b.box.count() != 0 {
		t.Errorf("%d late entries of a, %d of b", n-before, b.box.count())
	}
	route(r, resultOf(`,"user_message_uuid":"a"`))
	if !a.finished() || a.result != nil || !errors.Is(a.err, stalled) || a.box.count() != before || b.over() {
		t.Errorf("gone %v, %v, %v", a.finished(), a.result, a.err)
	}
}

// The state of a turn is the one that the CLI reports after the result: an aborted turn is cancelled, during
// an answer or a tool.
func TestRouterStateOfAbortedTurn(t *testing.T) {
	for reason, want := range map[message.TerminalReason]message.CommandState{
		message.TerminalAbortedStreaming: message.CommandCancelled,
		message.TerminalAbortedTools:     message.CommandCancelled,
		"completed":                      message.CommandCompleted,
		"":                               message.CommandCompleted,
		"reason_of_2031":                 message.CommandCompleted,
	} {
		r, turns := routed(t, "a")
		route(r, startedA, initA, resultOf(`,"user_message_uuid":"a","terminal_reason":"`+string(reason)+`"`))
		if a := turns["a"]; a.State() != want || !a.finished() {
			t.Errorf("%q: %s; want a.State() == want and a.gone()", reason, a.State())
		}
	}
}

// A turn that ends twice, by an interrupt's receipt and by the CLI's report, keeps its first outcome.
func TestRouterDoubleCancel(t *testing.T) {
	r, turns := routed(t, "a", "b")
	told := 0
	r.changed = func() { told++ }
	route(r, startedA, initA)
	r.cancelled([]string{"a", "b"}) // a has begun, and ends with its result
	if told != 1 {
		t.Errorf("told %d times that b was cancelled", told)
	}
	r.cancelled([]string{"b"})
	route(r, `{"type":"command_lifecycle","command_uuid":"b","state":"cancelled"}`)
	told = 0
	r.drop(turns["b"], errEnded)
	if a, b := turns["a"], turns["b"]; a.over() || !errors.Is(b.err, ErrCancelled) || !b.finished() || b.State() != message.CommandCancelled {
		t.Errorf("a is over: %v; b: %v, %s", a.over(), b.err, b.State())
	}
	if told != 1 || r.unfinished() != 1 {
		t.Errorf("told %d times of a turn that was dropped, %d unfinished", told, r.unfinished())
	}
}

// The ids of past turns are limited: the oldest are dropped first.
func TestPastIsBounded(t *testing.T) {
	var p pastIDs
	for i := range keptPast + 10 {
		p.add(strconv.Itoa(i))
	}
	p.add("12") // already in the list
	if len(p.ids) != keptPast || len(p.order) != keptPast || p.ids["9"] || !p.ids["10"] || !p.ids[strconv.Itoa(keptPast+9)] {
		t.Errorf("%d ids, %d in order, the first is %s", len(p.ids), len(p.order), p.order[0])
	}
}

// The hooks of finished calls are limited too. A call with an unanswered hook is kept, regardless
// of their number.
func TestPermissionHooksAreBounded(t *testing.T) {
	var h permissionHooks
	for i := range maxPermissionCalls + 10 {
		h.update(strconv.Itoa(i), func(c *permissionCall) {
			if c.begun++; i != 3 {
				c.ended++
			}
		})
	}
	if len(h.calls) != maxPermissionCalls || len(h.order) != maxPermissionCalls || h.calls["3"] == nil || h.calls["10"] != nil || h.calls["11"] == nil {
		t.Errorf("%d calls, %d in order", len(h.calls), len(h.order))
	}
	h.forget("3") // its hook has not answered
	h.forget("11")
	if h.calls["3"] == nil || h.calls["11"] != nil || len(h.order) != maxPermissionCalls-1 {
		t.Errorf("%d calls are left, %d in order", len(h.calls), len(h.order))
	}
}
