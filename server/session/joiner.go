package session

import (
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
)

// maxJoined is the maximum number of bytes of held deltas.
const maxJoined = 64 << 10

// joiner holds a delta for [Options.JoinInterval] until others of its block arrive, so that a session costs its
// viewers at most one message per interval, regardless of the size of the agent's pieces. The interval starts with
// the held delta: at 50 deltas a second two of them are one message, and neither waits for longer than 25 ms. The
// first delta after a silence does not wait. The zero value is empty.
type joiner struct {
	event event.Event // the first held delta; nil if empty
	since time.Time   // its arrival
	text  strings.Builder
	shown time.Time // when a delta was last emitted
}

// add holds a delta; it returns false if the delta cannot be joined with the held ones.
func (j *joiner) add(ev event.Event, now time.Time, interval time.Duration) bool {
	text, ok := deltaText(ev)
	switch {
	case !ok || j.event != nil && (!event.SameBlock(j.event, ev) || j.text.Len()+len(text) > maxJoined):
		return false
	case j.event == nil && (len(text) > maxJoined || now.Sub(j.shown) >= interval):
		j.shown = now
		return false
	case j.event == nil:
		j.event, j.since = ev, now
	}
	j.text.WriteString(text)
	return true
}

// due returns the time at which the held delta must be emitted.
func (j *joiner) due(interval time.Duration) time.Time { return j.since.Add(interval) }

// take returns the held deltas as one, or nil.
func (j *joiner) take(now time.Time) event.Event {
	if j.event == nil {
		return nil
	}
	ev := event.WithText(j.event, j.text.String())
	*j = joiner{shown: now}
	return ev
}

// deltaText returns the text that a delta adds; false if it is not a delta of text.
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
