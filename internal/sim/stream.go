package sim

import (
	"strings"

	"github.com/seed7221b0f9/parley/claude/message"
)

// answer writes one answer, in pieces if partial messages are enabled. The error is an
// interrupt.
func (t *turn) answer(stop string, blocks ...message.ContentBlock) error {
	t.count(blocks)
	s := &stream{turn: t, id: t.answerID()}
	s.begin()
	for i, b := range blocks {
		if err := s.block(int64(i), b); err != nil {
			return err
		}
		if text, ok := b.(*message.Text); ok {
			t.last = text.Text
		}
	}
	s.end(stop)
	return nil
}

// stream is one answer that is being written.
type stream struct {
	*turn
	id string
}

func (s *stream) event(e message.Event) *message.StreamEvent {
	return &message.StreamEvent{Event: e, APIMessageID: s.id, UserMessageUUID: s.prompt.UUID, UserMessageUUIDs: s.uuids()}
}

// emit writes an event, if partial messages are enabled.
func (s *stream) emit(e message.Event) {
	if s.a.partial {
		s.a.cli.Emit(s.event(e))
	}
}

func (s *stream) begin() {
	if s.a.partial {
		s.a.cli.Emit(s.a.cli.Status("requesting"))
	}
	s.emit(&message.MessageStart{Message: message.APIMessage{
		ID: s.id, Type: "message", Role: "assistant", Model: s.model, Content: []message.ContentBlock{}, Usage: &message.Usage{InputTokens: s.now.InputTokens},
	}})
}

func (s *stream) end(stop string) {
	s.emit(&message.MessageDelta{Delta: message.MessageDeltaFields{StopReason: stop}, Usage: &s.now})
	s.emit(&message.MessageStop{})
}

// block writes one block: its start, its pieces, and the whole block.
func (s *stream) block(index int64, b message.ContentBlock) error {
	if err := s.pieces(index, b); err != nil {
		return err
	}
	s.finish(index, b)
	return nil
}

// pieces writes the pieces of a block.
func (s *stream) pieces(index int64, b message.ContentBlock) error {
	s.emit(&message.ContentBlockStart{Index: index, ContentBlock: empty(b)})
	said := ""
	for _, piece := range pieces(b) {
		if err := s.pause(1); err != nil {
			s.breakOff(index, b, said)
			return err
		}
		said += piece
		s.emit(&message.ContentBlockDelta{Index: index, Delta: deltaOf(b, piece)})
	}
	if thinking, ok := b.(*message.Thinking); ok {
		s.emit(&message.ContentBlockDelta{Index: index, Delta: &message.SignatureDelta{Signature: thinking.Signature}})
	}
	return nil
}

// finish writes a whole block.
func (s *stream) finish(index int64, b message.ContentBlock) {
	s.a.cli.Emit(s.message(b, s.id))
	s.emit(&message.ContentBlockStop{Index: index})
}

// breakOff ends an answer in the middle of a block, as in the recording interrupt-stream.
func (s *stream) breakOff(index int64, b message.ContentBlock, said string) {
	s.aborted = message.TerminalAbortedStreaming
	if _, text := b.(*message.Text); text && said != "" && s.a.partial {
		m := s.message(&message.Text{Text: said}, s.id)
		m.Aborted = true
		s.a.cli.Emit(m)
	}
	s.a.cli.Emit(s.a.cli.UserText("[Request interrupted by user]"))
	s.emit(&message.ContentBlockStop{Index: index})
	s.emit(&message.MessageDelta{Usage: &message.Usage{}})
	if s.a.partial {
		last := s.event(&message.MessageStop{})
		last.AbandonedBlocks = &message.AbandonedBlocks{APIMessageID: s.id, FromBlockIndex: index + 1}
		s.a.cli.Emit(last)
	}
}

// empty returns a block without content, for its start event.
func empty(b message.ContentBlock) message.ContentBlock {
	switch b := b.(type) {
	case *message.Thinking:
		return &message.Thinking{}
	case *message.ToolUse:
		return &message.ToolUse{ID: b.ID, Name: b.Name, Input: "{}"}
	}
	return &message.Text{}
}

func deltaOf(b message.ContentBlock, piece string) message.Delta {
	switch b.(type) {
	case *message.Thinking:
		return &message.ThinkingDelta{Thinking: piece}
	case *message.ToolUse:
		return &message.InputJSONDelta{PartialJSON: piece}
	}
	return &message.TextDelta{Text: piece}
}

// pieces splits a block into its deltas: words, each with the white space after it.
func pieces(b message.ContentBlock) []string {
	text := ""
	switch b := b.(type) {
	case *message.Text:
		text = b.Text
	case *message.Thinking:
		text = b.Thinking
	case *message.ToolUse:
		text = string(b.Input)
	}
	var list []string
	for text != "" {
		n := strings.IndexAny(text, " \n")
		if n < 0 {
			return append(list, text)
		}
		for n < len(text) && (text[n] == ' ' || text[n] == '\n') {
			n++
		}
		list = append(list, text[:n])
		text = text[n:]
	}
	return list
}
