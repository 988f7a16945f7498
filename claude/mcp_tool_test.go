package claude_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/mcptool"
)

// returning returns a tool that returns a value.
func returning[Out any](name string, out Out) mcptool.Tool {
	return mcptool.NewTool(name, "", func(context.Context, struct{}) (Out, error) { return out, nil })
}

type point struct {
	X int `json:"x"`
}

func TestToolResults(t *testing.T) {
	failing := func(err error) mcptool.Tool {
		return mcptool.NewTool("t", "", func(context.Context, struct{}) (string, error) { return "lost", err })
	}
	audience := &mcp.Annotations{Audience: []mcp.Role{"user"}, Priority: 0.5}
	for _, tt := range []struct {
		name string
		tool mcptool.Tool
		want string
	}{
		{"text", returning("t", "<hi> & \u2028"), `{"content":[{"type":"text","text":"<hi> & \u2028"}]}`},
		{"no text", returning("t", ""), `{"content":[{"type":"text","text":""}]}`},
		{"structured", returning("t", point{1}), `{"content":[{"type":"text","text":"{\"x\":1}"}],"structuredContent":{"x":1}}`},
		{"structured pointer", returning("t", &point{1}), `{"content":[{"type":"text","text":"{\"x\":1}"}],"structuredContent":{"x":1}}`},
		{"nil pointer", returning[*point]("t", nil), `{"content":[{"type":"text","text":"null"}]}`},
		{"map", returning("t", map[string]any{"a": []int{1}}), `{"content":[{"type":"text","text":"{\"a\":[1]}"}],"structuredContent":{"a":[1]}}`},
		{"number", returning("t", 5), `{"content":[{"type":"text","text":"5"}]}`},
		{"list", returning("t", []int{1, 2}), `{"content":[{"type":"text","text":"[1,2]"}]}`},
		{"nothing", returning[any]("t", nil), `{"content":[]}`},
		{"any", returning[any]("t", "text"), `{"content":[{"type":"text","text":"text"}]}`},
		{"no content", returning[[]mcp.Content]("t", nil), `{"content":[]}`},
		{"nil content", returning("t", []mcp.Content{nil, &mcp.TextContent{Text: "a"}}), `{"content":[{"type":"text","text":"a"}]}`},
		{"nil result", returning[*mcp.CallToolResult]("t", nil), `{"content":[]}`},
		{"empty result", returning("t", &mcp.CallToolResult{}), `{"content":[]}`},
		{"typed nil structure", returning("t", &mcp.CallToolResult{StructuredContent: (*point)(nil)}), `{"content":[]}`},
		{"null structure", returning("t", &mcp.CallToolResult{StructuredContent: json.RawMessage("null")}), `{"content":[]}`},
		{"whole result", returning("t", &mcp.CallToolResult{
			Meta: mcp.Meta{"foo": "bar"}, IsError: true, StructuredContent: map[string]any{"y": 1},
			Content: []mcp.Content{&mcp.TextContent{Text: "a", Annotations: audience, Meta: mcp.Meta{"k": 1}}},
		}), `{"_meta":{"foo":"bar"},"isError":true,"structuredContent":{"y":1},"content":[{"type":"text","text":"a","annotations":{"audience":["user"],"priority":0.5},"_meta":{"k":1}}]}`},
		{"blocks", returning("t", []mcp.Content{
			&mcp.ImageContent{Data: []byte("png"), MIMEType: "image/png"},
			&mcp.AudioContent{Data: []byte{0, 0, 0}, MIMEType: "audio/wav"},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///a", MIMEType: "text/plain", Text: "resource text"}},
			&mcp.ResourceLink{URI: "file:///b.txt", Name: "b"},
		}), `{"content":[{"type":"image","data":"cG5n","mimeType":"image/png"},{"type":"audio","data":"AAAA","mimeType":"audio/wav"},
			{"type":"resource","resource":{"uri":"file:///a","mimeType":"text/plain","text":"resource text"}},{"type":"resource_link","uri":"file:///b.txt","name":"b"}]}`},
		{"error", failing(errors.New("it went wrong")), `{"content":[{"type":"text","text":"it went wrong"}],"isError":true}`},
		{"no JSON", returning("t", math.Inf(1)), `{"content":[{"type":"text","text":"the result cannot be encoded: json: unsupported value: +Inf"}],"isError":true}`},
		{"panic", mcptool.NewTool("t", "", func(context.Context, struct{}) (string, error) { panic("boom") }),
			`{"content":[{"type":"text","text":"the tool t panicked: boom"}],"isError":true}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := serveTools(t, tt.tool)
			wantJSON(t, w.say("calc", callMessage(2, "t", `{}`)), `{"jsonrpc":"2.0","id":2,"result":`+tt.want+`}`)
		})
	}
}

func TestToolArguments(t *testing.T) {
	type input struct {
		A    int     `json:"a"`
		Name *string `json:"name,omitempty" jsonschema:"whose it is"`
	}
	inferred := mcptool.NewTool("t", "", func(_ context.Context, in input) (any, error) { return in, nil })
	raw := mcptool.NewTool("t", "", func(_ context.Context, in json.RawMessage) (string, error) { return string(in), nil })
	given := mcptool.NewTool("t", "", func(_ context.Context, in map[string]any) (any, error) { return in, nil },
		mcptool.InputSchema(json.RawMessage(`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"n":{"type":"integer","default":7,"maximum":9}}}`)))
	for _, tt := range []struct {
		name       string
		tool       mcptool.Tool
		args, want string
		bad        bool
	}{
		{"good", inferred, `{"a":1,"name":"x"}`, `{"a":1,"name":"x"}`, false},
		{"missing", inferred, `{}`, `missing properties`, true},
		{"wrong type", inferred, `{"a":"str"}`, `Input validation error`, true},
		{"unknown", inferred, `{"a":1,"b":2}`, `additional properties`, true},
		{"raw", raw, `{"any":[1,"x"]}`, `{"any":[1,"x"]}`, false},
		{"default", given, `{}`, `{"n":7}`, false},
		{"too big", given, `{"n":10}`, `maximum`, true},
		{"null", given, `null`, `{"n":7}`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := serveTools(t, tt.tool)
			var got struct {
				Result struct {
					Content []struct{ Text string }
					IsError bool
				}
			}
			if err := json.Unmarshal([]byte(w.say("calc", callMessage(2, "t", tt.args))), &got); err != nil {
				t.Fatal(err)
			}
			if got.Result.IsError != tt.bad || len(got.Result.Content) != 1 || !strings.Contains(got.Result.Content[0].Text, tt.want) {
				t.Errorf("%+v; want got.Result.IsError == tt.bad and len(got.Result.Content) == 1 and strings.Contains(got.Result.Content[0].Text, tt.want)", got.Result)
			}
		})
	}
}

func TestToolOptions(t *testing.T) {
	w := serveTools(t, mcptool.NewTool("t", "d", func(context.Context, json.RawMessage) (string, error) { return "", nil },
		mcptool.Title("T"), mcptool.Annotations(mcp.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: new(false)}),
		mcptool.InputSchema(&jsonschema.Schema{Type: "object"}), mcptool.Meta("mine", 1), mcptool.AlwaysLoad(),
		mcptool.SearchHint("find me"), mcptool.MaxResultSize(1000), mcptool.EndTurn()))
	wantJSON(t, w.say("calc", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`), `{"jsonrpc":"2.0","id":1,"result":{"tools":[{
		"name":"t","description":"d","title":"T","annotations":{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":false},"inputSchema":{"type":"object"},
		"_meta":{"mine":1,"anthropic/alwaysLoad":true,"anthropic/searchHint":"find me","anthropic/maxResultSizeChars":1000,"claude/endTurn":true}}]}}`)
}

