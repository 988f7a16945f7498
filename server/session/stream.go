package session

import (
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/agent/event"
)

// isDelta reports whether an event is a part of a block. Parts are shown at once and replaced by
// their complete message; every other event is durable.
func isDelta(ev event.Event) bool {
	switch ev.(type) {
	case *event.TextStart, *event.ThinkingStart, *event.ToolStart, *event.BlockStart, *event.TextDelta, *event.ThinkingDelta, *event.ToolInputDelta,
		*event.BlockDelta, *event.ToolInputComplete, *event.BlockStop, *event.ToolProgress:
		return true
	}
	return false
}

// messageKey identifies a streamed message.
type messageKey struct{ parent, message string }

// stream holds the streamed text of blocks until their complete message is in the log. It provides
// the beginning of a block to a viewer that attaches in the middle of it, and the kept part of a
// block after the agent's death. It is pure.
type stream struct {
	open     []messageKey // started messages that have not ended
	blocks   []*partial
	progress []*event.ToolProgress // of running tools
}

// partial is an incomplete block.
type partial struct {
	key    messageKey
	index  int64
	start  event.Event
	header event.Header
	tool   string // for a tool's block
	text   strings.Builder
	deltas []event.Event // of other kinds
	stop   *event.BlockStop
}

func keyOf(h *event.Header) messageKey { return messageKey{h.ParentToolUseID, h.MessageID} }

func (s *stream) empty() bool { return len(s.blocks) == 0 && len(s.progress) == 0 }

// add adds a delta.
func (s *stream) add(ev event.Event) {
	h := ev.Head()
	switch ev := ev.(type) {
	case *event.TextStart:
		s.begin(h, ev.Index, ev).text.WriteString(ev.Text)
	case *event.ThinkingStart:
		s.begin(h, ev.Index, ev).text.WriteString(ev.Thinking)
	case *event.ToolStart:
		s.begin(h, ev.Index, ev).tool = ev.ToolUseID
	case *event.BlockStart:
		s.begin(h, ev.Index, ev)
	case *event.TextDelta:
		s.block(h, ev.Index, func() event.Event { return &event.TextStart{Header: *h, Index: ev.Index} }).text.WriteString(ev.Text)
	case *event.ThinkingDelta:
		s.block(h, ev.Index, func() event.Event { return &event.ThinkingStart{Header: *h, Index: ev.Index} }).text.WriteString(ev.Thinking)
	case *event.ToolInputDelta:
		s.block(h, ev.Index, func() event.Event {
			return &event.ToolStart{Header: *h, Index: ev.Index, ToolUseID: ev.ToolUseID, BlockType: "tool_use"}
		}).text.WriteString(ev.PartialJSON)
	case *event.BlockDelta:
		b := s.block(h, ev.Index, func() event.Event { return &event.BlockStart{Header: *h, Index: ev.Index} })
		b.deltas = append(b.deltas, ev)
	case *event.BlockStop:
		if i := s.at(h, ev.Index); i >= 0 {
			s.blocks[i].stop = ev
		}
	case *event.ToolProgress:
		s.addProgress(ev)
	}
}

func (s *stream) at(h *event.Header, index int64) int {
	key := keyOf(h)
	return slices.IndexFunc(s.blocks, func(b *partial) bool { return b.key == key && b.index == index })
}

// begin starts a block again.
func (s *stream) begin(h *event.Header, index int64, start event.Event) *partial {
	b := &partial{key: keyOf(h), index: index, start: start, header: *h}
	if i := s.at(h, index); i >= 0 {
		s.blocks[i] = b
	} else {
		s.blocks = append(s.blocks, b)
	}
	return b
}

// block returns a block, and starts it if its start was missed.
func (s *stream) block(h *event.Header, index int64, start func() event.Event) *partial {
	if i := s.at(h, index); i >= 0 {
		return s.blocks[i]
	}
	return s.begin(h, index, start())
}

