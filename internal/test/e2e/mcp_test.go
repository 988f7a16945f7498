package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/mcptool"
)

// serve makes in-process tools the server "tools" of the world.
func (w *world) serve(tools ...mcptool.Tool) *mcp.Server {
	server := claude.MCPServer{Server: mcptool.NewToolServer("tools", "1.0.0", tools...)}
	w.opts.MCPServers = map[string]claude.MCPServer{"tools": server}
	w.opts.AllowedTools = []string{"mcp__tools"}
	return server.Server
}

// returns creates a tool without arguments that returns a value.
func returns[Out any](name string, out Out, opts ...mcptool.Option) mcptool.Tool {
	return mcptool.NewTool(name, "the "+name+" tool", func(context.Context, struct{}) (Out, error) { return out, nil }, opts...)
}

// toolResults returns the tool results in the n-th main request to the model.
func (w *world) toolResults(n int) string {
	asked := w.asked(n)
	return asked[strings.LastIndex(asked, "][")+1:] // the last message
}

const onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

func TestMCPResults(t *testing.T) {
	t.Parallel()
	var pixel []byte
	if err := json.Unmarshal([]byte(`"`+onePixel+`"`), &pixel); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		tool mcptool.Tool
		want string // part of the text for the model
	}{
		{returns("text", "plain text"), `"text":"plain text"`},
		{returns("image", []mcp.Content{&mcp.ImageContent{Data: pixel, MIMEType: "image/png"}}), `"media_type":"image/png"`},
		{returns("audio", []mcp.Content{&mcp.AudioContent{Data: []byte("sound"), MIMEType: "audio/wav"}}), `audio`},
		{returns("resource", []mcp.Content{&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///a.txt", MIMEType: "text/plain", Text: "resource text"}}}), `resource text`},
		{returns("link", []mcp.Content{&mcp.ResourceLink{URI: "file:///b.txt", Name: "b"}}), `file:///b.txt`},
		{returns("structured", map[string]any{"x": 1}), `{\"x\":1}`},
		{returns("fails", &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "it went wrong"}}}), `"is_error":true`},
		{returns("empty", &mcp.CallToolResult{}), `tool_result`},
		{mcptool.NewTool("panics", "", func(context.Context, struct{}) (string, error) { panic("boom") }), `panicked: boom`},
	}
	var replies []claudetest.Reply
	var tools []mcptool.Tool
	for _, tt := range tests {
		tools = append(tools, tt.tool)
		replies = append(replies, claudetest.Use("mcp__tools__"+tt.tool.Name(), nil), claudetest.Say("done"))
	}
	w := newWorld(t, replies...)
	w.serve(tools...)
	w.opts.Logger = slog.New(slog.DiscardHandler)
	c := w.connect()
	for i, tt := range tests {
		if r := collect(c.Query(t.Context(), "use "+tt.tool.Name())).one(t); r.IsError || r.Result != "done" {
			t.Errorf("%s: %+v; want not r.IsError and r.Result == \"done\"", tt.tool.Name(), r)
		}
		if got := w.toolResults(2*i + 1); !strings.Contains(got, tt.want) {
			t.Errorf("%s: the model saw %.300s", tt.tool.Name(), got)
		}
	}
}

func TestMCPBigResult(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("0123456789abcdef", 5<<20/16)
	w := newWorld(t, claudetest.Use("mcp__tools__big", nil), claudetest.Say("done"))
	w.serve(returns("big", big, mcptool.MaxResultSize(6<<20)))
	talk := collect(claude.Query(t.Context(), "go", w.opts))
	if r := talk.one(t); r.IsError || r.Result != "done" {
		t.Fatalf("%+v; want not r.IsError and r.Result == \"done\"", r)
	}
	// The CLI writes output that is too long for the model completely to a file.
	m := regexp.MustCompile(`saved to: ([^\\\s]+)`).FindStringSubmatch(w.toolResults(1))
	if m == nil {
		t.Fatalf("the model saw %.300s", w.toolResults(1))
	}
	saved, err := os.ReadFile(m[1])
	if err != nil || !strings.Contains(string(saved), big) {
		t.Errorf("%d bytes were saved, %v", len(saved), err)
	}
}

