package sim

import (
	"strings"

	"github.com/seed7221b0f9/parley/claude"
)

// answer writes one answer, in pieces where partial messages were asked for. The
// error is an interrupt.
func (t *turn) answer(stop string, blocks ...claude.ContentBlock) error {
	t.count(blocks)
	s := &stream{turn: t, id: t.answerID()}
	s.begin()
	for i, b := range blocks {
		if err := s.block(int64(i), b); err != nil {
			return err
		}
		if text, ok := b.(*claude.TextBlock); ok {
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

func (s *stream) event(e claude.StreamEvent) *claude.StreamEventMessage {
	return &claude.StreamEventMessage{Event: e, APIMessageID: s.id, UserMessageUUID: s.prompt.UUID, UserMessageUUIDs: s.uuids()}
}

// emit writes an event, if they were asked for.
func (s *stream) emit(e claude.StreamEvent) {
	if s.a.partial {
		s.a.cli.Emit(s.event(e))
	}
}

func (s *stream) begin() {
	if s.a.partial {
		s.a.cli.Emit(s.a.cli.Status("requesting"))
	}
	s.emit(&claude.MessageStartEvent{Message: claude.APIMessage{
		ID: s.id, Type: "message", Role: "assistant", Model: s.model, Content: []claude.ContentBlock{}, Usage: &claude.Usage{},
	}})
}

func (s *stream) end(stop string) {
	s.emit(&claude.MessageDeltaEvent{Delta: claude.MessageDelta{StopReason: stop}, Usage: &claude.Usage{}})
	s.emit(&claude.MessageStopEvent{})
}

// block writes one block: where it begins, its pieces, and the whole of it.
func (s *stream) block(index int64, b claude.ContentBlock) error {
	if err := s.pieces(index, b); err != nil {
		return err
	}
	s.finish(index, b)
	return nil
}

// pieces writes the pieces of a block.
func (s *stream) pieces(index int64, b claude.ContentBlock) error {
	s.emit(&claude.ContentBlockStartEvent{Index: index, ContentBlock: empty(b)})
	said := ""
	for _, piece := range pieces(b) {
		if err := s.pause(1); err != nil {
			s.breakOff(index, b, said)
			return err
		}
		said += piece
		s.emit(&claude.ContentBlockDeltaEvent{Index: index, Delta: deltaOf(b, piece)})
	}
	if thinking, ok := b.(*claude.ThinkingBlock); ok {
		s.emit(&claude.ContentBlockDeltaEvent{Index: index, Delta: &claude.SignatureDelta{Signature: thinking.Signature}})
	}
	return nil
}

// finish writes the whole of a block.
func (s *stream) finish(index int64, b claude.ContentBlock) {
	s.a.cli.Emit(s.message(b, s.id))
	s.emit(&claude.ContentBlockStopEvent{Index: index})
}

// breakOff ends an answer in the middle of a block, as interrupt-stream shows.
func (s *stream) breakOff(index int64, b claude.ContentBlock, said string) {
	s.aborted = claude.TerminalAbortedStreaming
	if _, text := b.(*claude.TextBlock); text && said != "" && s.a.partial {
		m := s.message(&claude.TextBlock{Text: said}, s.id)
		m.Aborted = true
		s.a.cli.Emit(m)
	}
	s.a.cli.Emit(s.a.cli.UserText("[Request interrupted by user]"))
	s.emit(&claude.ContentBlockStopEvent{Index: index})
	s.emit(&claude.MessageDeltaEvent{Usage: &claude.Usage{}})
	if s.a.partial {
		last := s.event(&claude.MessageStopEvent{})
		last.AbandonedBlocks = &claude.AbandonedBlocks{APIMessageID: s.id, FromBlockIndex: index + 1}
		s.a.cli.Emit(last)
	}
}

// empty is a block as it begins.
func empty(b claude.ContentBlock) claude.ContentBlock {
	switch b := b.(type) {
	case *claude.ThinkingBlock:
		return &claude.ThinkingBlock{}
	case *claude.ToolUseBlock:
		return &claude.ToolUseBlock{ID: b.ID, Name: b.Name, Input: "{}"}
	}
	return &claude.TextBlock{}
}

func deltaOf(b claude.ContentBlock, piece string) claude.Delta {
	switch b.(type) {
	case *claude.ThinkingBlock:
		return &claude.ThinkingDelta{Thinking: piece}
	case *claude.ToolUseBlock:
		return &claude.InputJSONDelta{PartialJSON: piece}
	}
	return &claude.TextDelta{Text: piece}
}

// pieces are the pieces in which a block comes: words, each with the white space
// behind it.
func pieces(b claude.ContentBlock) []string {
	text := ""
	switch b := b.(type) {
	case *claude.TextBlock:
		text = b.Text
	case *claude.ThinkingBlock:
		text = b.Thinking
	case *claude.ToolUseBlock:
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
