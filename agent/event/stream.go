package event

import "reflect"

// streamEvent returns an event in the form of the API's stream, and nil for any other event.
func streamEvent(ev Event) wireEvent {
	switch ev := ev.(type) {
	case *BlockDelta:
		return &wireBlockDelta{Index: ev.Index, Delta: blockDelta(ev)}
	case *MessageStart:
		m := wireStreamMessage{ID: ev.MessageID, Model: ev.Model}
		m.Extra = layoutOf(reflect.TypeFor[wireStreamMessage]()).leftover(ev.Message)
		return &wireMessageStart{Message: m}
	case *TextStart:
		return &wireBlockStart{Index: ev.Index, ContentBlock: blockOr(ev.Block, "text", &wireText{Text: ev.Text})}
	case *ThinkingStart:
		b := blockOr(ev.Block, "thinking", &wireThinking{Thinking: ev.Thinking})
		if t, ok := b.(*wireThinking); ok {
			t.Summary = t.Summary || ev.Summary
		}
		return &wireBlockStart{Index: ev.Index, ContentBlock: b}
	case *ToolStart:
		c := Content{Type: ev.BlockType, ToolUseID: ev.ToolUseID, Name: ev.Name, Title: ev.Title, Kind: ev.Kind, Raw: ev.Block}
		return &wireBlockStart{Index: ev.Index, ContentBlock: toolBlock(&ev.Header, &c)}
	case *BlockStart:
		return &wireBlockStart{Index: ev.Index, ContentBlock: blockOr(ev.Block, ev.BlockType, &wireUnknownBlock{OriginalType: ev.BlockType})}
	case *BlockStop:
		return &wireBlockStop{Index: ev.Index, Incomplete: ev.Incomplete}
	case *UnknownStream:
		return &wireUnknownEvent{OriginalType: ev.OriginalType, Data: ev.Data}
	}
	return nil
}

func blockDelta(ev *BlockDelta) wireDelta {
	data := []byte(ev.Delta)
	d, err := wireDelta(nil), valid(data)
	if err == nil {
		d, err = decodeUnion(data, wireDeltas, func(t string, text JSON) wireDelta { return &wireUnknownDelta{OriginalType: t, Data: text} })
	}
	if err != nil {
		return &wireUnknownDelta{OriginalType: ev.DeltaType, Data: ev.Delta}
	}
	return d
}

// messageDelta returns the first of the two messages that end an answer. A client that gets only
// one of them waits, so both are always sent.
func messageDelta(ev *MessageComplete) *wireMessageDelta {
	delta := &wireMessageDelta{Delta: `{"stop_reason":null}`}
	if ev.Delta != "" {
		data := []byte(ev.Delta)
		if valid(data) == nil {
			if typ, err := typeOf(data); err == nil && typ == "message_delta" {
				if d := new(wireMessageDelta); fill(data, d) == nil {
					delta = d
				}
			}
		}
	} else if ev.StopReason != "" || ev.Usage != "" {
		delta.Delta = `{"stop_reason":` + Quote(ev.StopReason) + `}`
		delta.Usage = ev.Usage
	}
	return delta
}

// event returns an event of a stream, and nil for one without a meaning on its own.
func (d *Decoder) event(m *wireStream) Event {
	h := Header{Provider: m.Provider, ParentToolUseID: m.ParentToolUseID, MessageID: m.APIMessageID, SessionID: m.SessionID, Extra: m.Extra}
	if h.MessageID == "" {
		h.MessageID = d.current[m.ParentToolUseID]
	}
	switch e := m.Event.(type) {
	case *wireMessageStart:
		if e.Message.ID != "" {
			h.MessageID = e.Message.ID
		}
		put(&d.current, m.ParentToolUseID, h.MessageID)
		return &MessageStart{Header: h, Model: e.Message.Model, Message: text(&e.Message)}
	case *wireBlockStart:
		return startEvent(h, e)
	case *wireBlockDelta:
		return deltaEvent(h, e)
	case *wireBlockStop:
		return &BlockStop{Header: h, Index: e.Index, Incomplete: e.Incomplete}
	case *wireMessageDelta:
		stop, _ := e.Delta.Member("stop_reason")
		return &MessageDelta{Header: h, StopReason: stop.Text(), Usage: e.Usage}
	case *wireMessageStop:
		ev := &MessageComplete{Header: h, Incomplete: e.Incomplete}
		if m.AbandonedBlocks != nil {
			ev.AbandonedFrom = &m.AbandonedBlocks.FromBlockIndex
		}
		return ev
	case *wireUnknownEvent:
		return &UnknownStream{Header: h, OriginalType: e.OriginalType, Data: e.Data}
	}
	return nil
}

func startEvent(h Header, e *wireBlockStart) Event {
	if e.ContentBlock == nil {
		return nil
	}
	c := contentOf(e.ContentBlock)
	switch { // by the content: a block with a member of an unexpected type is unknown, but has a type
	case c.Type == "text":
		return &TextStart{Header: h, Index: e.Index, Text: c.Text, Block: c.Raw}
	case c.Type == "thinking":
		return &ThinkingStart{Header: h, Index: e.Index, Thinking: c.Text, Summary: c.Summary, Block: c.Raw}
	}
	if b, ok := e.ContentBlock.(*wireToolUse); ok {
		return &ToolStart{Header: h, Index: e.Index, ToolUseID: b.ID, Name: b.ToolName, BlockType: b.BlockType, Title: b.Title, Kind: b.Kind, Block: c.Raw}
	}
	return &BlockStart{Header: h, Index: e.Index, BlockType: c.Type, Block: c.Raw}
}

func deltaEvent(h Header, e *wireBlockDelta) Event {
	switch d := e.Delta.(type) {
	case *wireTextDelta:
		return &TextDelta{Header: h, Index: e.Index, Text: d.Text}
	case *wireThinkingDelta:
		return &ThinkingDelta{Header: h, Index: e.Index, Thinking: d.Thinking}
	case *wireInputDelta:
		return &ToolInputDelta{Header: h, Index: e.Index, PartialJSON: d.PartialJSON}
	case *wireUnknownDelta:
		return &BlockDelta{Header: h, Index: e.Index, DeltaType: d.OriginalType, Delta: d.Data}
	case nil:
		return nil
	}
	return &BlockDelta{Header: h, Index: e.Index, DeltaType: typeName(e.Delta), Delta: text(e.Delta)}
}
