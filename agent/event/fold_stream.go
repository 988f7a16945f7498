package event

import "strings"

// delta returns the block that a delta adds to, or nil if it is already complete. A block with a
// missed start is started here.
func (c *Conversation) delta(h *Header, at int64, blockType string) *Block {
	x := c.index
	if x.block == nil || x.block.Index != at || x.message != h.MessageID || x.parent != h.ParentToolUseID {
		m := c.answer(h, Streaming)
		x.block = c.ensure(m, at, blockType)
		x.message, x.parent = m.message.ID, kept(h.ParentToolUseID)
	}
	if x.block.Whole {
		return nil
	}
	return x.block
}

func (c *Conversation) messageStart(ev *MessageStart) {
	c.Retry = nil
	m := c.answer(&ev.Header, Streaming)
	// A second start of a message: its incomplete blocks are streamed again.
	c.dropPartial(m, minIndex)
	m.message.State = Streaming
	if ev.Model != "" {
		m.message.Model = kept(ev.Model)
	}
}

// minIndex is below every index.
const minIndex = -1 << 63

// start starts a block again, unless it is already complete.
func (c *Conversation) start(h *Header, at int64, blockType string, fill func(*Block)) {
	m := c.answer(h, Streaming)
	b := c.ensure(m, at, blockType)
	if b.Whole {
		return
	}
	c.forgetTool(b)
	m.count(b, -1)
	*b = Block{Index: at, Type: kept(blockType), State: Streaming}
	m.count(b, 1)
	m.open = append(m.open, b)
	fill(b)
	c.index.block = nil
}

// tool returns the tool call of a block, with the data known so far.
func (c *Conversation) tool(b *Block, id, name string) *ToolCall {
	if b.Tool == nil {
		b.Tool = &ToolCall{Status: ToolInProgress, ToolType: ToolType(c.Provider, "")}
		c.index.calls = append(c.index.calls, b.Tool)
	}
	if name != "" && b.Tool.Name != name {
		b.Tool.Name, b.Tool.ToolType = kept(name), ToolType(c.Provider, name)
	}
	if id != "" && b.Tool.ID != id {
		b.Tool.ID = kept(id)
		put(&c.index.tools, b.Tool.ID, b.Tool)
		c.adopt(b.Tool)
	}
	return b.Tool
}

// add adds a delta other than text and input.
func (b *Block) add(ev *BlockDelta) {
	switch ev.DeltaType {
	case "signature_delta":
		s, _ := ev.Delta.Member("signature")
		b.Signature.Append(s.Text())
		return
	case "citations_delta":
		if citation, _ := ev.Delta.Member("citation"); strings.HasPrefix(string(citation), "{") {
			b.Citations = append(b.Citations, keptJSON(citation))
		}
		return
	}
	b.Deltas = append(b.Deltas, keptJSON(ev.Delta))
}

// stop ends a block. If the text of a tool's input is valid JSON, it becomes the input.
func (m *messageIndex) stop(b *Block, incomplete bool) {
	switch {
	case b.Whole || b.State != Streaming:
		return
	case incomplete:
		m.change(b, Incomplete, false)
		return
	}
	m.change(b, Complete, false)
	if b.Tool != nil && b.Tool.InputText.valid() {
		b.Tool.Input, b.Tool.InputText = JSON(b.Tool.InputText.String()), Text{}
	}
}

// end records how an answer ended, as far as known.
func (m *Message) end(stopReason string, usage JSON) {
	if stopReason != "" {
		m.StopReason = kept(stopReason)
	}
	if usage != "" {
		m.Usage = keptJSON(usage)
	}
}

func (c *Conversation) messageComplete(ev *MessageComplete) {
	m := c.known(&ev.Header)
	if m == nil {
		return
	}
	m.message.end(ev.StopReason, ev.Usage)
	if from := ev.AbandonedFrom; from != nil {
		c.dropPartial(m, *from)
	}
	for _, b := range m.open {
		if m.has(b) {
			m.stop(b, true) // has an effect only if its stop is missing
		}
	}
	c.index.steps += int64(len(m.open))
	m.open = m.open[:0]
	m.message.State = Complete
	if m.broken > 0 {
		m.message.State = Incomplete
	}
	if m.n == 0 {
		c.remove(m)
	}
}
