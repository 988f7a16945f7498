package claudeevent

import (
	"encoding/json"
	"strings"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/message"
)

// kept returns a copy of s, so that it does not keep its line in memory.
func kept(s string) string { return strings.Clone(s) }

// rawOf returns the text that a value was decoded from.
func rawOf(v interface{ Raw() json.RawMessage }) event.JSON { return event.NewJSON(string(v.Raw())) }

// retyped returns a JSON object with the member type set to typ. If an object has two
// members type, package claude uses the first and all other readers use the last.
func retyped(object event.JSON, typ string) event.JSON {
	j, ok := object.Member("type")
	if !ok || j.Text() == typ {
		return object
	}
	var members map[string]json.RawMessage
	if object.Decode(&members) != nil {
		return object
	}
	members["type"] = json.RawMessage(event.Quote(typ))
	return event.Encoded(members)
}

// contentOf converts a block to the content type of package event.
func contentOf(b message.ContentBlock) event.Content {
	raw := rawOf(b)
	if raw == "" { // built, not decoded
		if t, ok := b.(*message.Text); ok && len(t.Citations) == 0 {
			return event.Content{Type: "text", Text: t.Text} // it may be large
		}
		raw = event.Encoded(b)
	}
	typ := blockType(b, raw)
	if strings.HasPrefix(string(raw), `"`) {
		return repaired(b, typ, raw)
	}
	return event.ContentOf(retyped(raw, typ))
}

// blockType returns the type that package claude gave a block.
func blockType(b message.ContentBlock, raw event.JSON) string {
	switch b := b.(type) {
	case *message.Text:
		return "text"
	case *message.Thinking:
		return "thinking"
	case *message.ToolUse:
		return "tool_use"
	case *message.ServerToolUse:
		return "server_tool_use"
	case *message.MCPToolUse:
		return "mcp_tool_use"
	case *message.ServerToolResult:
		return b.Type
	case *message.MCPToolResult:
		return "mcp_tool_result"
	case *message.UnknownBlock:
		return b.Type
	}
	t, _ := raw.Member("type")
	return t.Text()
}

// repaired returns a replacement for a block with invalid JSON inside, made from its
// decoded fields. A block of any other type becomes opaque text.
func repaired(b message.ContentBlock, typ string, raw event.JSON) event.Content {
	var id, name string
	var input message.JSON
	switch b := b.(type) {
	case *message.Text:
		return event.TextContent(b.Text)
	case *message.Thinking:
		return event.ContentOf(event.Encoded(map[string]string{"type": typ, "thinking": b.Thinking, "signature": b.Signature}))
	case *message.ToolUse:
		id, name, input = b.ID, b.Name, b.Input
	case *message.ServerToolUse:
		id, name, input = b.ID, b.Name, b.Input
	case *message.MCPToolUse:
		id, name, input = b.ID, b.Name, b.Input
	default:
		return event.Content{Type: typ, Raw: raw}
	}
	return event.ContentOf(event.Encoded(map[string]any{"type": typ, "id": id, "name": name, "input": event.NewJSON(string(input))}))
}
