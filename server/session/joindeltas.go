package session

import (
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
)

// maxHeld is how many bytes of deltas are held at most.
const maxHeld = 64 << 10

// held is a delta that waits for others of its block, so that a session costs its viewers one
// message each [Options.JoinInterval], however small the pieces are in which its agent
// speaks. The first delta after a silence does not wait. The zero value holds nothing.
type held struct {
	event event.Event // the first of them; nil while nothing is held
	text  strings.Builder
	shown time.Time // when a delta was last let through
}

// add takes a delta in; false if it is not one that can wait with what is held.
func (h *held) add(ev event.Event, now time.Time, interval time.Duration) bool {
	text, ok := deltaText(ev)
	switch {
	case !ok || h.event != nil && (!event.SameBlock(h.event, ev) || h.text.Len()+len(text) > maxHeld):
		return false
	case h.event == nil && (len(text) > maxHeld || now.Sub(h.shown) >= interval):
		h.shown = now
		return false
	case h.event == nil:
		h.event = ev
	}
	h.text.WriteString(text)
	return true
}

// take returns what is held as one delta, nil if that is nothing.
func (h *held) take(now time.Time) event.Event {
	if h.event == nil {
		return nil
	}
	ev := event.WithText(h.event, h.text.String())
	*h = held{shown: now}
	return ev
}

// deltaText is the text that a delta adds; false if it is not a delta of text.
func deltaText(ev event.Event) (string, bool) {
	switch ev := ev.(type) {
	case *event.TextDelta:
		return ev.Text, true
	case *event.ThinkingDelta:
		return ev.Thinking, true
	case *event.ToolInputDelta:
		return ev.PartialJSON, true
	}
	return "", false
}