// Read-only tools run concurrently: each waits for the other.
func TestMCPParallel(t *testing.T) {
	t.Parallel()
	var both sync.WaitGroup
	both.Add(2)
	meet := func(ctx context.Context, _ struct{}) (string, error) {
		both.Done()
		met := make(chan struct{})
		go func() { both.Wait(); close(met) }()
		select {
		case <-met:
			return "met as " + mcptool.CallInfo(ctx).ToolUseID, nil
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
	w := newWorld(t, claudetest.Reply{Blocks: []claudetest.Block{claudetest.ToolUse("mcp__tools__meet", nil), claudetest.ToolUse("mcp__tools__meet", nil)}}, claudetest.Say("done"))
	w.serve(mcptool.NewTool("meet", "", meet, mcptool.Annotations(mcp.ToolAnnotations{ReadOnlyHint: true})))
	collect(claude.Query(t.Context(), "go", w.opts)).one(t)
	if got := w.asked(1); !strings.Contains(got, "met as toolu_0001") || !strings.Contains(got, "met as toolu_0002") {
		t.Errorf("got is %v; want strings.Contains(got, \"met as toolu_0001\") and strings.Contains(got, \"met as toolu_0002\")", got)
	}
}

// A tool reports its progress and adds another tool, which the model then uses.
func TestMCPListChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t, claudetest.Use("mcp__tools__grow", nil), claudetest.Say("grown"), claudetest.Use("mcp__tools__late", nil), claudetest.Say("done"))
	var server *mcp.Server
	server = w.serve(mcptool.NewTool("grow", "", func(ctx context.Context, _ struct{}) (string, error) {
		returns("late", "from the late tool").AddTo(server)
		return "grown", mcptool.CallInfo(ctx).Progress(ctx, 1, 2, "half")
	}))
	c := w.connect()
	collect(c.Query(t.Context(), "grow")).one(t)
	w.eventually(c, "tools", func(s claude.MCPServerStatus) bool { return len(s.Tools) == 2 })
	collect(c.Query(t.Context(), "use it")).one(t)
	if got := w.toolResults(3); !strings.Contains(got, "from the late tool") {
		t.Errorf("got is %v; want strings.Contains(got, \"from the late tool\")", got)
	}
}

// eventually waits until a server has the wanted status.
func (w *world) eventually(c *claude.Client, name string, stands func(claude.MCPServerStatus) bool) {
	w.t.Helper()
	ticks := time.NewTicker(20 * time.Millisecond)
	defer ticks.Stop()
	for range 500 {
		for _, s := range ok[[]claude.MCPServerStatus](w.t)(c.ListMCPServers(w.t.Context())) {
			if s.Name == name && stands(s) {
				return
			}
		}
		<-ticks.C
	}
	w.t.Fatalf("%s does not stand as it should", name)
}

// The CLI refuses elicitations of in-process servers, so this package calls the callback
// itself; without a callback it declines.
func TestMCPElicitation(t *testing.T) {
	t.Parallel()
	ask := mcptool.NewTool("ask", "", func(ctx context.Context, _ struct{}) (string, error) {
		res, err := mcptool.CallInfo(ctx).Session.Elicit(ctx, &mcp.ElicitParams{
			Message: "Your name?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`),
		})
		if err != nil {
			return "", err
		}
		return fmt.Sprint("the user said ", res.Action, " ", res.Content["name"]), nil
	})
	w := newWorld(t, claudetest.Use("mcp__tools__ask", nil), claudetest.Say("done"), claudetest.Use("mcp__tools__ask", nil), claudetest.Say("done"))
	w.serve(ask)
	collect(claude.Query(t.Context(), "go", w.opts)).one(t)
	if got := w.toolResults(1); !strings.Contains(got, "the user said decline") {
		t.Errorf("got is %v; want strings.Contains(got, \"the user said decline\")", got)
	}
	w.opts.OnElicitation = func(_ context.Context, req *claude.ElicitationRequest) (*claude.ElicitationResult, error) {
		if req.MCPServerName != "tools" || req.Message != "Your name?" {
			t.Errorf("asked with %s", req.Raw())
		}
		return &claude.ElicitationResult{Action: message.ElicitationAccept, Content: map[string]any{"name": "Bo"}}, nil
	}
	collect(claude.Query(t.Context(), "go", w.opts)).one(t)
	if got := w.toolResults(3); !strings.Contains(got, "the user said accept Bo") {
		t.Errorf("got is %v; want strings.Contains(got, \"the user said accept Bo\")", got)
	}
}

