package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claudetest"
)

func TestXElicit(t *testing.T) {
	ask := claude.NewTool("ask", "asks", func(ctx context.Context, _ struct{}) (string, error) {
		s := claude.CallInfo(ctx).Session
		p, _ := json.Marshal(s.InitializeParams())
		fmt.Println("INIT", string(p))
		_ = claude.CallInfo(ctx).Progress(ctx, 1, 2, "half")
		res, err := s.Elicit(ctx, &mcp.ElicitParams{Message: "Your name?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`)})
		if err != nil {
			return "ERR " + err.Error(), nil
		}
		return fmt.Sprint(res.Action, res.Content), nil
	})
	w := newWorld(t,
		claudetest.Reply{Blocks: []claudetest.Block{claudetest.ToolUse("mcp__calc__ask", map[string]any{})}},
		claudetest.Reply{Blocks: []claudetest.Block{claudetest.Text("done")}},
	)
	w.opts.MCPServers = map[string]claude.MCPServer{"calc": claude.NewToolServer("calc", "1", ask)}
	w.opts.AllowedTools = []string{"mcp__calc"}
	talk := collect(claude.Query(t.Context(), "go", w.opts))
	for _, m := range talk.messages {
		fmt.Println(claude.Kind(m))
	}
	fmt.Println(w.asked(1))
}
