package message

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// Accumulator joins the events of streamed answers into whole messages. It keeps the newest
// answer of each parent tool use, so answers may interleave. The zero value is ready to use. An
// Accumulator must not be used by several goroutines at once.
type Accumulator struct {
	answers map[string]*partialAnswer // by parent tool use
}

type partialAnswer struct {
	message APIMessage
	blocks  map[int64]*partialBlock
	ended   bool
}

// partialBlock is a block that has started and may still receive deltas.
type partialBlock struct {
	start     ContentBlock
	text      strings.Builder // text, thinking, the tool's input, a summary
	signature strings.Builder
	encrypted strings.Builder // of a summary
	citations []Citation
	ended     bool
}

// Add adds a message and reports whether it was a *[StreamEvent]; it ignores other messages. A
// message_start restarts the answer of its parent, so a retry replaces an answer that broke off.
// Events of an answer without an added start are ignored.
func (a *Accumulator) Add(m Message) bool {
	ev, ok := m.(*StreamEvent)
	if !ok {
		return false
	}
	if start, ok := ev.Event.(*MessageStart); ok {
		a.begin(ev.ParentToolUseID, start)
		return true
	}
	answer := a.answers[ev.ParentToolUseID]
	if answer == nil {
		return true // the answer began before the first event that was added
	}
	answer.add(ev.Event)
	return true
}

func (a *Accumulator) begin(parent string, start *MessageStart) {
	if a.answers == nil {
		a.answers = map[string]*partialAnswer{}
	}
	a.answers[parent] = &partialAnswer{message: start.Message, blocks: map[int64]*partialBlock{}}
}

func (p *partialAnswer) add(e Event) {
	switch e := e.(type) {
	case *ContentBlockStart:
		p.blocks[e.Index] = &partialBlock{start: e.ContentBlock}
	case *ContentBlockDelta:
		if b := p.blocks[e.Index]; b != nil {
			b.add(e.Delta)
		}
	case *ContentBlockStop:
		if b := p.blocks[e.Index]; b != nil {
			b.ended = true
		}
	case *MessageDelta:
		p.message.StopReason = e.Delta.StopReason
		p.message.StopSequence = e.Delta.StopSequence
		if e.Usage != nil {
			p.message.Usage = e.Usage
		}
	case *MessageStop:
		p.ended = true
	}
}

func (b *partialBlock) add(d Delta) {
	switch d := d.(type) {
	case *TextDelta:
		b.text.WriteString(d.Text)
	case *ThinkingDelta:
		b.text.WriteString(d.Thinking)
	case *SignatureDelta:
		b.signature.WriteString(d.Signature)
	case *InputJSONDelta:
		b.text.WriteString(d.PartialJSON)
	case *CitationsDelta:
		b.citations = append(b.citations, d.Citation)
	case *CompactionDelta:
		b.text.WriteString(d.Content)
		b.encrypted.WriteString(d.EncryptedContent)
	}
}

// Message returns the newest answer of a parent tool use, or of the main conversation if the id
// is empty, as far as it has arrived. It is nil if no answer has begun. Its content has the
// blocks in order, including the received part of unfinished ones.
func (a *Accumulator) Message(parentToolUseID string) *APIMessage {
	p := a.answers[parentToolUseID]
	if p == nil {
		return nil
	}
	m := p.message
	m.Content = nil
	for _, i := range slices.SortedFunc(maps.Keys(p.blocks), cmp.Compare[int64]) {
		m.Content = append(m.Content, p.blocks[i].block())
	}
	return &m
}

// Block returns the block with an index in the newest answer of a parent tool use, as far as it
// has arrived, and whether it is finished. It is nil if the block has not begun. An unfinished
// tool use has no Input: see [Accumulator.PartialInput].
func (a *Accumulator) Block(parentToolUseID string, index int64) (block ContentBlock, done bool) {
	if p := a.answers[parentToolUseID]; p != nil && p.blocks[index] != nil {
		b := p.blocks[index]
		return b.block(), b.ended
	}
	return nil, false
}

// PartialInput returns the text of a tool's input as far as it has arrived. It need not be valid
// JSON before the block ends, and is empty for a block that has not begun.
func (a *Accumulator) PartialInput(parentToolUseID string, index int64) string {
	if p := a.answers[parentToolUseID]; p != nil && p.blocks[index] != nil {
		return p.blocks[index].text.String()
	}
	return ""
}

// Done reports whether the newest answer of a parent tool use has ended. The id is empty for the
// main conversation.
func (a *Accumulator) Done(parentToolUseID string) bool {
	p := a.answers[parentToolUseID]
	return p != nil && p.ended
}

// block returns the block that the start event and the received deltas make.
func (b *partialBlock) block() ContentBlock {
	switch s := b.start.(type) {
	case *Text:
		return &Text{Text: s.Text + b.text.String(), Citations: slices.Concat(s.Citations, b.citations)}
	case *Thinking:
		return &Thinking{Thinking: s.Thinking + b.text.String(), Signature: s.Signature + b.signature.String()}
	case *ToolUse:
		return &ToolUse{ID: s.ID, Name: s.Name, Input: b.input(s.Input), Caller: s.Caller, ToolsetName: s.ToolsetName}
	case *ServerToolUse:
		return &ServerToolUse{ID: s.ID, Name: s.Name, Input: b.input(s.Input), Caller: s.Caller}
	case *MCPToolUse:
		return &MCPToolUse{ID: s.ID, Name: s.Name, ServerName: s.ServerName, Input: b.input(s.Input)}
	case *Compaction:
		return &Compaction{Content: s.Content + b.text.String(), EncryptedContent: s.EncryptedContent + b.encrypted.String(),
			Signature: s.Signature + b.signature.String(), ToolChanges: s.ToolChanges}
	}
	return b.start // the start event had the whole block
}

// input returns a tool's complete input. Text that is not JSON takes the form that the CLI gives
// it [invalid-tool-input].
func (b *partialBlock) input(start JSON) JSON {
	text := b.text.String()
	switch {
	case text == "":
		return start
	case !b.ended:
		return ""
	case json.Valid([]byte(JSON(text))):
		return JSON(text)
	}
	form, err := jsonwire.Marshal(map[string]any{"__unparsedToolInput": map[string]any{"raw": text, "len": len(text)}})
	if err != nil {
		return "" // unreachable: strings and numbers always encode
	}
	return JSON(form)
}