func TestMCPShared(t *testing.T) {
	e2e.CLI(t) // skips in this goroutine
	var mu sync.Mutex
	calls := map[string]int{}
	who := mcptool.NewTool("who", "", func(_ context.Context, in struct {
		Client string `json:"client"`
	}) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		calls[in.Client]++
		return "hello " + in.Client, nil
	})
	server := claude.MCPServer{Server: mcptool.NewToolServer("tools", "1.0.0", who)}
	var clients sync.WaitGroup
	count := short.Count(0, 8, 20)
	var connected sync.WaitGroup // no client asks before all are connected
	connected.Add(count)
	for i := range count {
		clients.Go(func() {
			ready := sync.OnceFunc(connected.Done)
			defer ready()
			name := fmt.Sprint("client-", i)
			w := newWorld(t, claudetest.Use("mcp__tools__who", map[string]string{"client": name}), claudetest.Say("done"))
			w.opts.MCPServers, w.opts.AllowedTools = map[string]claude.MCPServer{"tools": server}, []string{"mcp__tools"}
			c, err := claude.Connect(t.Context(), w.opts)
			ready()
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			connected.Wait()
			if talk := collect(c.Query(t.Context(), "go")); talk.err != nil || !strings.Contains(w.asked(1), "hello "+name) {
				t.Errorf("%s: %v; want talk.err == nil and strings.Contains(w.asked(1), \"hello \"+name)", name, talk.err)
			}
		})
	}
	clients.Wait()
	if len(calls) != count {
		t.Errorf("the tool was called by %v, want %d clients", calls, count)
	}
	for range server.Server.Sessions() {
		t.Error("a session is left")
	}
}

func TestMCPSetServers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, claudetest.Say("hello"), claudetest.Use("mcp__dyn__hi", nil), claudetest.Say("done"))
	w.opts.AllowedTools = []string{"mcp__dyn"}
	c := w.connect()
	collect(c.Query(t.Context(), "hello")).one(t)
	change := ok[*claude.MCPServersChange](t)(c.SetMCPServers(t.Context(), map[string]claude.MCPServer{"dyn": {Server: mcptool.NewToolServer("dyn", "1", returns("hi", "hi from dyn"))}}))
	if len(change.Added) != 1 || len(change.Errors) != 0 {
		t.Errorf("%s; want len(change.Added) == 1 and len(change.Errors) == 0", change.Raw())
	}
	w.eventually(c, "dyn", func(s claude.MCPServerStatus) bool { return s.Status == "connected" && len(s.Tools) == 1 })
	collect(c.Query(t.Context(), "use it")).one(t)
	if got := w.toolResults(2); !strings.Contains(got, "hi from dyn") {
		t.Errorf("got is %v; want strings.Contains(got, \"hi from dyn\")", got)
	}
	refused(t, c.ReconnectMCPServer(t.Context(), "dyn"), "SDK servers")
	change = ok[*claude.MCPServersChange](t)(c.SetMCPServers(t.Context(), nil))
	if len(change.Removed) != 1 {
		t.Errorf("%s; want len(change.Removed) == 1", change.Raw())
	}
}

// Without manifests the CLI performs the handshake before it answers initialize.
func TestMCPWithoutManifests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, claudetest.Use("mcp__tools__text", nil), claudetest.Say("done"))
	w.serve(returns("text", "plain text"))
	w.opts.Env["CLAUDE_AGENT_SDK_DISABLE_MCP_MANIFESTS"] = "1"
	c := w.connect()
	collect(c.Query(t.Context(), "go")).one(t)
	if got := w.toolResults(1); !strings.Contains(got, "plain text") {
		t.Errorf("got is %v; want strings.Contains(got, \"plain text\")", got)
	}
}

