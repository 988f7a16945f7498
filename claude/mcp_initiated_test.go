//lint:file-ignore SA1019 what the protocol is about to drop still has to pass

package claude_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/mcptool"
)

// hear returns a channel with the servers' messages to the CLI.
func (w *mcpWorld) hear() <-chan string {
	heard := make(chan string, 10)
	w.cli.OnControl("mcp_message", func(req claudetest.ControlRequest) (any, error) {
		heard <- string(req.Request)
		return nil, nil
	})
	return heard
}

func TestProgressPrecedesResult(t *testing.T) {
	w := serveTools(t, mcptool.NewTool("m", "", func(ctx context.Context, _ struct{}) (string, error) {
		return "ok", mcptool.CallInfo(ctx).Progress(ctx, 1, 2, "half")
	}))
	heard := w.hear()
	w.say("calc", callMessage(2, "m", `{}`))
	wantJSON(t, <-heard, `{"subtype":"mcp_message","server_name":"calc","message":{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":1,"total":2,"message":"half"}}}`)
}

func TestListChangedAddsTool(t *testing.T) {
	server := claude.MCPServer{Server: mcptool.NewToolServer("calc", "1.0.0")}
	w := serveMCP(t, &claude.Options{MCPServers: map[string]claude.MCPServer{"calc": server}})
	heard := w.hear()
	mcptool.NewTool("add", "", add).AddTo(server.Server)
	wantJSON(t, <-heard, `{"subtype":"mcp_message","server_name":"calc","message":{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}}`)
	if list := w.say("calc", `{"method":"tools/list","jsonrpc":"2.0","id":2}`); !strings.Contains(list, `"add"`) {
		t.Errorf("list is %v; want strings.Contains(list, `\"add\"`)", list)
	}
	if got := w.say("calc", callMessage(3, "add", `{"a":1,"b":2}`)); !strings.Contains(got, `"3"`) {
		t.Errorf("got is %v; want strings.Contains(got, `\"3\"`)", got)
	}
}

func TestLoggingIsSent(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "log", Version: "1"}, nil)
	mcptool.NewTool("t", "", func(ctx context.Context, _ struct{}) (string, error) {
		return "", mcptool.CallInfo(ctx).Session.Log(ctx, &mcp.LoggingMessageParams{Level: "warning", Data: "careful"})
	}).AddTo(server)
	w := serveMCP(t, &claude.Options{MCPServers: map[string]claude.MCPServer{"log": {Server: server}}})
	heard := w.hear()
	w.say("log", `{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"info"}}`)
	w.say("log", callMessage(3, "t", `{}`))
	wantJSON(t, <-heard, `{"subtype":"mcp_message","server_name":"log","message":{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","data":"careful"}}}`)
}

// asker returns a tool that elicits input from the user.
func asker() mcptool.Tool {
	return mcptool.NewTool("ask", "", func(ctx context.Context, _ struct{}) (string, error) {
		res, err := mcptool.CallInfo(ctx).Session.Elicit(ctx, &mcp.ElicitParams{
			Message: "Your name?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`),
		})
		if err != nil {
			return "", err
		}
		return fmt.Sprint(res.Action, " ", res.Content["name"]), nil
	})
}

// A CLI that supports elicitation for servers in this process gets the request.
func TestElicitationByTheCLI(t *testing.T) {
	w := serveTools(t, asker())
	heard := w.hear()
	w.say("calc", `{"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"3"}},"jsonrpc":"2.0","id":0}`)
	call := w.start("calc", callMessage(2, "ask", `{}`))
	var asked struct {
		Message struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		} `json:"message"`
	}
	if err := json.Unmarshal([]byte(<-heard), &asked); err != nil || asked.Message.Method != "elicitation/create" {
		t.Fatalf("%+v %v; want err == nil and asked.Message.Method == \"elicitation/create\"", asked, err)
	}
	wantJSON(t, w.say("calc", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"name":"Bo"}}}`, asked.Message.ID)), `{"jsonrpc":"2.0","result":{},"id":0}`)
	wantJSON(t, answerOf(t, call), `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"accept Bo"}]}}`)
}

// Other CLIs refuse it, so the callback gets the request; without a callback it is
// declined.
func TestElicitationWithoutCallback(t *testing.T) {
	w := serveTools(t, asker())
	want := `{"content":[{"type":"text","text":"decline <nil>"}]}`
	wantJSON(t, w.say("calc", callMessage(2, "ask", `{}`)), `{"jsonrpc":"2.0","id":2,"result":`+want+`}`)
	w.say("calc", `{"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"3"}},"jsonrpc":"2.0","id":0}`)
	wantJSON(t, w.say("calc", callMessage(2, "ask", `{}`)), `{"jsonrpc":"2.0","id":2,"result":`+want+`}`)
}

