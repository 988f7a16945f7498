package session

import (
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
)

// maxJoined is how many bytes of deltas are held at most.
const maxJoined = 64 << 10

// joiner holds a delta for [Options.JoinInterval] until others of its block have come, so that a session
// costs its viewers at most one message in that time, however small the pieces are in which its agent
// speaks. The interval begins with the delta that waits: at 50 deltas a second two of them are one message, and
// neither waits for longer than 25 ms. The first delta after a silence does not wait. The zero value holds nothing.
type joiner struct {
	event event.Event // the first of them; nil while nothing is held
	since time.Time   // when it came
	text  strings.Builder
	shown time.Time // when a delta was last let through
}

// add takes a delta in; false if it is not one that can wait with what is held.
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

// due is when what is held is to be let through.
func (j *joiner) due(interval time.Duration) time.Time { return j.since.Add(interval) }

// take returns what is held as one delta, nil if that is nothing.
func (j *joiner) take(now time.Time) event.Event {
	if j.event == nil {
		return nil
	}
	ev := event.WithText(j.event, j.text.String())
	*j = joiner{shown: now}
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
