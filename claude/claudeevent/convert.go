package claudeevent

import (
	"iter"
	"strconv"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/message"
)

// Provider is the default provider in the events of a [Converter].
const Provider = "claude"

// Converter converts messages and prompts to events, in order. The zero value is ready to
// use. It is not safe for concurrent use.
//
// It guarantees two properties. Each start has a stop: if the wire has none, because the
// stream was cut off, Converter adds one at the end of the turn or of the stream, marked
// incomplete. And each whole message has the indexes of its blocks, so that it confirms
// streamed blocks instead of repeating them.
type Converter struct {
	// Provider is the provider in the events. The default is claude. Set it before the
	// first call.
	Provider string

	threads map[string]*liveThread   // by parent tool use
	pending map[string]pendingPrompt // by request id
	unnamed int                      // counts messages without an id
	turn    liveTurn
	session liveSession
	tools   map[string]liveTool // calls that may emit further events with their result, by tool use
	tasks   taskList
	out     []event.Event
	steps   int64 // counts steps that can grow with the session, for tests
}

// Events returns the events of a stream of messages that begins with the given prompts.
// An error of the stream becomes an *[event.Error], the last event. The events can be
// ranged over once.
func Events(messages iter.Seq2[message.Message, error], prompts ...message.UserInput) iter.Seq[event.Event] {
	return func(yield func(event.Event) bool) {
		var c Converter
		give := func(events []event.Event) bool {
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

// Add returns the events of a message. The slice is valid until the next method call; the
// events stay valid.
func (c *Converter) Add(m message.Message) []event.Event {
	c.out = c.out[:0]
	switch m := m.(type) {
	case *message.StreamEvent:
		c.stream(m)
	case *message.Assistant:
		c.beginTurn(m.ParentToolUseID, m.SessionID, m.UUID)
		c.assistant(m)
	case *message.User:
		c.user(m)
	case *message.Result:
		c.result(m)
	case nil:
	default:
		c.other(m)
	}
	return c.out
}

// Prompt returns the events of a prompt that the caller sends. The CLI's output has no
// prompts unless it replays them; the uuid then identifies the replay. The slice is valid
// until the next method call.
func (c *Converter) Prompt(in message.UserInput) []event.Event {
	c.out = c.out[:0]
	if in.Raw != nil {
		c.rawPrompt(in)
		return c.out
	}
	ev := &event.UserMessage{Header: event.Header{ParentToolUseID: in.ParentToolUseID, SessionID: in.SessionID, UUID: in.UUID}, IsPrompt: true}
	for _, b := range in.Content {
		ev.Blocks = append(ev.Blocks, contentOf(b))
	}
	if !in.NoQuery {
		c.turn.queue(in.UUID)
	}
	c.emit(ev)
	return c.out
}

// rawPrompt converts a prompt given as a raw line.
func (c *Converter) rawPrompt(in message.UserInput) {
	m, err := message.Decode(in.Raw)
	u, ok := m.(*message.User)
	if err != nil || !ok {
		return
	}
	if u.UUID == "" && in.UUID != "" {
		u = message.Clone(u)
		u.UUID = in.UUID
	}
	if u.ShouldQuery == nil || *u.ShouldQuery {
		c.turn.queue(u.UUID)
	}
	c.user(u)
	for _, ev := range c.out {
		if u, ok := ev.(*event.UserMessage); ok {
			u.IsPrompt = true
		}
	}
}

// Emit returns an event that does not come from a message, such as a permission request
// or a change of the queue, so that all events of a session have one source. An event
// without a provider gets the converter's. The slice is valid until the next method call.
func (c *Converter) Emit(ev event.Event) []event.Event {
	c.out = c.out[:0]
	if provider := ev.Head().Provider; provider != "" {
		c.out = append(c.out, ev)
	} else {
		c.emit(ev)
	}
	return c.out
}

// End returns the events that end the stream: the missing stops, and an *[event.Error] if
// err is not nil. The slice is valid until the next method call.
func (c *Converter) End(err error) []event.Event {
	c.out = c.out[:0]
	for _, parent := range c.parents() {
		c.cut(parent)
	}
	if err != nil {
		c.emit(&event.Error{Message: err.Error()})
	}
	return c.out
}

func (c *Converter) emit(ev event.Event) {
	h := ev.Head()
	if h.Provider = c.Provider; c.Provider == "" {
		h.Provider = Provider
	}
	c.out = append(c.out, ev)
}

// named returns the first nonempty id, or a generated one that no API uses.
func (c *Converter) named(ids ...string) string {
	for _, id := range ids {
		if id != "" {
			return id
		}
	}
	c.unnamed++
	return "unnamed-" + strconv.Itoa(c.unnamed)
}
