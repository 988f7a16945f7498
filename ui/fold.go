package ui

import (
	"strings"

	"github.com/seed7221b0f9/parley/claude"
)

// Apply folds an event into the conversation. What it keeps of the event it copies.
func (c *Conversation) Apply(ev Event) {
	c.ready()
	if s := ev.Head().SessionID; s != "" && s != c.SessionID {
		c.SessionID = kept(s)
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
	case *MessageStart:
		c.messageStart(ev)
	case *TextStart:
		c.start(&ev.Header, ev.Index, "text", func(b *Block) { b.Text = NewText(ev.Text) })
	case *ThinkingStart:
		c.start(&ev.Header, ev.Index, "thinking", func(b *Block) { b.Text = NewText(ev.Thinking) })
	case *ToolStart:
		c.start(&ev.Header, ev.Index, ev.BlockType, func(b *Block) { c.tool(b, ev.ToolUseID, ev.Name) })
	case *BlockStart:
		c.start(&ev.Header, ev.Index, ev.BlockType, func(b *Block) { b.Data = keptJSON(ev.Block) })
	case *ToolInputComplete: // the stop does it
	case *BlockStop:
		c.blockStop(ev)
	case *MessageDelta:
		if m := c.index.messages[messageKey{ev.ParentToolUseID, ev.MessageID}]; m != nil {
			m.end(ev.StopReason, ev.Usage)
		}
	case *MessageComplete:
		c.messageComplete(ev)
	default:
		c.applyWhole(ev)
	}
}

// applyWhole folds what is no part of a stream.
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
		c.thread(ev.ParentToolUseID).add(&Item{Kind: ItemError, Error: &Failure{Message: kept(ev.Message)}})
	case *UnknownStream:
		c.thread(ev.ParentToolUseID).add(&Item{Kind: ItemUnknown,
			Unknown: &UnknownItem{OriginalType: kept(ev.OriginalType), Stream: true, Data: keptJSON(ev.Data)}})
	case *Unknown:
		c.unknown(ev)
	default:
		c.applySession(ev)
	}
}

// kept is a string that outlives its line.
func kept(s string) string { return strings.Clone(s) }

// keptJSON is a JSON text that outlives its line.
func keptJSON(j claude.JSON) claude.JSON { return claude.JSON(strings.Clone(string(j))) }

// keptAll are strings that outlive their line.
func keptAll(list []string) []string {
	var all []string
	for _, s := range list {
		all = append(all, kept(s))
	}
	return all
}
