package session

import (
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
)

// TestHeld checks which deltas wait for each other, and that no text is lost.
func TestHeld(t *testing.T) {
	const interval = 25 * time.Millisecond
	h := event.Header{MessageID: "m"}
	text := func(s string) event.Event { return &event.TextDelta{Header: h, Text: s} }
	steps := []struct {
		after time.Duration
		event event.Event
		waits bool
		out   string // text emitted before the event, if it does not wait
	}{
		{0, text("a"), false, ""}, // after a silence
		{time.Millisecond, text("b"), true, ""},
		{time.Millisecond, text("c"), true, ""},
		{time.Millisecond, &event.BlockStop{Header: h}, false, "bc"},
		{time.Millisecond, &event.TextDelta{Header: h, Index: 1, Text: "d"}, true, ""},
		{time.Millisecond, text("e"), false, "d"}, // of another block
		{time.Millisecond, &event.ThinkingDelta{Header: h, Thinking: "f"}, true, ""},
		{time.Millisecond, &event.ThinkingDelta{Header: event.Header{MessageID: "n"}, Thinking: "g"}, false, "f"},
		{time.Millisecond, &event.ToolInputDelta{Header: h, ToolUseID: "t", PartialJSON: "h"}, true, ""},
		{time.Millisecond, &event.ToolInputDelta{Header: h, ToolUseID: "t", PartialJSON: "i"}, true, ""},
		{time.Millisecond, &event.ToolInputDelta{Header: h, ToolUseID: "u", PartialJSON: "j"}, false, "hi"},
		{time.Second, text("k"), false, ""},
		{0, text(strings.Repeat("l", maxJoined)), true, ""},
		{0, text("m"), false, strings.Repeat("l", maxJoined)},
		{0, text(strings.Repeat("n", maxJoined+1)), false, ""},
		{0, &event.TextStart{Header: h, Index: 2}, false, ""},
	}
	var held joiner
	var since time.Time // arrival of the first waiting one
	now := time.Unix(1, 0)
	for i, s := range steps {
		now = now.Add(s.after)
		if waits := held.add(s.event, now, interval); waits != s.waits {
			t.Fatalf("step %d: it waits: %v, want %v", i, waits, s.waits)
		}
		if s.waits {
			if since.IsZero() {
				since = now
			}
			if due := held.due(interval); !due.Equal(since.Add(interval)) {
				t.Errorf("step %d: it waits until %v, want %v", i, due, since.Add(interval))
			}
			continue
		}
		since = time.Time{}
		out := ""
		if ev := held.take(now); ev != nil {
			out, _ = deltaText(ev)
		}
		if out != s.out {
			t.Errorf("step %d: %.20q is let through, want %.20q", i, out, s.out)
		}
	}
}