func TestSamplingIsSent(t *testing.T) {
	w := serveTools(t, mcptool.NewTool("think", "", func(ctx context.Context, _ struct{}) (string, error) {
		res, err := mcptool.CallInfo(ctx).Session.CreateMessage(ctx, &mcp.CreateMessageParams{
			MaxTokens: 10, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "hi"}}},
		})
		if err != nil {
			return "", err
		}
		return res.Content.(*mcp.TextContent).Text, nil
	}))
	heard := w.hear()
	call := w.start("calc", callMessage(2, "think", `{}`))
	var asked struct {
		Message struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		} `json:"message"`
	}
	if err := json.Unmarshal([]byte(<-heard), &asked); err != nil || asked.Message.Method != "sampling/createMessage" {
		t.Fatalf("%+v %v; want err == nil and asked.Message.Method == \"sampling/createMessage\"", asked, err)
	}
	w.say("calc", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"role":"assistant","model":"m","content":{"type":"text","text":"thought"}}}`, asked.Message.ID))
	if got := answerOf(t, call); !strings.Contains(got, "thought") {
		t.Errorf("got is %v; want strings.Contains(got, \"thought\")", got)
	}
	// An answer that is an error.
	call = w.start("calc", callMessage(3, "think", `{}`))
	if err := json.Unmarshal([]byte(<-heard), &asked); err != nil {
		t.Fatal(err)
	}
	w.say("calc", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, asked.Message.ID))
	if got := answerOf(t, call); !strings.Contains(got, "Method not found") || !strings.Contains(got, `"isError":true`) {
		t.Errorf("got is %v; want strings.Contains(got, \"Method not found\") and strings.Contains(got, `\"isError\":true`)", got)
	}
}

// serveAsker starts a server with a tool that elicits input, and a callback that answers.
func serveAsker(t *testing.T, tool mcptool.Tool, answer func(ctx context.Context, req *claude.ElicitationRequest) (*claude.ElicitationResult, error)) *mcpWorld {
	return serveMCP(t, &claude.Options{
		MCPServers:    map[string]claude.MCPServer{"calc": {Server: mcptool.NewToolServer("calc", "1.0.0", tool)}},
		OnElicitation: answer,
	})
}

func TestElicitationByTheCallback(t *testing.T) {
	asked := make(chan *claude.ElicitationRequest, 1)
	w := serveAsker(t, asker(), func(_ context.Context, req *claude.ElicitationRequest) (*claude.ElicitationResult, error) {
		asked <- req
		return &claude.ElicitationResult{Action: message.ElicitationAccept, Content: map[string]any{"name": "Bo"}}, nil
	})
	wantJSON(t, w.say("calc", callMessage(2, "ask", `{}`)), `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"accept Bo"}]}}`)
	wantJSON(t, string((<-asked).Raw()), `{"subtype":"elicitation","mcp_server_name":"calc","message":"Your name?","mode":"form","requested_schema":{"type":"object","properties":{"name":{"type":"string"}}}}`)
}

func TestElicitationAnsweredLater(t *testing.T) {
	asked := make(chan string, 1)
	w := serveAsker(t, asker(), func(_ context.Context, req *claude.ElicitationRequest) (*claude.ElicitationResult, error) {
		asked <- req.RequestID
		return nil, claude.ErrAnswerLater
	})
	call := w.start("calc", callMessage(2, "ask", `{}`))
	if err := w.AnswerElicitation(t.Context(), <-asked, &claude.ElicitationResult{Action: message.ElicitationCancel}); err != nil {
		t.Fatal(err)
	}
	wantJSON(t, answerOf(t, call), `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"cancel <nil>"}]}}`)
}

func TestElicitationCallbackPanics(t *testing.T) {
	w := serveAsker(t, asker(), func(context.Context, *claude.ElicitationRequest) (*claude.ElicitationResult, error) { panic("boom") })
	if got := w.say("calc", callMessage(2, "ask", `{}`)); !strings.Contains(got, "panicked: boom") || !strings.Contains(got, `"isError":true`) {
		t.Errorf("got is %v; want strings.Contains(got, \"panicked: boom\") and strings.Contains(got, `\"isError\":true`)", got)
	}
}

// Closing the client ends an elicitation, regardless of its context.
func TestElicitationEndsWithTheClient(t *testing.T) {
	asked, ended := make(chan struct{}), make(chan error, 1)
	forgetful := mcptool.NewTool("ask", "", func(ctx context.Context, _ struct{}) (string, error) {
		_, err := mcptool.CallInfo(ctx).Session.Elicit(context.WithoutCancel(ctx), &mcp.ElicitParams{Message: "?"})
		return "", err
	})
	w := serveAsker(t, forgetful, func(ctx context.Context, _ *claude.ElicitationRequest) (*claude.ElicitationResult, error) {
		close(asked)
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return nil, context.Cause(ctx)
	})
	w.start("calc", callMessage(2, "ask", `{}`))
	<-asked
	w.Close()
	if len(ended) != 1 {
		t.Error("the callback runs on")
	}
}
