package claudeagent_test

import (
	"cmp"
	"context"
	"os"
	"path"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudeagent"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
	"github.com/seed7221b0f9/parley/internal/test/parts"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// probe returns an MCP server with a tool that asks a person.
func probe() *mcp.Server {
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
	return s
}

// dying opens sessions with a CLI that is killed after a prompt, as in a crash.
type dying struct{ agent.Provider }

func (d dying) Open(ctx context.Context, opts agent.Options) (agent.Session, error) {
	s, err := d.Provider.Open(ctx, opts)
	return dyingSession{s}, err
}

type dyingSession struct{ agent.Session }

func (d dyingSession) Send(ctx context.Context, in agent.Input) error {
	return cmp.Or(d.Session.Send(ctx, in), kill(d.Session))
}

// kill kills the CLI of a session, as in a crash.
func kill(s agent.Session) error {
	p, err := os.FindProcess(s.(*claudeagent.Session).PID())
	if err == nil {
		err = p.Kill()
	}
	return err
}

func when(text string, r claudetest.Reply) claudetest.Reply {
	return r.When(claudetest.Match{LastIncludes: text})
}

// script answers each prompt of the suite, and all other prompts with a text.
func script() claudetest.Script {
	questions := map[string]any{"questions": []any{map[string]any{
		"question": "Which colour?", "header": "Colour", "multiSelect": false,
		"options": []any{map[string]any{"label": "Red", "description": "warm"}, map[string]any{"label": "Blue", "description": "cold"}},
	}}}
	wait := claudetest.Say("I wait until somebody stops me.")
	wait.Hold, wait.HoldMS = claudetest.HoldMid, 5_000
	return claudetest.Replies(
		when("use-a-tool", claudetest.Use("Bash", map[string]any{"command": "touch made", "description": "Make a file"})),
		when("make-a-plan", claudetest.Use("ExitPlanMode", map[string]any{"plan": "1. Do it."})),
		when("ask-a-question", claudetest.Use("AskUserQuestion", questions)),
		when("ask-by-mcp", claudetest.Use("mcp__probe__ask", map[string]any{})),
		when("start-a-task", claudetest.Use("Bash", map[string]any{"command": "sleep 300", "run_in_background": true, "description": "Sleep"})),
		when("please-wait", wait),
		claudetest.Say("Hello from Claude.").Times(10),
	)
}

func subject(t *testing.T) agenttest.Subject {
	t.Helper()
	cli := e2e.CLI(t)
	api := claudetest.StartFakeAPI(t, script())
	opts, err := claudetest.HermeticOptions(t.TempDir(), api.URL())
	if err != nil {
		t.Fatal(err)
	}
	opts.CLIPath = cli
	opts.MCPServers = map[string]claude.MCPServer{"probe": {Server: probe()}}
	opts.AllowedTools = []string{"mcp__probe__ask", "Bash(sleep 300)"}
	var provider agent.Provider = &claudeagent.Provider{Options: *opts}
	mode := ""
	switch path.Base(t.Name()) {
	case "plan":
		mode = "plan" // other modes have no plan to approve
	case "die":
		provider = dying{provider}
	}
	return agenttest.Subject{
		Provider: provider, Options: agent.Options{Mode: mode}, Capabilities: parts.Of(t, "`claudeagent`"),
		Kill: func(s agent.Session) {
			if err := kill(s); err != nil {
				t.Error(err)
			}
		},
		Prompts: agenttest.Prompts{
			Say: "say something", Tool: "use-a-tool", Plan: "make-a-plan", Question: "ask-a-question", Elicit: "ask-by-mcp",
			Wait: "please-wait", Die: "please-die", Task: "start-a-task",
		},
	}
}

// TestProvider runs the acceptance suite with the real CLI.
func TestProvider(t *testing.T) { agenttest.Run(t, subject) }
