package codexagent_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/codex/codexagent"
	"github.com/seed7221b0f9/parley/codex/codextest"
	"github.com/seed7221b0f9/parley/internal/test/e2e/codexcli"
	"github.com/seed7221b0f9/parley/internal/test/parts"
	"go.uber.org/goleak"
)

// serveVariable makes the test program an MCP server on stdin and stdout.
const serveVariable = "PARLEY_TEST_MCP_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(serveVariable) != "" {
		s := mcp.NewServer(&mcp.Implementation{Name: "probe", Version: "1"}, nil)
		mcp.AddTool(s, &mcp.Tool{Name: "ask", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
			func(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
				res, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "Your name?", RequestedSchema: map[string]any{
					"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}},
				}})
				if err != nil {
					return nil, nil, err
				}
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: res.Action}}}, nil, nil
			})
		if s.Run(context.Background(), &mcp.StdioTransport{}) != nil {
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// tapped keeps the sessions that it opens.
type tapped struct {
	*codexagent.Provider
	mu   sync.Mutex
	last *codexagent.Session
}

func (p *tapped) Open(ctx context.Context, opts agent.Options) (agent.Session, error) {
	s, err := p.Provider.Open(ctx, opts)
	if err == nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.last = s.(*codexagent.Session)
	}
	return s, err
}

// kill kills the server of the last session, as in a crash.
func (p *tapped) kill(t *testing.T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	proc, err := os.FindProcess(p.last.PID())
	if err == nil {
		err = proc.Kill()
	}
	if err != nil {
		t.Error(err)
	}
}

func subject(t *testing.T) (agenttest.Subject, *tapped) {
	t.Helper()
	program := codexcli.Require(t, codexcli.Newer)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	api := codextest.NewAPI(t)
	home := codextest.NewHome(t, api, fmt.Sprintf("[mcp_servers.probe]\ncommand = %q\nargs = [\"-test.run=^$\"]\nenv = { %s = \"1\", GORACE = \"atexit_sleep_ms=0\" }\n", self, serveVariable))
	p := &tapped{Provider: &codexagent.Provider{Options: *home.Options(t, program)}}
	repeat := func(r codextest.Reply) codextest.Reply {
		r.Repeat = true
		return r
	}
	half := codextest.Message("I ", "wait.")
	api.Reply(repeat(codextest.Say("Hello ", "from ", "Codex.")))
	api.ReplyTo("use-a-tool", codextest.Calls(codextest.EscalatedCommand("call_1", "echo done", "May I?")), repeat(codextest.Say("Used it.")))
	api.ReplyTo("ask-by-mcp", codextest.Calls(codextest.Call("call_1", "mcp__probe", "ask", map[string]any{})), repeat(codextest.Say("Asked.")))
	api.ReplyTo("ask-me", codextest.Calls(codextest.Call("call_1", "", "request_user_input", map[string]any{"questions": []any{map[string]any{
		"id": "colour", "header": "Colour", "question": "Which colour?",
		"options": []any{map[string]any{"label": "Red", "description": "r"}, map[string]any{"label": "Blue", "description": "b"}},
	}}})), repeat(codextest.Say("Thanks.")))
	api.ReplyTo("please-wait", codextest.Stream(codextest.Usage{}, append(half[:2:2], codextest.Event{Wait: make(chan struct{})})...))
	die := codextest.Say("never")
	die.Do = func() { p.kill(t) }
	api.ReplyTo("please-die", die)
	return agenttest.Subject{
		Provider: p, Options: agent.Options{Dir: home.Project, Mode: "default"}, Capabilities: parts.Of(t, "`codexagent`"),
		Kill:    func(agent.Session) { p.kill(t) },
		Prompts: agenttest.Prompts{Say: "say something", Tool: "use-a-tool", Elicit: "ask-by-mcp", Question: "ask-me", Wait: "please-wait", Die: "please-die"},
	}, p
}

