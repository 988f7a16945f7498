package event

import (
	"strings"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// ContentOf decodes a block from its JSON. A text that is not a block has an empty Type.
func ContentOf(block JSON) Content {
	c := Content{Raw: NewJSON(string(block))}
	d := jsonwire.NewDecoder(string(c.Raw))
	if d.Kind() != '{' {
		return c
	}
	members := map[string]JSON{}
	for m := d.Members(); m.Next(); {
		members[m.Key] = JSON(d.Text())
	}
	c.Type = members["type"].Text()
	switch {
	case c.Type == "text":
		c.Text = members["text"].Text()
		if all := members["citations"].Elements(); len(all) > 0 {
			c.Citations = all
		}
	case c.Type == "thinking":
		c.Text, c.Signature = members["thinking"].Text(), members["signature"].Text()
		c.Summary = members["summary"] == "true"
	case IsTool(c.Type):
		c.ToolUseID, c.Name = members["id"].Text(), members["name"].Text()
		c.Title, c.Kind = members["title"].Text(), members["kind"].Text()
		c.Input, c.Content, c.Locations = Present(string(members["input"])), Present(string(members["content"])), Present(string(members["locations"]))
	default:
		c.ToolUseID = members["tool_use_id"].Text()
	}
	return c
}

// TextContent returns a content block of type text, with the API's JSON for it.
func TextContent(s string) Content {
	return Content{Type: "text", Text: s, Raw: `{"type":"text","text":` + Quote(s) + `}`}
}

// IsTool reports whether a block of this type is a tool call: of the agent, of the API, or of an
// MCP server.
func IsTool(blockType string) bool {
	return blockType == "tool_use" || blockType == "server_tool_use" || blockType == "mcp_tool_use"
}

// isServerResult reports whether a block of this type is the result of a server-side tool, which is
// in the same message as its call.
func isServerResult(blockType string) bool {
	return strings.HasSuffix(blockType, "_tool_result")
}
