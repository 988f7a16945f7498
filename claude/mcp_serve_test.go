package claude_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/mcptool"
)

// mcpWorld is a client with a scripted CLI.
type mcpWorld struct {
	*claude.Client
	t    *testing.T
	cli  *claudetest.CLI
	init message.JSON // the request
}

// serveMCP connects a client to a CLI that the test controls.
func serveMCP(t *testing.T, opts *claude.Options) *mcpWorld {
	t.Helper()
	w := &mcpWorld{t: t}
	clis := make(chan *claudetest.CLI, 1)
	opts.Spawner = claudetest.InProcess(func(cli *claudetest.CLI) int {
		req, err := cli.Handshake()
		if err != nil {
			return 1
		}
		w.init = req.Request
		clis <- cli
		<-cli.InputEnd()
		return 0
	})
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	c, err := claude.Connect(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	w.Client, w.cli = c, <-clis
	t.Cleanup(func() { c.Close() })
	return w
}

func serveTools(t *testing.T, tools ...mcptool.Tool) *mcpWorld {
	t.Helper()
	return serveMCP(t, &claude.Options{MCPServers: map[string]claude.MCPServer{"calc": {Server: mcptool.NewToolServer("calc", "1.0.0", tools...)}}})
}

func (w *mcpWorld) start(server, message string) *claudetest.Pending {
	return w.cli.StartRequest("mcp_message", map[string]any{"server_name": server, "message": json.RawMessage(message)})
}

// say sends a message to a server and returns the whole mcp_response.
func (w *mcpWorld) say(server, message string) string {
	w.t.Helper()
	return answerOf(w.t, w.start(server, message))
}

func answerOf(t *testing.T, p *claudetest.Pending) string {
	t.Helper()
	raw, err := p.Wait()
	if err != nil {
		t.Fatal(err)
	}
	var answer map[string]json.RawMessage
	if err := json.Unmarshal(raw, &answer); err != nil || len(answer) != 1 {
		t.Fatalf("%s: %v; want err == nil and len(answer) == 1", raw, err)
	}
	return string(answer["mcp_response"])
}

func callMessage(id int, tool, args string) string {
	return fmt.Sprintf(`{"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"claudecode/toolUseId":"toolu_%d","progressToken":%d}},"jsonrpc":"2.0","id":%d}`, tool, args, id, id, id)
}

// wantJSON compares JSON by value.
func wantJSON(t *testing.T, got, want string) {
	t.Helper()
	var g, w any
	if err := json.Unmarshal([]byte(got), &g); err != nil {
		t.Fatalf("%q: %v", got, err)
	}
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatalf("%q: %v", want, err)
	}
	if diff := cmp.Diff(w, g); diff != "" {
		t.Errorf("%s", diff)
	}
}

type sum struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

func add(_ context.Context, in sum) (string, error) { return fmt.Sprint(in.A + in.B), nil }

func TestManifestsGoWithInitialize(t *testing.T) {
	w := serveTools(t, mcptool.NewTool("add", "the add tool", add))
	wantJSON(t, string(w.init), `{"subtype":"initialize","systemPrompt":[""],"sdkMcpServers":["calc"],"sdkMcpServerManifests":{"calc":{
		"initializeResult":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"calc","version":"1.0.0"}},
		"toolsListResult":{"tools":[{"name":"add","description":"the add tool","inputSchema":{"type":"object","additionalProperties":false,
			"properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}}]}}}}`)
	// The CLI begins with the call, without initialize.
	wantJSON(t, w.say("calc", callMessage(2, "add", `{"a":2,"b":3}`)), `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"5"}]}}`)
}

func TestHandshakeByTheCLI(t *testing.T) {
	w := serveMCP(t, &claude.Options{
		Env:        map[string]string{"CLAUDE_AGENT_SDK_DISABLE_MCP_MANIFESTS": "1"},
		MCPServers: map[string]claude.MCPServer{"calc": {Server: mcptool.NewToolServer("calc", "1.0.0", mcptool.NewTool("add", "", add))}},
	})
	wantJSON(t, string(w.init), `{"subtype":"initialize","systemPrompt":[""],"sdkMcpServers":["calc"]}`)
	w.handshake("calc")
	w.handshake("calc") // a reconnection: a new session
}