// absent lists the checks of package agenttest that do not apply to Codex, each with the reason.
var absent = map[string]string{
	"plan": "a plan of Codex is an item of text; no request waits for its approval",
	"task": "a command that outlives its turn has no task: only the experimental API lists and ends them",
}

// TestAgent runs the suite of package agenttest with the real program.
func TestAgent(t *testing.T) {
	agenttest.Run(t, func(t *testing.T) agenttest.Subject {
		check := path.Base(t.Name())
		if why, ok := absent[check]; ok {
			t.Skip("not a part of Codex: ", why)
		}
		s, p := subject(t)
		if check == "question" { // the agent asks only in plan mode
			s.Options.Mode = "plan"
			p.Options.Experimental = true
		}
		return s
	})
}

// TestCapabilities checks that features that Codex lacks are not reported.
func TestCapabilities(t *testing.T) {
	s, _ := subject(t)
	session, err := s.Provider.Open(t.Context(), s.Options)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	c := agent.CapabilitiesOf(s.Provider, session)
	if c.Rewind || c.Background || c.Tasks || c.Title || c.Live || !c.Resume || !c.History || !c.Model || !c.MCP || !c.Fork || len(c.Modes) != 3 || len(c.Efforts) == 0 {
		t.Errorf("%+v; want not c.Rewind and not c.Background and not c.Tasks and not c.Title and not c.Live and c.Resume and c.History and c.Model and c.MCP and c.Fork and len(c.Modes) == 3 and len(c.Efforts) != 0", c)
	}
	effort := session.(agent.EffortSetter)
	if err := effort.SetEffort(t.Context(), "no-such-effort"); !errors.Is(err, agent.ErrInvalid) {
		t.Errorf("an effort that there is not: %v", err)
	}
	if err := effort.SetEffort(t.Context(), "high"); err != nil {
		t.Error(err)
	}
	if err := session.Send(t.Context(), agent.Input{UUID: "first", Text: "say something"}); err != nil {
		t.Fatal(err)
	}
	live := &event.Conversation{}
	for ev, err := range session.Events(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		live.Apply(ev)
		if _, ok := ev.(*event.ResultMessage); ok {
			break
		}
	}
	h := s.Provider.(*tapped).History()
	list, _, err := h.List(t.Context(), agent.HistoryQuery{})
	if err != nil || len(list) != 1 || list[0].ID != session.ID() || list[0].FirstPrompt != "say something" {
		t.Fatalf("%+v, %v; want err == nil and len(list) == 1 and list[0].ID == session.ID() and list[0].FirstPrompt == \"say something\"", list, err)
	}
	events, err := h.Load(t.Context(), session.ID(), agent.HistoryPage{})
	if err != nil {
		t.Fatal(err)
	}
	read := &event.Conversation{}
	for ev, err := range events.Events {
		if err != nil {
			t.Fatal(err)
		}
		read.Apply(ev)
	}
	if a, b := conversationText(live), conversationText(read); a != b || a == "" {
		t.Errorf("live %q, read %q", a, b)
	}
	rows, err := s.Provider.(*tapped).Usage(t.Context(), agent.UsageQuery{GroupBy: "model"})
	if err != nil || len(rows) != 1 || rows[0].Group != codextest.Model || rows[0].InputTokens != 100 || rows[0].OutputTokens != 20 || rows[0].CostUSD != nil {
		t.Errorf("%+v, %v; want err == nil and len(rows) == 1 and rows[0].Group == codextest.Model and rows[0].InputTokens == 100 and rows[0].OutputTokens == 20 and rows[0].CostUSD == nil", rows, err)
	}
}

// conversationText returns the text of a conversation.
func conversationText(c *event.Conversation) (text string) {
	for _, th := range c.Threads {
		for _, i := range th.Items {
			if i.Message != nil {
				for _, b := range i.Message.Blocks {
					text += i.Message.Role + ": " + b.Text.String() + "\n"
				}
			}
		}
	}
	return text
}
