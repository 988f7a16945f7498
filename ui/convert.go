package ui

import (
	"iter"
	"strconv"

	"github.com/seed7221b0f9/parley/claude"
)

// Converter makes events from messages and prompts, in their order. The zero value
// is ready. It is for one goroutine.
//
// It keeps what it needs to keep two promises. Each start has its stop: where the
// wire has none, because the stream was cut, it is made at the end of the turn or of
// the stream and marked incomplete. And each whole message names the indexes of its
// blocks, so that a block that was streamed before is confirmed and not repeated.
type Converter struct {
	threads map[string]*liveThread   // by parent tool use
	pending map[string]pendingPrompt // by request id
	unnamed int                      // counts messages without an id
	out     []Event
}

// Events are the events of a stream of messages, which begins with the given
// prompts. An error of the stream becomes an *[Error], the last event. Like the
// messages, the events can be ranged over once.
func Events(messages iter.Seq2[claude.Message, error], prompts ...claude.UserInput) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		var c Converter
		give := func(events []Event) bool {
			for _, ev := range events {
				if !yield(ev) {
					return false
				}
			}
			return true
		}
		for _, p := range prompts {
			if !give(c.Prompt(p)) {
				return
			}
		}
		var failed error
		for m, err := range messages {
			if err != nil {
				failed = err
				break
			}
			if !give(c.Add(m)) {
				return
			}
		}
		give(c.End(failed))
	}
}

// Add returns the events of a message. The slice is good until the next call of a
// method; the events are good for ever.
func (c *Converter) Add(m claude.Message) []Event {
	c.out = c.out[:0]
	switch m := m.(type) {
	case *claude.StreamEventMessage:
		c.stream(m)
	case *claude.AssistantMessage:
		c.assistant(m)
	case *claude.UserMessage:
		c.user(m)
	case *claude.ResultMessage:
		c.result(m)
	case nil:
	default:
		c.other(m)
	}
	return c.out
}

// Prompt returns the events of a prompt that the caller sends. Prompts are not on
// the CLI's output; where they are read back, the uuid joins the two. The slice is
// good until the next call of a method.
func (c *Converter) Prompt(in claude.UserInput) []Event {
	c.out = c.out[:0]
	if in.Raw != nil {
		m, err := claude.DecodeMessage(in.Raw)
		if u, ok := m.(*claude.UserMessage); err == nil && ok {
			if u.UUID == "" && in.UUID != "" {
				u = claude.Clone(u)
				u.UUID = in.UUID
			}
			c.user(u)
			for _, ev := range c.out {
				if u, ok := ev.(*UserMessage); ok {
					u.IsPrompt = true
				}
			}
		}
		return c.out
	}
	ev := &UserMessage{Header: Header{ParentToolUseID: in.ParentToolUseID, SessionID: in.SessionID, UUID: in.UUID}, IsPrompt: true}
	for _, b := range in.Content {
		ev.Blocks = append(ev.Blocks, contentOf(b))
	}
	c.emit(ev)
	return c.out
}

// Emit passes on an event that is not made from a message: a permission request, a
// change of the queue. It is here so that all events of a session come from one
// place. The slice is good until the next call of a method.
func (c *Converter) Emit(ev Event) []Event {
	c.out = append(c.out[:0], ev)
	return c.out
}

// End returns the events that end the stream: the stops that are missing, and an
// *[Error] if it ended with one. The slice is good until the next call of a method.
func (c *Converter) End(err error) []Event {
	c.out = c.out[:0]
	for _, parent := range c.parents() {
		c.cut(parent)
	}
	if err != nil {
		c.emit(&Error{Message: err.Error()})
	}
	return c.out
}

func (c *Converter) emit(ev Event) { c.out = append(c.out, ev) }

// named is the first id that is not empty, or one that no API gives.
func (c *Converter) named(ids ...string) string {
	for _, id := range ids {
		if id != "" {
			return id
		}
	}
	c.unnamed++
	return "unnamed-" + strconv.Itoa(c.unnamed)
}