func (w *mcpWorld) handshake(server string) {
	w.t.Helper()
	wantJSON(w.t, w.say(server, `{"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"claude-code","version":"2.1.325"}},"jsonrpc":"2.0","id":0}`),
		`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"calc","version":"1.0.0"}}}`)
	wantJSON(w.t, w.say(server, `{"jsonrpc":"2.0","method":"notifications/initialized"}`), `{"jsonrpc":"2.0","result":{},"id":0}`)
	if list := w.say(server, `{"method":"tools/list","jsonrpc":"2.0","id":1}`); !strings.Contains(list, `"add"`) {
		w.t.Errorf("list is %v; want strings.Contains(list, `\"add\"`)", list)
	}
	wantJSON(w.t, w.say(server, callMessage(2, "add", `{"a":1,"b":1}`)), `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"2"}]}}`)
}

// The CLI delays its answer to initialize until a server has answered it.
func TestServersAnswerBeforeTheHandshakeEnds(t *testing.T) {
	opts := &claude.Options{
		Env:        map[string]string{"CLAUDE_AGENT_SDK_DISABLE_MCP_MANIFESTS": "1"},
		MCPServers: map[string]claude.MCPServer{"calc": {Server: mcptool.NewToolServer("calc", "1", mcptool.NewTool("add", "", add))}},
	}
	opts.Spawner = claudetest.InProcess(func(cli *claudetest.CLI) int {
		req, err := cli.AwaitInitialize()
		if err != nil {
			return 1
		}
		_, err = cli.Request("mcp_message", map[string]any{"server_name": "calc", "message": json.RawMessage(
			`{"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}},"jsonrpc":"2.0","id":0}`)})
		cli.Respond(req.ID, cli.Info, err)
		<-cli.InputEnd()
		return 0
	})
	c, err := claude.Connect(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

func TestUnknownServerAndBadMessages(t *testing.T) {
	w := serveTools(t, mcptool.NewTool("add", "", add))
	for _, tt := range []struct{ server, message, want string }{
		{"nope", callMessage(2, "add", `{}`), "SDK MCP server not found: nope"},
		{"calc", `{"jsonrpc":"1.0"}`, "calc"},
		{"calc", `[]`, "calc"},
	} {
		_, err := w.start(tt.server, tt.message).Wait()
		if e, ok := errors.AsType[*claude.ControlError](err); !ok || !strings.Contains(e.Message, tt.want) {
			t.Errorf("%s: %v; want ok and strings.Contains(e.Message, tt.want)", tt.message, err)
		}
	}
	if got := w.say("calc", `{"jsonrpc":"2.0","id":7,"method":"no/such"}`); !strings.Contains(got, "-32601") {
		t.Errorf("got is %v; want strings.Contains(got, \"-32601\")", got)
	}
	if got := w.say("calc", callMessage(8, "nope", `{}`)); !strings.Contains(got, "unknown tool") {
		t.Errorf("got is %v; want strings.Contains(got, \"unknown tool\")", got)
	}
	wantJSON(t, w.say("calc", `{"jsonrpc":"2.0","id":9,"method":"ping"}`), `{"jsonrpc":"2.0","id":9,"result":{}}`)
}

func TestNoServersNoMembers(t *testing.T) {
	w := serveMCP(t, &claude.Options{})
	wantJSON(t, string(w.init), `{"subtype":"initialize","systemPrompt":[""]}`)
	if _, err := w.start("x", callMessage(1, "a", `{}`)).Wait(); err == nil || !strings.Contains(err.Error(), "SDK MCP server not found: x") {
		t.Error(err)
	}
}

// waits is a tool that runs until its context ends or the test releases it.
type waits struct {
	begun, ended chan string
	release      map[string]chan struct{}
}

func newWaits(names ...string) *waits {
	w := &waits{begun: make(chan string, 10), ended: make(chan string, 10), release: map[string]chan struct{}{}}
	for _, n := range names {
		w.release[n] = make(chan struct{})
	}
	return w
}

func (w *waits) tool() mcptool.Tool {
	return mcptool.NewTool("wait", "", func(ctx context.Context, in struct {
		Name string `json:"name"`
	}) (string, error) {
		w.begun <- in.Name
		select {
		case <-w.release[in.Name]:
			return in.Name, nil
		case <-ctx.Done():
			w.ended <- in.Name
			return "", context.Cause(ctx)
		}
	})
}

func TestParallelCallsAnswerOutOfOrder(t *testing.T) {
	tool := newWaits("a", "b")
	w := serveTools(t, tool.tool())
	a := w.start("calc", callMessage(2, "wait", `{"name":"a"}`))
	b := w.start("calc", callMessage(3, "wait", `{"name":"b"}`))
	<-tool.begun
	<-tool.begun
	close(tool.release["b"])
	wantJSON(t, answerOf(t, b), `{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"b"}]}}`)
	select {
	case <-a.Done():
		t.Error("a was answered")
	default:
	}
	close(tool.release["a"])
	wantJSON(t, answerOf(t, a), `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"a"}]}}`)
}

func TestCancelledCallIsNeverAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool := newWaits("a")
		w := serveTools(t, tool.tool())
		a := w.start("calc", callMessage(2, "wait", `{"name":"a"}`))
		<-tool.begun
		wantJSON(t, w.say("calc", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"enough"}}`),
			`{"jsonrpc":"2.0","result":{},"id":0}`)
		if got := <-tool.ended; got != "a" {
			t.Errorf("got is %v; want got == \"a\"", got)
		}
		synctest.Wait()
		select {
		case <-a.Done():
			t.Error("answered")
		default:
		}
		w.Close()
	})
}

// The CLI's requests are handled concurrently, so a cancellation may arrive first.
func TestCancellationBeforeTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool := newWaits("a")
		w := serveTools(t, tool.tool())
		w.say("calc", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
		a := w.start("calc", callMessage(2, "wait", `{"name":"a"}`))
		synctest.Wait()
		select {
		case <-a.Done():
			t.Error("answered")
		case <-tool.begun:
			t.Error("called")
		default:
		}
		w.start("calc", callMessage(2, "wait", `{"name":"a"}`)) // another call with that id
		synctest.Wait()
		select {
		case <-tool.begun:
		default:
			t.Error("a cancellation counts for two calls")
		}
		w.Close()
	})
}

// Cancelling a control request cancels its call.
func TestWithdrawnRequestCancelsTheCall(t *testing.T) {
	tool := newWaits("a")
	w := serveTools(t, tool.tool())
	a := w.start("calc", callMessage(2, "wait", `{"name":"a"}`))
	<-tool.begun
	a.Cancel()
	if got := <-tool.ended; got != "a" {
		t.Errorf("got is %v; want got == \"a\"", got)
	}
}

func TestCloseCancelsCalls(t *testing.T) {
	tool := newWaits("a", "b")
	w := serveTools(t, tool.tool())
	w.start("calc", callMessage(2, "wait", `{"name":"a"}`))
	w.start("calc", callMessage(3, "wait", `{"name":"b"}`))
	<-tool.begun
	<-tool.begun
	w.Close()
	if len(tool.ended) != 2 {
		t.Errorf("%d calls have ended", len(tool.ended))
	}
}

func TestReconnectionEndsTheCallsOfTheOldSession(t *testing.T) {
	tool := newWaits("a")
	w := serveTools(t, tool.tool())
	a := w.start("calc", callMessage(2, "wait", `{"name":"a"}`))
	<-tool.begun
	w.say("calc", `{"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}},"jsonrpc":"2.0","id":0}`)
	if got := <-tool.ended; got != "a" {
		t.Errorf("got is %v; want got == \"a\"", got)
	}
	if _, err := a.Wait(); err == nil {
		t.Error("the call was answered")
	}
}

func TestBigResult(t *testing.T) {
	short.SkipLong(t, "sends a large result")
	big := strings.Repeat("0123456789abcdef", 5<<20/16)
	w := serveTools(t, mcptool.NewTool("big", "", func(context.Context, struct{}) (string, error) { return big, nil }))
	var got struct {
		Result struct {
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
		} `json:"result"`
	}
	if err := json.Unmarshal([]byte(w.say("calc", callMessage(2, "big", `{}`))), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Result.Content) != 1 || got.Result.Content[0].Text != big {
		t.Error("another text")
	}
}

func TestOneServerForTwentyClients(t *testing.T) {
	var mu sync.Mutex
	calls := map[string]int{}
	who := mcptool.NewTool("who", "", func(ctx context.Context, in struct {
		Client string `json:"client"`
	}) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		calls[in.Client]++
		return in.Client + " " + mcptool.CallInfo(ctx).ToolUseID, nil
	})
	server := claude.MCPServer{Server: mcptool.NewToolServer("calc", "1.0.0", who)}
	var clients sync.WaitGroup
	for i := range 20 {
		w := serveMCP(t, &claude.Options{MCPServers: map[string]claude.MCPServer{"calc": server}})
		clients.Go(func() {
			for n := range 10 {
				got, want := w.say("calc", callMessage(n+2, "who", fmt.Sprintf(`{"client":"c%d"}`, i))), fmt.Sprintf(`"c%d toolu_%d"`, i, n+2)
				if !strings.Contains(got, want) {
					t.Errorf("%s has no %s", got, want)
				}
			}
			w.Close()
		})
	}
	clients.Wait()
	if len(calls) != 20 {
		t.Errorf("calls is %v; want len(calls) == 20", calls)
	}
	for range server.Server.Sessions() {
		t.Error("a session is left")
	}
}

func TestSetMCPServersServes(t *testing.T) {
	w := serveMCP(t, &claude.Options{})
	var sent message.JSON
	w.cli.OnControl("mcp_set_servers", func(req claudetest.ControlRequest) (any, error) {
		sent = req.Request
		return map[string]any{"added": []string{"calc"}, "removed": []string{}, "errors": map[string]string{}}, nil
	})
	server := claude.MCPServer{Server: mcptool.NewToolServer("calc", "1.0.0", mcptool.NewTool("add", "", add))}
	server.Timeout = 5000
	if _, err := w.SetMCPServers(t.Context(), map[string]claude.MCPServer{"dyn": server, "ext": {Command: "x"}}); err != nil {
		t.Fatal(err)
	}
	wantJSON(t, string(sent), `{"subtype":"mcp_set_servers","servers":{"dyn":{"type":"sdk","name":"dyn","timeout":5000},"ext":{"command":"x","args":[]}}}`)
	w.handshake("dyn")
	if _, err := w.SetMCPServers(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := w.start("dyn", callMessage(3, "add", `{}`)).Wait(); err == nil {
		t.Error("a server that was removed answers")
	}
	if _, err := w.SetMCPServers(t.Context(), map[string]claude.MCPServer{"x": {Type: "sdk"}}); err == nil {
		t.Error("a server that is not there was taken")
	}
}

func TestLateServerIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := claude.MCPServer{Server: mcptool.NewToolServer("slow", "1", mcptool.NewTool("add", "", add))}
		slow.Server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
			return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
				if method == "tools/list" {
					select {
					case <-time.After(time.Minute):
					case <-ctx.Done():
					}
				}
				return next(ctx, method, req)
			}
		})
		quick := claude.MCPServer{Server: mcptool.NewToolServer("calc", "1.0.0", mcptool.NewTool("add", "", add))}
		quick.Tools, quick.Timeout = []claude.MCPToolPolicy{{Name: "add", PermissionPolicy: "always_ask"}}, 2000
		begun := time.Now()
		w := serveMCP(t, &claude.Options{MCPServers: map[string]claude.MCPServer{"slow": slow, "calc": quick}})
		if d := time.Since(begun); d < 250*time.Millisecond || d > 300*time.Millisecond {
			t.Errorf("it took %v", d)
		}
		var init struct {
			Servers   []string                   `json:"sdkMcpServers"`
			Configs   message.JSON               `json:"sdkMcpServerConfigs"`
			Manifests map[string]json.RawMessage `json:"sdkMcpServerManifests"`
		}
		if err := w.init.Decode(&init); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(init.Servers) != "[calc slow]" || len(init.Manifests) != 1 || init.Manifests["calc"] == nil {
			t.Errorf("%s; want fmt.Sprint(init.Servers) == \"[calc slow]\" and len(init.Manifests) == 1 and init.Manifests[\"calc\"] != nil", w.init)
		}
		wantJSON(t, string(init.Configs), `{"calc":{"timeout":2000,"tools":[{"name":"add","permission_policy":"always_ask"}]}}`)
		w.Close()
	})
}

