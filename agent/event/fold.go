package event

import "strings"

// Apply folds an event into the conversation. It copies the data that it keeps.
func (c *Conversation) Apply(ev Event) {
	c.ready()
	c.index.steps++
	h := ev.Head()
	if s := h.SessionID; s != "" && s != c.SessionID {
		c.SessionID = kept(s)
	}
	if p := h.Provider; p != "" && p != c.Provider {
		c.Provider = kept(p)
	}
	switch ev := ev.(type) {
	case *TextDelta:
		if b := c.delta(&ev.Header, ev.Index, "text"); b != nil {
			b.Text.Append(ev.Text)
		}
	case *ThinkingDelta:
		if b := c.delta(&ev.Header, ev.Index, "thinking"); b != nil {
			b.Text.Append(ev.Thinking)
		}
	case *ToolInputDelta:
		if b := c.delta(&ev.Header, ev.Index, "tool_use"); b != nil {
			c.tool(b, ev.ToolUseID, "").InputText.Append(ev.PartialJSON)
		}
	case *BlockDelta:
		if b := c.delta(&ev.Header, ev.Index, ""); b != nil {
			b.add(ev)
		}
	default:
		c.applyStream(ev)
		c.settleSmall()
	}
}

// applyStream folds the events that start and end parts of a stream.
func (c *Conversation) applyStream(ev Event) {
	switch ev := ev.(type) {
	case *MessageStart:
		c.messageStart(ev)
	case *TextStart:
		c.start(&ev.Header, ev.Index, "text", func(b *Block) { b.Text = NewText(ev.Text) })
	case *ThinkingStart:
		c.start(&ev.Header, ev.Index, "thinking", func(b *Block) { b.Text, b.Summary = NewText(ev.Thinking), ev.Summary })
	case *ToolStart:
		c.start(&ev.Header, ev.Index, ev.BlockType, func(b *Block) {
			t := c.tool(b, ev.ToolUseID, ev.Name)
			t.Title, t.Kind = kept(ev.Title), kept(ev.Kind)
		})
	case *BlockStart:
		c.start(&ev.Header, ev.Index, ev.BlockType, func(b *Block) { b.Data = keptJSON(ev.Block) })
	case *ToolInputComplete: // the stop sets the input
	case *BlockStop:
		if m := c.known(&ev.Header); m != nil {
			if b := m.find(ev.Index); b != nil {
				m.stop(b, ev.Incomplete)
			}
		}
	case *MessageDelta:
		if m := c.known(&ev.Header); m != nil {
			m.message.end(ev.StopReason, ev.Usage)
		}
	case *MessageComplete:
		c.messageComplete(ev)
	default:
		c.applyWhole(ev)
	}
}

// applyWhole folds events that are not part of a stream.
func (c *Conversation) applyWhole(ev Event) {
	switch ev := ev.(type) {
	case *AssistantMessage:
		c.assistant(ev)
	case *UserMessage:
		c.user(ev)
	case *ToolComplete:
		c.toolComplete(ev)
	case *ToolProgress:
		c.toolProgress(ev)
	case *ResultMessage:
		c.result(ev)
	case *Error:
		c.add(ev.ParentToolUseID, &Item{Kind: ItemError, Error: keep(ev)})
	case *UnknownStream:
		c.add(ev.ParentToolUseID, &Item{Kind: ItemUnknown, Unknown: keep(&Unknown{OriginalType: ev.OriginalType, Data: ev.Data}), Stream: true})
	case *Unknown:
		c.add(ev.ParentToolUseID, &Item{Kind: ItemUnknown, Unknown: keep(ev)})
	default:
		c.applySession(ev)
	}
}

// kept returns a copy of a string, which does not keep its line in memory.
func kept(s string) string { return strings.Clone(s) }

// keptJSON returns a copy of a JSON text, which does not keep its line in memory.
func keptJSON(j JSON) JSON { return JSON(strings.Clone(string(j))) }

// keptLarge is like keptJSON but shares a large text, which is nearly all of its line.
func keptLarge(j JSON) JSON {
	if len(j) >= largeText {
		return j
	}
	return keptJSON(j)
}
