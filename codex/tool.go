package codex

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/mcptool"
)

// takeTools checks the tools of a thread and stores them by name.
func (t *Thread) takeTools(tools []mcptool.Tool) error {
	if len(tools) == 0 {
		return nil
	}
	if !t.client.opts.Experimental {
		return fmt.Errorf("codex: tools of this process: %w", ErrExperimental)
	}
	if err := mcptool.CheckTools(tools); err != nil {
		return fmt.Errorf("codex: %w: %w", ErrInvalid, err)
	}
	t.tools = map[string]mcptool.Tool{}
	for _, tool := range tools {
		t.tools[tool.Name()] = tool
	}
	return nil
}

func toolSpecs(tools []mcptool.Tool) []any {
	var list []any
	for _, t := range tools {
		def := t.Definition()
		list = append(list, map[string]any{"type": "function", "name": def.Name, "description": def.Description, "inputSchema": def.InputSchema})
	}
	return list
}

// callTool runs a tool of the thread.
func (c *Client) callTool(ctx context.Context, req *item.ToolCallRequest) any {
	var tool mcptool.Tool
	found := false
	c.update(func(r *routes) {
		t := r.threads[req.ThreadID]
		for depth := 0; t != nil && t.handle == nil && t.origin != nil && depth < maxOrphans; depth++ {
			t = r.threads[t.origin.ThreadID] // a subagent has the tools of its parent
		}
		if t != nil && t.handle != nil {
			tool, found = t.handle.tools[req.Tool]
		}
	})
	if !found {
		return failedCall(fmt.Sprintf("unknown tool %q", req.Tool))
	}
	info := &mcptool.Call{ToolUseID: req.CallID, Name: req.Tool}
	ctx = mcptool.WithPanicReport(ctx, func(value any, stack []byte) {
		c.opts.Logger.Error("codex: a tool panicked", "tool", req.Tool, "panic", fmt.Sprint(value), "stack", string(stack))
	})
	result, err := callback(ctx, c, "the tool "+req.Tool, func(ctx context.Context) (*mcp.CallToolResult, error) {
		return tool.Call(ctx, info, json.RawMessage(req.Arguments)), nil
	})
	if err != nil {
		return failedCall(err.Error())
	}
	return toolAnswer(result)
}

func failedCall(text string) any {
	return map[string]any{"contentItems": []item.ToolContent{textContent(text)}, "success": false}
}

// toolAnswer converts a result to the server's form. Structured content without other content is
// sent as its JSON.
func toolAnswer(r *mcp.CallToolResult) any {
	content := []item.ToolContent{}
	for _, c := range r.Content {
		content = append(content, toolContent(c))
	}
	if len(content) == 0 && r.StructuredContent != nil {
		content = append(content, textContent(string(item.ValueOf(r.StructuredContent))))
	}
	return map[string]any{"contentItems": content, "success": !r.IsError}
}

// toolContent converts a block to the server's form. Blocks without a corresponding form are sent
// as their JSON text, so that the model sees them.
func toolContent(c mcp.Content) item.ToolContent {
	switch c := c.(type) {
	case *mcp.TextContent:
		return textContent(c.Text)
	case *mcp.ImageContent:
		return item.ToolContent{Type: "inputImage", ImageURL: dataURL(c.MIMEType, c.Data)}
	case *mcp.AudioContent:
		return item.ToolContent{Type: "inputAudio", AudioURL: dataURL(c.MIMEType, c.Data)}
	}
	text, err := c.MarshalJSON()
	if err != nil {
		return textContent("a block that cannot be encoded: " + err.Error())
	}
	return textContent(string(text))
}

func textContent(text string) item.ToolContent {
	return item.ToolContent{Type: "inputText", Text: &text}
}

func dataURL(mediaType string, data []byte) string {
	return "data:" + mediaType + ";base64," + base64.StdEncoding.EncodeToString(data)
}