// A list that changes during the capture is not sent; the notification is.
func TestListChangedDuringCapture(t *testing.T) {
	server := claude.MCPServer{Server: mcptool.NewToolServer("calc", "1.0.0", mcptool.NewTool("add", "", add))}
	told := make(chan struct{})
	server.Server.AddSendingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			defer close(told)
			return next(ctx, method, req)
		}
	})
	server.Server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			res, err := next(ctx, method, req)
			if method == "tools/list" {
				mcptool.NewTool("late", "", add).AddTo(server.Server)
				<-told
			}
			return res, err
		}
	})
	heard := make(chan claudetest.ControlRequest, 1)
	opts := &claude.Options{MCPServers: map[string]claude.MCPServer{"calc": server}}
	opts.Spawner = claudetest.InProcess(func(cli *claudetest.CLI) int {
		cli.OnControl("mcp_message", func(req claudetest.ControlRequest) (any, error) {
			heard <- req
			return nil, nil
		})
		req, err := cli.Handshake()
		if err != nil {
			return 1
		}
		if strings.Contains(string(req.Request), "toolsListResult") || !strings.Contains(string(req.Request), "initializeResult") {
			t.Errorf("%s; want not strings.Contains(string(req.Request), \"toolsListResult\") and strings.Contains(string(req.Request), \"initializeResult\")", req.Request)
		}
		<-cli.InputEnd()
		return 0
	})
	c, err := claude.Connect(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	wantJSON(t, string((<-heard).Request), `{"subtype":"mcp_message","server_name":"calc","message":{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}}`)
}
