package claudeevent

import (
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// stream converts one event of the API's stream.
func (c *Converter) stream(m *message.StreamEvent) {
	if !c.turn.open {
		c.beginTurn(m.ParentToolUseID, m.SessionID, "")
	}
	t := c.thread(m.ParentToolUseID)
	h := event.Header{ParentToolUseID: m.ParentToolUseID, MessageID: m.APIMessageID, SessionID: m.SessionID, UUID: m.UUID}
	switch e := m.Event.(type) {
	case *message.MessageStart:
		h.MessageID = c.named(e.Message.ID, m.APIMessageID)
		c.messageStart(t, h, e)
	case *message.ContentBlockStart:
		c.blockStart(c.streaming(t, &h), h, e)
	case *message.ContentBlockDelta:
		c.blockDelta(c.streaming(t, &h), h, e)
	case *message.ContentBlockStop:
		if msg := c.streaming(t, &h); msg.block(e.Index) != nil {
			c.blockStop(msg, h, msg.block(e.Index), false)
		}
	case *message.MessageDelta:
		msg := c.streaming(t, &h)
		raw := retyped(rawOf(e), "message_delta")
		usage, _ := raw.Member("usage")
		msg.end = &event.MessageComplete{StopReason: e.Delta.StopReason, Delta: raw, Usage: event.Present(string(usage))}
	case *message.MessageStop:
		c.messageStop(t, c.streaming(t, &h), h, m.AbandonedBlocks)
	case *message.Ping, nil:
	case *message.StreamError:
		c.emit(&event.Error{Header: h, Message: e.Error.Message})
	case *message.UnknownEvent:
		c.emit(&event.UnknownStream{Header: h, OriginalType: e.Type, Data: rawOf(e)})
	}
}

// streaming returns the message that an event of the stream belongs to, and sets its id
// in the header. It starts a message if the start event is missing.
func (c *Converter) streaming(t *liveThread, h *event.Header) *liveMessage {
	msg := t.current()
	if msg != nil && (h.MessageID == "" || msg.id == h.MessageID) {
		h.MessageID = msg.id
		return msg
	}
	if h.MessageID != "" {
		msg = t.message(h.MessageID)
	} else {
		msg = t.message(c.named())
	}
	h.MessageID = msg.id
	if !msg.streaming {
		t.begin(msg)
		c.emit(&event.MessageStart{Header: *h})
	}
	return msg
}

func (c *Converter) messageStart(t *liveThread, h event.Header, e *message.MessageStart) {
	// A new answer while the last one has no end: the last one broke off.
	if old := t.current(); old != nil {
		c.cutMessage(t, h, old)
	}
	msg := t.message(h.MessageID)
	t.begin(msg)
	msg.end = nil
	raw, _ := rawOf(e).Member("message")
	usage, _ := raw.Member("usage")
	msg.usage, msg.model = event.JSON(kept(string(usage))), kept(e.Message.Model)
	c.emit(&event.MessageStart{Header: h, Model: e.Message.Model, Message: event.NewJSON(string(raw))})
}

func (c *Converter) blockStart(msg *liveMessage, h event.Header, e *message.ContentBlockStart) {
	if e.ContentBlock == nil {
		return // content_block was null
	}
	if old := msg.block(e.Index); old != nil && old.open {
		c.blockStop(msg, h, old, true)
	}
	content := contentOf(e.ContentBlock)
	msg.put(&liveBlock{index: e.Index, blockType: kept(content.Type), toolUseID: kept(content.ToolUseID), open: true, given: event.JSON(kept(string(content.Input)))})
	switch {
	case content.Type == "text":
		c.emit(&event.TextStart{Header: h, Index: e.Index, Text: content.Text, Block: content.Raw})
	case content.Type == "thinking":
		c.emit(&event.ThinkingStart{Header: h, Index: e.Index, Thinking: content.Text, Block: content.Raw})
	case event.IsTool(content.Type):
		c.emit(&event.ToolStart{Header: h, Index: e.Index, ToolUseID: content.ToolUseID, Name: content.Name, BlockType: content.Type, Block: content.Raw})
	default:
		c.emit(&event.BlockStart{Header: h, Index: e.Index, BlockType: content.Type, Block: content.Raw})
	}
}

func (c *Converter) blockDelta(msg *liveMessage, h event.Header, e *message.ContentBlockDelta) {
	switch d := e.Delta.(type) {
	case *message.TextDelta:
		c.opened(msg, h, e.Index, "text")
		c.emit(&event.TextDelta{Header: h, Index: e.Index, Text: d.Text})
	case *message.ThinkingDelta:
		c.opened(msg, h, e.Index, "thinking")
		c.emit(&event.ThinkingDelta{Header: h, Index: e.Index, Thinking: d.Thinking})
	case *message.InputJSONDelta:
		b := c.opened(msg, h, e.Index, "tool_use")
		b.input = append(b.input, d.PartialJSON...)
		c.emit(&event.ToolInputDelta{Header: h, Index: e.Index, ToolUseID: b.toolUseID, PartialJSON: d.PartialJSON})
	case nil:
	default:
		typ, raw := deltaType(d)
		c.opened(msg, h, e.Index, "")
		c.emit(&event.BlockDelta{Header: h, Index: e.Index, DeltaType: typ, Delta: raw})
	}
}

// deltaType returns the type and the JSON of a delta that has no specific event.
func deltaType(d message.Delta) (string, event.JSON) {
	raw := rawOf(d)
	typ := ""
	switch d := d.(type) {
	case *message.SignatureDelta:
		typ = "signature_delta"
	case *message.CitationsDelta:
		typ = "citations_delta"
	case *message.CompactionDelta:
		typ = "compaction_delta"
	case *message.UnknownDelta:
		typ = d.Type
	}
	return typ, retyped(raw, typ)
}

// opened returns the block of a delta. It starts a block if the start event is missing,
// with the type that the delta implies.
func (c *Converter) opened(msg *liveMessage, h event.Header, index int64, blockType string) *liveBlock {
	b := msg.block(index)
	if b != nil && b.open {
		return b
	}
	if b == nil {
		b = &liveBlock{index: index, blockType: blockType}
		msg.put(b)
	}
	msg.setOpen(b, true)
	switch blockType {
	case "text":
		c.emit(&event.TextStart{Header: h, Index: index})
	case "thinking":
		c.emit(&event.ThinkingStart{Header: h, Index: index})
	case "tool_use":
		c.emit(&event.ToolStart{Header: h, Index: index, ToolUseID: b.toolUseID, BlockType: blockType})
	default:
		c.emit(&event.BlockStart{Header: h, Index: index})
	}
	return b
}

func (c *Converter) blockStop(msg *liveMessage, h event.Header, b *liveBlock, incomplete bool) {
	if !b.open {
		return
	}
	msg.setOpen(b, false)
	if event.IsTool(b.blockType) && !incomplete {
		input := b.given
		if len(b.input) > 0 {
			input = event.JSON(b.input)
		}
		if input != "" && jsonwire.Valid(string(input)) {
			c.emit(&event.ToolInputComplete{Header: h, Index: b.index, ToolUseID: b.toolUseID, Input: input})
		}
	}
	b.input, b.given = nil, ""
	h.MessageID = msg.id
	c.emit(&event.BlockStop{Header: h, Index: b.index, Incomplete: incomplete})
}

func (c *Converter) messageStop(t *liveThread, msg *liveMessage, h event.Header, abandoned *message.AbandonedBlocks) {
	c.stopBlocks(h, msg)
	end := msg.end
	if end == nil {
		end = &event.MessageComplete{}
	}
	end.Header = h
	if abandoned != nil && (abandoned.APIMessageID == "" || abandoned.APIMessageID == msg.id) {
		end.AbandonedFrom = &abandoned.FromBlockIndex
	}
	t.end(msg)
	c.emit(end)
	c.answered(h, msg.model, msg.usage, end.Usage)
}

// stopBlocks stops the open blocks of a message that ends.
func (c *Converter) stopBlocks(h event.Header, msg *liveMessage) {
	for _, b := range msg.unstopped() {
		c.blockStop(msg, h, b, true)
	}
}

// cut stops all open blocks and messages of a thread.
func (c *Converter) cut(parent string) {
	t := c.threads[parent]
	for _, msg := range t.streaming() {
		c.cutMessage(t, event.Header{ParentToolUseID: parent}, msg)
	}
}

func (c *Converter) cutMessage(t *liveThread, h event.Header, msg *liveMessage) {
	h.MessageID = msg.id
	c.stopBlocks(h, msg)
	end := msg.end
	if end == nil {
		end = &event.MessageComplete{}
	}
	end.Header, end.Incomplete = h, true
	t.end(msg)
	c.emit(end)
}
