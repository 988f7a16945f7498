package codex

import (
	"context"
	"errors"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/mcptool"
)

// TestToolAnswer checks that every result of a function of package mcptool reaches the model.
func TestToolAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		out  any
		want string
	}{
		"text":       {"open", `{"contentItems":[{"type":"inputText","text":"open"}],"success":true}`},
		"nothing":    {nil, `{"contentItems":[],"success":true}`},
		"object":     {map[string]int{"a": 1}, `{"contentItems":[{"type":"inputText","text":"{\"a\":1}"}],"success":true}`},
		"image":      {&mcp.ImageContent{MIMEType: "image/png", Data: []byte("x")}, `{"contentItems":[{"type":"inputImage","imageUrl":"data:image/png;base64,eA=="}],"success":true}`},
		"audio":      {&mcp.AudioContent{MIMEType: "audio/wav", Data: []byte("x")}, `{"contentItems":[{"type":"inputAudio","audioUrl":"data:audio/wav;base64,eA=="}],"success":true}`},
		"link":       {&mcp.ResourceLink{URI: "file:///a", Name: "a"}, `{"contentItems":[{"type":"inputText","text":"{\"type\":\"resource_link\",\"uri\":\"file:///a\",\"name\":\"a\"}"}],"success":true}`},
		"failed":     {&mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "no"}}}, `{"contentItems":[{"type":"inputText","text":"no"}],"success":false}`},
		"structured": {&mcp.CallToolResult{StructuredContent: map[string]int{"a": 1}}, `{"contentItems":[{"type":"inputText","text":"{\"a\":1}"}],"success":true}`},
	} {
		if got := string(item.ValueOf(toolAnswer(mcptool.Result(c.out)))); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestTakeTools checks that tools with indistinguishable names are rejected before the server gets them.
func TestTakeTools(t *testing.T) {
	tool := func(name string) mcptool.Tool {
		return mcptool.NewTool(name, "", func(context.Context, struct{}) (string, error) { return "", nil })
	}
	th := &Thread{client: &Client{opts: &Options{Experimental: true}}}
	if err := th.takeTools([]mcptool.Tool{tool("a"), tool("a")}); !errors.Is(err, ErrInvalid) {
		t.Errorf("two tools of one name: %v", err)
	}
	if err := th.takeTools([]mcptool.Tool{tool("not a name")}); !errors.Is(err, ErrInvalid) {
		t.Errorf("a bad name: %v", err)
	}
	if err := th.takeTools([]mcptool.Tool{tool("a"), tool("b")}); err != nil || len(th.tools) != 2 {
		t.Errorf("%v, %d tools", err, len(th.tools))
	}
}
