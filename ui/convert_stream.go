package ui

import (
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// stream converts one event of the API's stream.
func (c *Converter) stream(m *claude.StreamEventMessage) {
	t := c.thread(m.ParentToolUseID)
	h := Header{ParentToolUseID: m.ParentToolUseID, MessageID: m.APIMessageID, SessionID: m.SessionID, UUID: m.UUID}
	switch e := m.Event.(type) {
	case *claude.MessageStartEvent:
		h.MessageID = c.named(e.Message.ID, m.APIMessageID)
		c.messageStart(t, h, e)
	case *claude.ContentBlockStartEvent:
		c.blockStart(c.streaming(t, &h), h, e)
	case *claude.ContentBlockDeltaEvent:
		c.blockDelta(c.streaming(t, &h), h, e)
	case *claude.ContentBlockStopEvent:
		if msg := c.streaming(t, &h); msg.block(e.Index) != nil {
			c.blockStop(msg, h, msg.block(e.Index), false)
		}
	case *claude.MessageDeltaEvent:
		msg := c.streaming(t, &h)
		raw := retyped(rawOf(e), "message_delta")
		usage, _ := member(raw, "usage")
		msg.end = &MessageComplete{StopReason: e.Delta.StopReason, Delta: raw, Usage: present(usage)}
	case *claude.MessageStopEvent:
		c.messageStop(c.streaming(t, &h), h, m.AbandonedBlocks)
	case *claude.PingEvent, nil:
	case *claude.ErrorEvent:
		c.emit(&Error{Header: h, Message: e.Error.Message})
	case *claude.UnknownEvent:
		c.emit(&UnknownStream{Header: h, OriginalType: e.Type, Data: rawOf(e)})
	}
}

// streaming returns the message that an event of the stream belongs to, and puts
// its id into the head. One whose start was missed is started here.
func (c *Converter) streaming(t *liveThread, h *Header) *liveMessage {
	if n := len(t.messages); n > 0 && t.messages[n-1].streaming && (h.MessageID == "" || t.messages[n-1].id == h.MessageID) {
		h.MessageID = t.messages[n-1].id
		return t.messages[n-1]
	}
	msg := t.current()
	if h.MessageID != "" {
		msg = t.message(h.MessageID)
	} else if msg == nil {
		msg = t.message(c.named())
	}
	h.MessageID = msg.id
	if !msg.streaming {
		msg.streaming = true
		c.emit(&MessageStart{Header: *h})
	}
	return msg
}

func (c *Converter) messageStart(t *liveThread, h Header, e *claude.MessageStartEvent) {
	// A new answer begins where the last one has no end: that one broke off.
	if old := t.current(); old != nil {
		c.cutMessage(h, old)
	}
	msg := t.message(h.MessageID)
	msg.streaming, msg.end = true, nil
	raw, _ := member(rawOf(e), "message")
	c.emit(&MessageStart{Header: h, Model: e.Message.Model, Message: checked(raw)})
}

func (c *Converter) blockStart(msg *liveMessage, h Header, e *claude.ContentBlockStartEvent) {
	if e.ContentBlock == nil {
		return // content_block was null
	}
	if old := msg.block(e.Index); old != nil && old.open {
		c.blockStop(msg, h, old, true)
	}
	content := contentOf(e.ContentBlock)
	msg.put(&liveBlock{index: e.Index, blockType: kept(content.Type), toolUseID: kept(content.ToolUseID), open: true, given: keptJSON(content.Input)})
	switch {
	case content.Type == "text":
		c.emit(&TextStart{Header: h, Index: e.Index, Text: content.Text, Block: content.Raw})
	case content.Type == "thinking":
		c.emit(&ThinkingStart{Header: h, Index: e.Index, Thinking: content.Text, Block: content.Raw})
	case isTool(content.Type):
		c.emit(&ToolStart{Header: h, Index: e.Index, ToolUseID: content.ToolUseID, Name: content.Name, BlockType: content.Type, Block: content.Raw})
	default:
		c.emit(&BlockStart{Header: h, Index: e.Index, BlockType: content.Type, Block: content.Raw})
	}
}

func (c *Converter) blockDelta(msg *liveMessage, h Header, e *claude.ContentBlockDeltaEvent) {
	switch d := e.Delta.(type) {
	case *claude.TextDelta:
		c.opened(msg, h, e.Index, "text")
		c.emit(&TextDelta{Header: h, Index: e.Index, Text: d.Text})
	case *claude.ThinkingDelta:
		c.opened(msg, h, e.Index, "thinking")
		c.emit(&ThinkingDelta{Header: h, Index: e.Index, Thinking: d.Thinking})
	case *claude.InputJSONDelta:
		b := c.opened(msg, h, e.Index, "tool_use")
		b.input = append(b.input, d.PartialJSON...)
		c.emit(&ToolInputDelta{Header: h, Index: e.Index, ToolUseID: b.toolUseID, PartialJSON: d.PartialJSON})
	case nil:
	default:
		typ, raw := deltaType(d)
		c.opened(msg, h, e.Index, "")
		c.emit(&BlockDelta{Header: h, Index: e.Index, DeltaType: typ, Delta: raw})
	}
}

// deltaType is the type of a delta that has no event of its own, and its JSON.
func deltaType(d claude.Delta) (string, claude.JSON) {
	raw := rawOf(d)
	typ := ""
	switch d := d.(type) {
	case *claude.SignatureDelta:
		typ = "signature_delta"
	case *claude.CitationsDelta:
		typ = "citations_delta"
	case *claude.CompactionDelta:
		typ = "compaction_delta"
	case *claude.UnknownDelta:
		typ = d.Type
	}
	return typ, retyped(raw, typ)
}

// opened returns the block of a delta. One whose start was missed is started here,
// with the type that its delta is for.
func (c *Converter) opened(msg *liveMessage, h Header, index int64, blockType string) *liveBlock {
	b := msg.block(index)
	if b != nil && b.open {
		return b
	}
	if b == nil {
		b = &liveBlock{index: index, blockType: blockType}
		msg.put(b)
	}
	b.open = true
	switch blockType {
	case "text":
		c.emit(&TextStart{Header: h, Index: index})
	case "thinking":
		c.emit(&ThinkingStart{Header: h, Index: index})
	case "tool_use":
		c.emit(&ToolStart{Header: h, Index: index, ToolUseID: b.toolUseID, BlockType: blockType})
	default:
		c.emit(&BlockStart{Header: h, Index: index})
	}
	return b
}

func (c *Converter) blockStop(msg *liveMessage, h Header, b *liveBlock, incomplete bool) {
	if !b.open {
		return
	}
	b.open = false
	if isTool(b.blockType) && !incomplete {
		input := b.given
		if len(b.input) > 0 {
			input = claude.JSON(b.input)
		}
		if input != "" && jsonwire.Valid(string(input)) {
			c.emit(&ToolInputComplete{Header: h, Index: b.index, ToolUseID: b.toolUseID, Input: input})
		}
	}
	b.input, b.given = nil, ""
	h.MessageID = msg.id
	c.emit(&BlockStop{Header: h, Index: b.index, Incomplete: incomplete})
}

func (c *Converter) messageStop(msg *liveMessage, h Header, abandoned *claude.AbandonedBlocks) {
	c.stopBlocks(h, msg)
	end := msg.end
	if end == nil {
		end = &MessageComplete{}
	}
	end.Header = h
	if abandoned != nil && (abandoned.APIMessageID == "" || abandoned.APIMessageID == msg.id) {
		end.AbandonedFrom = &abandoned.FromBlockIndex
	}
	msg.streaming, msg.end = false, nil
	c.emit(end)
}

// stopBlocks ends the blocks that are open although their message ends.
func (c *Converter) stopBlocks(h Header, msg *liveMessage) {
	for _, b := range msg.blocks {
		c.blockStop(msg, h, b, true)
	}
}

// cut ends what is open in a thread.
func (c *Converter) cut(parent string) {
	for _, msg := range c.threads[parent].messages {
		if msg.streaming {
			c.cutMessage(Header{ParentToolUseID: parent}, msg)
		}
	}
}

func (c *Converter) cutMessage(h Header, msg *liveMessage) {
	h.MessageID = msg.id
	c.stopBlocks(h, msg)
	end := msg.end
	if end == nil {
		end = &MessageComplete{}
	}
	end.Header, end.Incomplete = h, true
	msg.streaming, msg.end = false, nil
	c.emit(end)
}
