package codex_test

import (
	"context"
	"os"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
)

// serveVariable makes the test program an MCP server on stdin and stdout.
const serveVariable = "PARLEY_TEST_MCP_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(serveVariable) != "" {
		if err := mcpServer().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// mcpServer has a tool that only reads, one that writes, and one that asks the user.
func mcpServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "probe", Version: "1"}, nil)
	type in struct {
		Text string `json:"text,omitempty"`
	}
	say := func(text string) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
	}
	mcp.AddTool(s, &mcp.Tool{Name: "echo", Description: "Echoes.", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(_ context.Context, _ *mcp.CallToolRequest, a in) (*mcp.CallToolResult, any, error) {
			return say("echo " + a.Text)
		})
	mcp.AddTool(s, &mcp.Tool{Name: "write_note", Description: "Writes."},
		func(_ context.Context, _ *mcp.CallToolRequest, a in) (*mcp.CallToolResult, any, error) {
			return say("wrote " + a.Text)
		})
	mcp.AddTool(s, &mcp.Tool{Name: "ask", Description: "Asks.", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(ctx context.Context, r *mcp.CallToolRequest, _ in) (*mcp.CallToolResult, any, error) {
			res, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "Which colour?", RequestedSchema: map[string]any{
				"type": "object", "properties": map[string]any{"colour": map[string]any{"type": "string"}}, "required": []string{"colour"},
			}})
			if err != nil {
				return nil, nil, err
			}
			colour, _ := res.Content["colour"].(string)
			return say(res.Action + " " + colour)
		})
	return s
}
