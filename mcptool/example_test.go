package mcptool_test

import (
	"context"
	"fmt"
	"log"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/mcptool"
)

// callsTool returns options with a CLI that calls one tool and reports the result.
func callsTool(server, tool string, args map[string]any) *claude.Options {
	return &claude.Options{Spawner: claudetest.InProcess(func(cli *claudetest.CLI) int {
		cli.Handshake()
		cli.Prompt()
		answer, err := cli.Request("mcp_message", map[string]any{"server_name": server, "message": map[string]any{
			"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": args},
		}})
		if err != nil {
			cli.Turn(err.Error())
			return 0
		}
		cli.Turn(string(answer))
		return 0
	})}
}

// Define a tool as a function; the schema of its input is inferred from its type.
func ExampleNewTool() {
	type input struct {
		City string `json:"city" jsonschema:"the city's name"`
	}
	type weather struct {
		Degrees int    `json:"degrees"`
		Sky     string `json:"sky"`
	}
	tool := mcptool.NewTool("weather", "The weather of a city", func(ctx context.Context, in input) (weather, error) {
		if in.City != "Oslo" {
			return weather{}, fmt.Errorf("%s is not known", in.City) // the model sees the error
		}
		return weather{Degrees: -3, Sky: "clear"}, nil
	}, mcptool.Annotations(mcp.ToolAnnotations{ReadOnlyHint: true}))

	opts := callsTool("meteo", "weather", map[string]any{"city": "Oslo"})
	opts.MCPServers = map[string]claude.MCPServer{"meteo": {Server: mcptool.NewToolServer("meteo", "1.0.0", tool)}}
	opts.AllowedTools = []string{"mcp__meteo__weather"}
	result, err := claude.Run(context.Background(), "How is the weather in Oslo?", opts)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Result)
	// Output: {"mcp_response":{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"{\"degrees\":-3,\"sky\":\"clear\"}"}],"structuredContent":{"degrees":-3,"sky":"clear"}}}}
}

// Many clients may use a server, and it may change while they use it.
func ExampleNewToolServer() {
	add := mcptool.NewTool("add", "Adds two numbers", func(_ context.Context, in struct{ A, B float64 }) (string, error) {
		return fmt.Sprint(in.A + in.B), nil
	})
	server := claude.MCPServer{Server: mcptool.NewToolServer("calc", "1.0.0", add)}
	for _, a := range []int{1, 2} {
		opts := callsTool("calc", "add", map[string]any{"A": a, "B": 3})
		opts.MCPServers = map[string]claude.MCPServer{"calc": server}
		result, err := claude.Run(context.Background(), "Add them", opts)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(result.Result)
	}
	// Output:
	// {"mcp_response":{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"4"}]}}}
	// {"mcp_response":{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"5"}]}}}
}

// Use any server of the MCP SDK in the process.
func ExampleNewToolServer_anyServer() {
	type input struct {
		Name string `json:"name"`
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "greeter", Version: "2.0.0"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "greet"}, func(ctx context.Context, _ *mcp.CallToolRequest, in input) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "Hello " + in.Name}}}, nil, nil
	})
	opts := callsTool("greeter", "greet", map[string]any{"name": "Bo"})
	opts.MCPServers = map[string]claude.MCPServer{"greeter": {Server: server}}
	result, err := claude.Run(context.Background(), "Greet Bo", opts)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Result)
	// Output: {"mcp_response":{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"Hello Bo"}]}}}
}

// Report the progress of a tool, and the call of the model that it belongs to.
func ExampleCallInfo() {
	tool := mcptool.NewTool("slow", "Takes its time", func(ctx context.Context, _ struct{}) (string, error) {
		call := mcptool.CallInfo(ctx)
		for i := range 3 {
			if err := call.Progress(ctx, float64(i), 3, "working"); err != nil {
				return "", err
			}
		}
		return call.Name + " is done", nil
	})
	opts := callsTool("jobs", "slow", nil)
	opts.MCPServers = map[string]claude.MCPServer{"jobs": {Server: mcptool.NewToolServer("jobs", "1.0.0", tool)}}
	result, err := claude.Run(context.Background(), "Do it", opts)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Result)
	// Output: {"mcp_response":{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"slow is done"}]}}}
}