// externalServers returns a server for each kind of transport.
func externalServers(t *testing.T) map[string]claude.MCPServer {
	server := claude.MCPServer{Server: mcptool.NewToolServer("outside", "1.0.0", mcptool.NewTool("echo", "", func(_ context.Context, in struct {
		Text string `json:"text"`
	}) (string, error) {
		return "outside echo: " + in.Text, nil
	}))}.Server
	get := func(*http.Request) *mcp.Server { return server }
	start := func(h http.Handler) string {
		s := httptest.NewServer(h)
		t.Cleanup(func() {
			s.CloseClientConnections()
			s.Close()
			for session := range server.Sessions() {
				session.Close() // over HTTP the end of a CLI is not visible
			}
		})
		return s.URL
	}
	script, err := filepath.Abs(filepath.FromSlash("../../../testdata/wire-servers/stdio-mcp.cjs"))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]claude.MCPServer{
		"stdio": {Command: nodePath(t), Args: []string{script}},
		"http":  {Type: "http", URL: start(mcp.NewStreamableHTTPHandler(get, nil))},
		"sse":   {Type: "sse", URL: start(mcp.NewSSEHandler(get, nil))},
	}
}

func TestMCPExternal(t *testing.T) {
	t.Parallel()
	kinds := []string{"stdio", "http", "sse"}
	var replies []claudetest.Reply
	for _, kind := range kinds {
		replies = append(replies, claudetest.Use("mcp__"+kind+"__echo", map[string]string{"text": kind}), claudetest.Say("done"))
	}
	w := newWorld(t, replies...)
	w.opts.MCPServers, w.opts.RequireMCP = externalServers(t), kinds
	w.opts.AllowedTools = []string{"mcp__stdio", "mcp__http", "mcp__sse"}
	c := w.connect()
	defer c.Close()
	for i, kind := range kinds {
		collect(c.Query(t.Context(), "use "+kind)).one(t)
		if got := w.toolResults(2*i + 1); !strings.Contains(got, "echo: "+kind) {
			t.Errorf("%s: %s; want strings.Contains(got, \"echo: \"+kind)", kind, got)
		}
	}
}

func TestMCPRequired(t *testing.T) {
	t.Parallel()
	w := newWorld(t, claudetest.Say("hello"))
	w.serve(returns("text", "x"))
	w.opts.RequireMCP = []string{"tools"}
	collect(claude.Query(t.Context(), "go", w.opts)).one(t)

	w.opts.MCPServers["broken"] = claude.MCPServer{Command: filepath.Join(w.dir, "no-such-program")}
	w.opts.RequireMCP = []string{"tools", "broken"}
	_, err := claude.Connect(t.Context(), w.opts)
	if e := as[*claude.MCPNotReadyError](t, err); len(e.Servers) != 1 || e.Servers[0].Name != "broken" || e.Servers[0].Status != "failed" {
		t.Errorf("%v; want len(e.Servers) == 1 and e.Servers[0].Name == \"broken\" and e.Servers[0].Status == \"failed\"", err)
	}
	talk := collect(claude.Query(t.Context(), "go", w.opts))
	as[*claude.MCPNotReadyError](t, talk.err)
	t.Log(talk.err)

	w.opts.RequireMCP, w.opts.MCPTimeout = []string{"nowhere"}, time.Second
	_, err = claude.Connect(t.Context(), w.opts)
	if e := as[*claude.MCPNotReadyError](t, err); e.Servers[0].Status != claude.StatusMissing {
		t.Errorf("%v; want e.Servers[0].Status == claude.StatusMissing", err)
	}
}

// An interrupt, and the end of the client, end a running tool.
func TestMCPInterrupt(t *testing.T) {
	t.Parallel()
	begun, ended := make(chan struct{}, 2), make(chan error, 2)
	wait := mcptool.NewTool("wait", "", func(ctx context.Context, _ struct{}) (string, error) {
		begun <- struct{}{}
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return "late", nil
	})
	w := newWorld(t, claudetest.Use("mcp__tools__wait", nil), claudetest.Use("mcp__tools__wait", nil))
	w.serve(wait)
	c := w.connect()
	turn := ok[*claude.Turn](t)(c.Send(t.Context(), claude.Text("wait")))
	<-begun
	if _, err := c.Interrupt(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Error("the tool ended without a reason")
	}
	if r, err := turn.Wait(t.Context()); err == nil && r.Subtype != "error_during_execution" {
		t.Errorf("the turn ended with %+v", r)
	}
	ok[*claude.Turn](t)(c.Send(t.Context(), claude.Text("wait again")))
	<-begun
	c.Close()
	if len(ended) != 1 {
		t.Error("the tool runs on")
	}
}