func TestAlwaysLoadOfAServer(t *testing.T) {
	server := claude.MCPServer{Server: mcptool.NewToolServer("calc", "1", returning("a", "x"), mcptool.NewTool("b", "", add, mcptool.Meta("k", "v")))}
	server.AlwaysLoad = true
	w := serveMCP(t, &claude.Options{MCPServers: map[string]claude.MCPServer{"calc": server}})
	if n := strings.Count(string(w.init), `"anthropic/alwaysLoad":true`); n != 2 {
		t.Errorf("%d tools are loaded: %s", n, w.init)
	}
	if !strings.Contains(string(w.init), `"k":"v"`) {
		t.Errorf("%s; want strings.Contains(string(w.init), `\"k\":\"v\"`)", w.init)
	}
}

func TestNewToolPanics(t *testing.T) {
	for name, make := range map[string]func(){
		"no object": func() { mcptool.NewTool("t", "", func(context.Context, int) (string, error) { return "", nil }) },
		"no schema": func() {
			mcptool.NewTool("t", "", func(context.Context, struct{ C chan int }) (string, error) { return "", nil })
		},
		"bad schema": func() {
			mcptool.NewTool("t", "", add, mcptool.InputSchema(json.RawMessage(`{"type":"object","$ref":"#/nowhere"}`)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if v, _ := recover().(string); !strings.Contains(v, `NewTool "t"`) {
					t.Errorf("panicked with %q", v)
				}
			}()
			make()
		})
	}
}

func TestCallInfo(t *testing.T) {
	var got *mcptool.Call
	w := serveTools(t, mcptool.NewTool("t", "", func(ctx context.Context, _ struct{}) (string, error) {
		got = mcptool.CallInfo(ctx)
		return "", nil
	}))
	w.say("calc", callMessage(2, "t", `{}`))
	if got.ToolUseID != "toolu_2" || got.Name != "t" || got.Session == nil || got.Meta["claudecode/toolUseId"] != "toolu_2" {
		t.Errorf("%+v; want got.ToolUseID == \"toolu_2\" and got.Name == \"t\" and got.Session != nil and got.Meta[\"claudecode/toolUseId\"] == \"toolu_2\"", got)
	}
	if call := mcptool.CallInfo(t.Context()); call.ToolUseID != "" || call.Progress(t.Context(), 1, 2, "") != nil {
		t.Errorf("%+v; want call.ToolUseID == \"\" and call.Progress(t.Context(), 1, 2, \"\") == nil", call)
	}
}

// A panic in a third-party server ends the call, not the process, and is logged once.
func TestPanicInAnyServer(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "any", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "t", InputSchema: &jsonschema.Schema{Type: "object"}}, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		panic("boom in " + mcptool.CallInfo(ctx).ToolUseID)
	})
	server.AddPrompt(&mcp.Prompt{Name: "p"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) { panic("prompt boom") })
	var log lockedBuffer
	w := serveMCP(t, &claude.Options{
		MCPServers: map[string]claude.MCPServer{"any": {Server: server}}, Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	wantJSON(t, w.say("any", callMessage(2, "t", `{}`)), `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"the tool t panicked: boom in toolu_2"}],"isError":true}}`)
	if got := w.say("any", `{"jsonrpc":"2.0","id":3,"method":"prompts/get","params":{"name":"p"}}`); !strings.Contains(got, "prompts/get panicked: prompt boom") {
		t.Errorf("got is %v; want strings.Contains(got, \"prompts/get panicked: prompt boom\")", got)
	}
	w.Close()
	if n := strings.Count(log.String(), "a tool server panicked"); n != 2 {
		t.Errorf("logged %d times: %s", n, log.String())
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
