package ui

import (
	"strings"

	"github.com/seed7221b0f9/parley/claude"
)

// contentOf is a block in the terms of this package.
func contentOf(b claude.ContentBlock) Content {
	c := Content{Raw: rawOf(b)}
	if c.Raw == "" { // built, not decoded
		c.Raw = encoded(b)
	}
	switch b := b.(type) {
	case *claude.TextBlock:
		c.Type, c.Text = "text", b.Text
		if len(b.Citations) > 0 {
			all, _ := member(c.Raw, "citations")
			c.Citations = elements(all)
		}
	case *claude.ThinkingBlock:
		c.Type, c.Text, c.Signature = "thinking", b.Thinking, b.Signature
	case *claude.ToolUseBlock:
		c.Type, c.ToolUseID, c.Name, c.Input = "tool_use", b.ID, b.Name, checked(b.Input)
	case *claude.ServerToolUseBlock:
		c.Type, c.ToolUseID, c.Name, c.Input = "server_tool_use", b.ID, b.Name, checked(b.Input)
	case *claude.MCPToolUseBlock:
		c.Type, c.ToolUseID, c.Name, c.Input = "mcp_tool_use", b.ID, b.Name, checked(b.Input)
	case *claude.ServerToolResultBlock:
		c.Type, c.ToolUseID = b.Type, b.ToolUseID
	case *claude.MCPToolResultBlock:
		c.Type, c.ToolUseID = "mcp_tool_result", b.ToolUseID
	case *claude.UnknownBlock:
		c.Type = b.Type
	default:
		t, _ := member(c.Raw, "type")
		c.Type = text(t)
	}
	if strings.HasPrefix(string(c.Raw), `"`) {
		c.repair()
	}
	c.Raw = retyped(c.Raw, c.Type)
	return c
}

// repair makes a block whose JSON is broken inside one of what could be read of it.
// One of another type stays a text that nobody can look into.
func (c *Content) repair() {
	switch {
	case c.Type == "text":
		*c = textContent(c.Text)
	case c.Type == "thinking":
		c.Raw = encoded(map[string]string{"type": c.Type, "thinking": c.Text, "signature": c.Signature})
	case isTool(c.Type):
		c.Raw = encoded(map[string]any{"type": c.Type, "id": c.ToolUseID, "name": c.Name, "input": c.Input})
	default:
		c.ToolUseID = ""
	}
}

// ContentOf is a block in the terms of this package, from its JSON. A text that is no
// block has no type.
func ContentOf(block claude.JSON) Content {
	block = checked(block)
	m, err := claude.DecodeMessage([]byte(`{"type":"assistant","message":{"content":[` + string(block) + `]}}`))
	if a, ok := m.(*claude.AssistantMessage); err == nil && ok && len(a.Message.Content) == 1 && a.Message.Content[0] != nil {
		return contentOf(a.Message.Content[0])
	}
	return Content{Raw: block}
}

// isTool reports whether a block of this type calls a tool.
func isTool(blockType string) bool {
	return blockType == "tool_use" || blockType == "server_tool_use" || blockType == "mcp_tool_use"
}

// textContent is a text as a block.
func textContent(s string) Content {
	return Content{Type: "text", Text: s, Raw: `{"type":"text","text":` + quoted(s) + `}`}
}
