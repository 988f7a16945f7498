package codexevent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/codex/codexevent"
	"github.com/seed7221b0f9/parley/codex/item"
)

// TestConverter_firstThread checks that a converter without a thread follows the first started
// thread that is not a subagent. Lines without a thread belong to the followed one.
func TestConverter_firstThread(t *testing.T) {
	started := func(id, parent string) string {
		return `{"method":"thread/started","params":{"threadId":"` + id + `","thread":{"id":"` + id + `","parentThreadId":"` + parent + `"}}}`
	}
	warning := `{"method":"configWarning","params":{"summary":"odd"}}`
	for name, tt := range map[string]struct {
		lines []string
		want  string
	}{
		"the first": {[]string{started("a", ""), started("b", "")}, "a"}, "not a subagent": {[]string{started("c", "a"), started("b", "")}, "b"}, "none": {[]string{warning}, ""},
	} {
		c := &codexevent.Converter{}
		for _, ev := range feed(t, c, append(tt.lines, warning)...) {
			if _, ok := ev.(*event.Notice); ok && ev.Head().SessionID != tt.want {
				t.Errorf("%s: a line of no thread belongs to %q, want %q", name, ev.Head().SessionID, tt.want)
			}
		}
		if c.ThreadID != tt.want {
			t.Errorf("%s: the thread is %q, want %q", name, c.ThreadID, tt.want)
		}
	}
}

// TestConverter_held checks that lines of threads that may be subagents are held, up to a limit of
// threads and of lines per thread.
func TestConverter_held(t *testing.T) {
	const threads, lines = 1000, 10_000
	delta := func(thread string, n int) string {
		return fmt.Sprintf(`{"method":"warning","params":{"threadId":%q,"turnId":"c","message":"w%d"}}`, thread, n)
	}
	link := func(thread string) string {
		return `{"method":"item/completed","params":{"threadId":"t","turnId":"u","item":{"type":"collabAgentToolCall","id":"call-` + thread + `","tool":"spawnAgent","status":"completed","senderThreadId":"t","receiverThreadIds":["` + thread + `"]}}}`
	}
	notices := func(events []event.Event) (n int) {
		for _, ev := range events {
			if _, ok := ev.(*event.Notice); ok {
				n++
			}
		}
		return n
	}
	c := &codexevent.Converter{ThreadID: "t"}
	for i := range threads + 1 {
		feed(t, c, delta(fmt.Sprint("child", i), 0))
	}
	for i := range lines {
		feed(t, c, delta("child0", i+1))
	}
	for thread, want := range map[string]int{"child0": lines, fmt.Sprint("child", threads-1): 1, fmt.Sprint("child", threads): 0} {
		if got := notices(feed(t, c, link(thread))); got != want {
			t.Errorf("%d lines of %s were held, want %d", got, thread, want)
		}
	}
}

// TestConverter_failures checks that the error of a failed turn is that of its end, or else the
// last one without a retry. A retry reports the attempt and the status, and voids the streamed
// text.
func TestConverter_failures(t *testing.T) {
	notice := func(message string, retry bool) string {
		return fmt.Sprintf(`{"method":"error","params":{"threadId":"t","turnId":"u","willRetry":%v,"error":{"message":%q,"codexErrorInfo":{"responseStreamDisconnected":{"httpStatusCode":503}}}}}`, retry, message)
	}
	begin := []string{`{"method":"turn/started","params":{"threadId":"t","turn":{"id":"u","status":"inProgress"}}}`,
		`{"method":"item/started","params":{"threadId":"t","turnId":"u","item":{"type":"agentMessage","id":"m","text":""}}}`, `{"method":"item/agentMessage/delta","params":{"threadId":"t","turnId":"u","itemId":"m","delta":"half"}}`}
	failed := func(failure string) string {
		return `{"method":"turn/completed","params":{"threadId":"t","turn":{"id":"u","status":"failed","error":` + failure + `}}}`
	}
	for name, tt := range map[string]struct {
		lines []string
		want  string
	}{
		"its own":       {[]string{notice("first", false), failed(`{"message":"last"}`)}, "last"},
		"the notice's":  {[]string{notice("first", false), failed(`null`)}, "first"},
		"after a retry": {[]string{notice("again 2/5", true), failed(`null`)}, ""},
	} {
		var r *event.ResultMessage
		for _, ev := range feed(t, &codexevent.Converter{ThreadID: "t"}, append(slices.Clone(begin), tt.lines...)...) {
			switch ev := ev.(type) {
			case *event.ResultMessage:
				r = ev
			case *event.Retry:
				if ev.Attempt != 2 || ev.MaxAttempts == nil || *ev.MaxAttempts != 5 || ev.Status == nil || *ev.Status != 503 {
					t.Errorf("%s: the retry is %+v, want attempt 2 of 5 after status 503", name, ev)
				}
			}
		}
		if r == nil || !r.IsError || !strings.Contains(strings.Join(r.Errors, " "), tt.want) {
			t.Errorf("%s: the turn ends with %+v, want the error %q", name, r, tt.want)
		}
	}
}

// TestConverter_cut checks that an item that the client has cut off ends with the streamed content,
// and that cutting an item that is not open has no effect.
func TestConverter_cut(t *testing.T) {
	c := &codexevent.Converter{ThreadID: "t"}
	feed(t, c, `{"method":"turn/started","params":{"threadId":"t","turn":{"id":"u","status":"inProgress"}}}`,
		`{"method":"item/started","params":{"threadId":"t","turnId":"u","item":{"type":"agentMessage","id":"m","text":""}}}`, `{"method":"item/agentMessage/delta","params":{"threadId":"t","turnId":"u","itemId":"m","delta":"half"}}`)
	cut := func(i item.Item) []event.Event {
		return c.Server(&item.ItemCut{Note: item.Note{ThreadID: "t", TurnID: "u"}, Item: i, Reason: item.CutEnd})
	}
	for _, i := range []item.Item{nil, &item.AgentMessage{ItemHead: item.ItemHead{ID: "other"}}} {
		if got := cut(i); len(got) > 0 {
			t.Errorf("the end of %v makes %d events, want none", i, len(got))
		}
	}
	ended := false
	for _, ev := range cut(&item.AgentMessage{ItemHead: item.ItemHead{ID: "m"}, Text: "half"}) {
		if stop, ok := ev.(*event.BlockStop); ok {
			ended = stop.Incomplete
		}
	}
	if !ended {
		t.Error("the message that was cut off has no incomplete end")
	}
}
