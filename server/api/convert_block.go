package api

import (
	"encoding/json"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// clean is a JSON text in the form that messages have: compact, null for absent.
func clean(j event.JSON) event.JSON {
	if j == "" || j == "null" {
		return ""
	}
	return compact([]byte(j))
}

func quote(s string) []byte { return jsonwire.AppendString(nil, s) }

// blockOr is the block of a JSON text and its type, or another where there is none.
func blockOr(raw event.JSON, blockType string, other ContentBlock) ContentBlock {
	if raw == "" {
		return other
	}
	b, err := checked(raw, decodeBlock)
	if err != nil {
		// A member of a strange type: the block goes as one that is not known.
		return &UnknownBlock{OriginalType: blockType, Data: clean(raw)}
	}
	return tidied(b)
}

// tidied is a block with its JSON texts in the form that messages have.
func tidied(b ContentBlock) ContentBlock {
	switch b := b.(type) {
	case *ToolUseBlock:
		b.Input = clean(b.Input)
		b.Extra = b.Extra.tidied()
	case *ToolResultBlock:
		b.Content = clean(b.Content)
		b.Extra = b.Extra.tidied()
	case *TextBlock:
		b.Extra = b.Extra.tidied()
	case *ThinkingBlock:
		b.Extra = b.Extra.tidied()
	case *OtherBlock:
		b.Extra = b.Extra.tidied()
	}
	return b
}

func (e Extra) tidied() Extra {
	for name, raw := range e {
		e[name] = json.RawMessage(compact(raw))
	}
	return e
}

// toolBlock is the call of a tool. Members of the API's block that have no field go
// along.
func toolBlock(h *event.Header, c *event.Content) *ToolUseBlock {
	b := &ToolUseBlock{}
	b.Extra = leftover(c.Raw, b)
	b.ID, b.ToolName, b.ToolType, b.Name = c.ToolUseID, c.Name, event.ToolType(h.Provider, c.Name), c.Name
	b.Input, b.Status, b.Title, b.Kind = clean(c.Input), event.ToolInProgress, c.Title, c.Kind
	if c.Type != "tool_use" {
		b.BlockType = c.Type
	}
	return b
}

// thinkingBlock is the start of a thinking block.
func thinkingBlock(ev *event.ThinkingStart) ContentBlock {
	b := blockOr(ev.Block, "thinking", &ThinkingBlock{Thinking: ev.Thinking})
	if t, ok := b.(*ThinkingBlock); ok {
		t.Summary = t.Summary || ev.Summary
	}
	return b
}

// contentBlock is a whole block.
func contentBlock(h *event.Header, c *event.Content) ContentBlock {
	switch c.Type {
	case "tool_use", "server_tool_use", "mcp_tool_use":
		return toolBlock(h, c)
	case "text":
		return blockOr(c.Raw, c.Type, &TextBlock{Text: c.Text})
	case "thinking":
		return blockOr(c.Raw, c.Type, &ThinkingBlock{Thinking: c.Text, Signature: c.Signature, Summary: c.Summary})
	case "tool_result": // results are messages of their own; one that is none of them goes as it is
		return &UnknownBlock{OriginalType: c.Type, Data: clean(c.Raw)}
	}
	return blockOr(c.Raw, c.Type, &UnknownBlock{OriginalType: c.Type})
}

func deltaOf(ev *event.BlockDelta) Delta {
	d, err := checked(ev.Delta, decodeDelta)
	if err != nil {
		return &UnknownDelta{OriginalType: ev.DeltaType, Data: clean(ev.Delta)}
	}
	if c, ok := d.(*CitationsDelta); ok {
		c.Citation = clean(c.Citation)
	}
	return d
}

func streamMessage(ev *event.MessageStart) StreamMessage {
	m := StreamMessage{ID: ev.MessageID, Model: ev.Model}
	m.Extra = leftover(ev.Message, &m)
	return m
}