func (s *stream) addProgress(ev *event.ToolProgress) {
	i := slices.IndexFunc(s.progress, func(p *event.ToolProgress) bool { return p.ToolUseID == ev.ToolUseID })
	if i < 0 {
		s.progress = append(s.progress, ev)
		return
	}
	merged := *ev
	merged.Output = s.progress[i].Output + ev.Output
	if merged.TaskID == "" {
		merged.TaskID = s.progress[i].TaskID
	}
	s.progress[i] = &merged
}

// durable handles a durable event and returns the events to write before it, so that the log alone
// folds to the same conversation as the log with the deltas.
func (s *stream) durable(ev event.Event) []event.Event {
	h := ev.Head()
	switch ev := ev.(type) {
	case *event.MessageStart:
		s.drop(func(b *partial) bool { return b.key == keyOf(h) })
		if !slices.Contains(s.open, keyOf(h)) {
			s.open = append(s.open, keyOf(h))
		}
	case *event.AssistantMessage:
		s.drop(func(b *partial) bool {
			return b.key == keyOf(h) && slices.ContainsFunc(ev.Blocks, func(w event.IndexedBlock) bool { return w.Index == b.index })
		})
	case *event.MessageComplete:
		s.open = slices.DeleteFunc(s.open, func(k messageKey) bool { return k == keyOf(h) })
		if from := ev.AbandonedFrom; from != nil {
			s.drop(func(b *partial) bool { return b.key == keyOf(h) && b.index >= *from })
		}
		return s.take(func(b *partial) bool { return b.key == keyOf(h) })
	case *event.ToolComplete:
		return s.takeProgress(ev.ToolUseID)
	case *event.ResultMessage:
		return s.cut()
	}
	return nil
}

// cut ends the open blocks, at the end of a turn or of the agent. Their text is kept and marked
// incomplete.
func (s *stream) cut() []event.Event {
	events := s.take(func(*partial) bool { return true })
	for _, key := range s.open {
		h := event.Header{ParentToolUseID: key.parent, MessageID: key.message}
		events = append(events, &event.MessageComplete{Header: h, Incomplete: true})
	}
	for _, p := range s.progress {
		events = append(events, p)
	}
	s.open, s.progress = nil, nil
	return events
}

func (s *stream) takeProgress(toolUseID string) []event.Event {
	var events []event.Event
	s.progress = slices.DeleteFunc(s.progress, func(p *event.ToolProgress) bool {
		if p.ToolUseID != toolUseID {
			return false
		}
		events = append(events, p)
		return true
	})
	return events
}

func (s *stream) drop(match func(*partial) bool) { s.blocks = slices.DeleteFunc(s.blocks, match) }

// take removes blocks and returns their events, each with a stop.
func (s *stream) take(match func(*partial) bool) []event.Event {
	var events []event.Event
	for _, b := range s.blocks {
		if !match(b) {
			continue
		}
		events = append(events, b.events()...)
		if b.stop == nil {
			events = append(events, &event.BlockStop{Header: b.header, Index: b.index, Incomplete: true})
		}
	}
	s.drop(match)
	return events
}

// restart returns the events for a viewer that has every durable event and no delta: each block
// from its start, in as few events as possible.
func (s *stream) restart() []event.Event {
	var events []event.Event
	for _, b := range s.blocks {
		events = append(events, b.events()...)
	}
	for _, p := range s.progress {
		events = append(events, p)
	}
	return events
}

// events returns the events of an incomplete block.
func (b *partial) events() []event.Event {
	var events []event.Event
	switch start := b.start.(type) {
	case *event.TextStart:
		events = append(events, &event.TextStart{Header: b.header, Index: b.index, Text: b.text.String()})
	case *event.ThinkingStart:
		events = append(events, &event.ThinkingStart{Header: b.header, Index: b.index, Thinking: b.text.String()})
	default:
		events = append(events, start)
		if b.text.Len() > 0 {
			events = append(events, &event.ToolInputDelta{Header: b.header, Index: b.index, ToolUseID: b.tool, PartialJSON: b.text.String()})
		}
	}
	events = append(events, b.deltas...)
	if b.stop != nil {
		events = append(events, b.stop)
	}
	return events
}
