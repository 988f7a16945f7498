package api

import (
	"github.com/seed7221b0f9/parley/agent/event"
)

// Reader turns the messages of one session back into events. It is the inverse of a [Converter]:
// the events fold to the same conversation. The zero value is ready to use. A Reader must not be
// used by several goroutines at once.
type Reader struct {
	current map[string]string // the message that is streamed, by parent tool use
}

// Events returns the events of a message, or none for a message that means nothing by itself. The
// messages of a session must be given in their order.
func (r *Reader) Events(m Message) []event.Event {
	switch m := m.(type) {
	case *StreamEvent:
		if ev := r.stream(m); ev != nil {
			return []event.Event{ev}
		}
		return nil
	case *UserMessage:
		return userEvents(m)
	}
	if ev := eventOf(m); ev != nil {
		return []event.Event{ev}
	}
	return nil
}

// stream is the event of the API's stream, nil for one that says nothing by itself.
func (r *Reader) stream(m *StreamEvent) event.Event {
	h := event.Header{Provider: m.Provider, ParentToolUseID: m.ParentToolUseID, MessageID: m.APIMessageID, SessionID: m.SessionID}
	if h.MessageID == "" {
		h.MessageID = r.current[m.ParentToolUseID]
	}
	switch e := m.Event.(type) {
	case *MessageStartEvent:
		if e.Message.ID != "" {
			h.MessageID = e.Message.ID
		}
		if r.current == nil {
			r.current = map[string]string{}
		}
		r.current[m.ParentToolUseID] = h.MessageID
		return &event.MessageStart{Header: h, Model: e.Message.Model, Message: raw(&e.Message, e.Message.Extra)}
	case *ContentBlockStartEvent:
		return startEvent(h, e)
	case *ContentBlockDeltaEvent:
		return deltaEvent(h, e)
	case *ContentBlockStopEvent:
		return &event.BlockStop{Header: h, Index: e.Index, Incomplete: e.Incomplete}
	case *MessageDeltaEvent:
		return &event.MessageDelta{Header: h, StopReason: stopReason(e.Delta), Usage: e.Usage}
	case *MessageStopEvent:
		ev := &event.MessageComplete{Header: h, Incomplete: e.Incomplete}
		if m.AbandonedBlocks != nil {
			ev.AbandonedFrom = &m.AbandonedBlocks.FromBlockIndex
		}
		return ev
	case *UnknownEvent:
		return &event.UnknownStream{Header: h, OriginalType: e.OriginalType, Data: e.Data}
	}
	return nil
}

func stopReason(delta event.JSON) string {
	var d struct {
		StopReason string `json:"stop_reason"`
	}
	_ = delta.Decode(&d) // none is none
	return d.StopReason
}

// raw is the JSON of an object, absent where it has none.
func raw(v any, extra Extra) event.JSON {
	text, err := marshal(v, extra)
	if err != nil {
		return ""
	}
	return event.JSON(text)
}

func startEvent(h event.Header, e *ContentBlockStartEvent) event.Event {
	if e.ContentBlock == nil {
		return nil
	}
	c := contentOf(e.ContentBlock)
	switch b := e.ContentBlock.(type) {
	case *TextBlock:
		return &event.TextStart{Header: h, Index: e.Index, Text: b.Text, Block: c.Raw}
	case *ThinkingBlock:
		return &event.ThinkingStart{Header: h, Index: e.Index, Thinking: b.Thinking, Summary: b.Summary, Block: c.Raw}
	case *ToolUseBlock:
		return &event.ToolStart{Header: h, Index: e.Index, ToolUseID: b.ID, Name: b.ToolName, BlockType: b.Type(), Title: b.Title, Kind: b.Kind, Block: c.Raw}
	}
	switch c.Type { // of a block with a member of a strange type
	case "text":
		return &event.TextStart{Header: h, Index: e.Index, Text: c.Text, Block: c.Raw}
	case "thinking":
		return &event.ThinkingStart{Header: h, Index: e.Index, Thinking: c.Text, Summary: c.Summary, Block: c.Raw}
	}
	return &event.BlockStart{Header: h, Index: e.Index, BlockType: c.Type, Block: c.Raw}
}

func deltaEvent(h event.Header, e *ContentBlockDeltaEvent) event.Event {
	switch d := e.Delta.(type) {
	case *TextDelta:
		return &event.TextDelta{Header: h, Index: e.Index, Text: d.Text}
	case *ThinkingDelta:
		return &event.ThinkingDelta{Header: h, Index: e.Index, Thinking: d.Thinking}
	case *InputJSONDelta:
		return &event.ToolInputDelta{Header: h, Index: e.Index, PartialJSON: d.PartialJSON}
	case *UnknownDelta:
		return &event.BlockDelta{Header: h, Index: e.Index, DeltaType: d.OriginalType, Delta: d.Data}
	case *SignatureDelta:
		return &event.BlockDelta{Header: h, Index: e.Index, DeltaType: d.Type(), Delta: raw(d, d.Extra)}
	case *CitationsDelta:
		return &event.BlockDelta{Header: h, Index: e.Index, DeltaType: d.Type(), Delta: raw(d, d.Extra)}
	}
	return nil
}

// contentOf is a block in the terms of package ui.
func contentOf(b ContentBlock) event.Content {
	c := event.Content{Type: b.Type()}
	switch b := b.(type) {
	case *TextBlock:
		c.Text, c.Raw = b.Text, raw(b, b.Extra)
		c.Citations = list(b.Extra["citations"])
	case *ThinkingBlock:
		c.Text, c.Signature, c.Summary, c.Raw = b.Thinking, b.Signature, b.Summary, raw(b, b.Extra)
	case *ToolUseBlock:
		c.ToolUseID, c.Name, c.Title, c.Kind, c.Input, c.Raw = b.ID, b.ToolName, b.Title, b.Kind, b.Input, raw(b, b.Extra)
	case *OtherBlock:
		c.ToolUseID, c.Raw = text(b.Extra["tool_use_id"]), raw(b, b.Extra)
	case *UnknownBlock:
		c = event.ContentOf(b.Data)
		c.Type = b.OriginalType
	}
	return c
}
