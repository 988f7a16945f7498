package ui

import (
	"strings"

	"github.com/seed7221b0f9/parley/claude"
)

// delta returns the block that a delta adds to, nil if it is whole already. One
// whose start was missed begins here.
func (c *Conversation) delta(h *Header, at int64, blockType string) *Block {
	x := c.index
	if x.block == nil || x.block.Index != at || x.message != h.MessageID || x.parent != h.ParentToolUseID {
		m := c.answer(h, Streaming)
		x.block = m.block(at, blockType)
		x.message, x.parent = m.ID, kept(h.ParentToolUseID)
	}
	if x.block.Whole {
		return nil
	}
	return x.block
}

func (c *Conversation) messageStart(ev *MessageStart) {
	m := c.answer(&ev.Header, Streaming)
	// A start of a message that is there: what is not whole of it is streamed again.
	c.drop(m, func(b *Block) bool { return !b.Whole })
	m.State = Streaming
	if ev.Model != "" {
		m.Model = kept(ev.Model)
	}
}

// start begins a block anew, unless it is whole already.
func (c *Conversation) start(h *Header, at int64, blockType string, fill func(*Block)) {
	m := c.answer(h, Streaming)
	b := m.block(at, blockType)
	if b.Whole {
		return
	}
	if b.Tool != nil && c.index.tools[b.Tool.ID] == b.Tool {
		delete(c.index.tools, b.Tool.ID)
	}
	*b = Block{Index: at, Type: kept(blockType), State: Streaming}
	fill(b)
	c.index.block = nil
}

// tool returns the tool call of a block, with what is known of it by now.
func (c *Conversation) tool(b *Block, id, name string) *ToolCall {
	if b.Tool == nil {
		b.Tool = &ToolCall{Status: ToolInProgress, ToolType: ToolType("")}
	}
	if name != "" && b.Tool.Name != name {
		b.Tool.Name, b.Tool.ToolType = kept(name), ToolType(name)
	}
	if id != "" && b.Tool.ID != id {
		b.Tool.ID = kept(id)
		c.index.tools[b.Tool.ID] = b.Tool
		c.adopt(b.Tool)
	}
	return b.Tool
}

// add adds a delta of another kind than text and input.
func (b *Block) add(ev *BlockDelta) {
	switch ev.DeltaType {
	case "signature_delta":
		s, _ := member(ev.Delta, "signature")
		b.Signature += text(s)
		return
	case "citations_delta":
		if citation, _ := member(ev.Delta, "citation"); strings.HasPrefix(string(citation), "{") {
			b.Citations = append(b.Citations, keptJSON(citation))
		}
		return
	}
	b.Deltas = append(b.Deltas, keptJSON(ev.Delta))
}

func (c *Conversation) blockStop(ev *BlockStop) {
	m := c.index.messages[messageKey{ev.ParentToolUseID, ev.MessageID}]
	if m == nil {
		return
	}
	if b := m.Block(ev.Index); b != nil {
		b.stop(ev.Incomplete)
	}
}

// stop ends a block. The text of a tool's input that is JSON now becomes its input.
func (b *Block) stop(incomplete bool) {
	switch {
	case b.Whole || b.State != Streaming:
		return
	case incomplete:
		b.State = Incomplete
		return
	}
	b.State = Complete
	if b.Tool != nil && b.Tool.InputText.valid() {
		b.Tool.Input, b.Tool.InputText = claude.JSON(b.Tool.InputText.String()), Text{}
	}
}

// end notes how an answer ended, as far as it is told.
func (m *Message) end(stopReason string, usage claude.JSON) {
	if stopReason != "" {
		m.StopReason = kept(stopReason)
	}
	if usage != "" {
		m.Usage = keptJSON(usage)
	}
}

func (c *Conversation) messageComplete(ev *MessageComplete) {
	m := c.index.messages[messageKey{ev.ParentToolUseID, ev.MessageID}]
	if m == nil {
		return
	}
	m.end(ev.StopReason, ev.Usage)
	if from := ev.AbandonedFrom; from != nil {
		c.drop(m, func(b *Block) bool { return b.Index >= *from && !b.Whole })
	}
	m.State = Complete
	for _, b := range m.Blocks {
		b.stop(true) // has an effect where its own stop is missing
		if b.State == Incomplete {
			m.State = Incomplete
		}
	}
	if len(m.Blocks) == 0 {
		c.remove(ev.ParentToolUseID, m)
	}
}
