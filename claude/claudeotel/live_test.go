package claudeotel_test

import (
	"context"
	"flag"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudeotel"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/hook"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
	"go.opentelemetry.io/otel/attribute"
)

var update = flag.Bool("update", false, "write the golden files")

// shown are the attributes that are equal in each run.
var shown = []attribute.Key{
	"gen_ai.operation.name", "gen_ai.agent.name", "gen_ai.tool.name", "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens",
	"gen_ai.response.finish_reasons", "gen_ai.response.model", "claude.turn.subtype", "claude.turn.steps", "claude.turn.cost",
	"claude.permission.answer", "claude.hook.event", "claude.task.background", "error.type",
}

// liveOptions returns options for the real CLI with a scripted API.
func liveOptions(t *testing.T, replies ...claudetest.Reply) *claude.Options {
	t.Helper()
	cli := e2e.CLI(t)
	api := claudetest.StartFakeAPI(t, claudetest.Replies(replies...))
	opts, err := claudetest.HermeticOptions(t.TempDir(), api.URL())
	if err != nil {
		t.Fatal(err)
	}
	opts.CLIPath = cli
	return opts
}

// TestLiveTrace traces a turn of the real CLI with a tool, and a subagent with a
// tool.
func TestLiveTrace(t *testing.T) {
	c := newCollector(t)
	opts := liveOptions(t,
		claudetest.Use("Bash", map[string]any{"command": "touch made", "description": "make it"}),
		claudetest.Use("Agent", map[string]any{"description": "do sub", "prompt": "SUBPROMPT", "subagent_type": "helper", "run_in_background": false}),
		claudetest.Use("Bash", map[string]any{"command": "cat missing", "description": "fail"}),
		claudetest.Say("sub result"),
		claudetest.Say("Done."),
	)
	opts.Model, opts.IncludePartialMessages, opts.ForwardSubagentText = "claude-sonnet-4-5", true, true
	opts.Agents = map[string]claude.AgentDefinition{"helper": {Description: "helps", Prompt: "You help."}}
	opts.AllowedTools, opts.Logger = []string{"Agent"}, slog.New(slog.DiscardHandler)
	opts.CanUseTool = func(context.Context, *claude.PermissionRequest) (claude.PermissionResult, error) {
		return &claude.Allow{}, nil
	}
	opts.Hooks = &hook.Hooks{PostToolUse: hook.On("Bash", func(context.Context, *hook.PostToolUseInput) (*hook.PostToolUseOutput, error) {
		return nil, nil
	})}
	ctx, root := c.tracers.Tracer("test").Start(t.Context(), "request")
	result, err := claude.Run(ctx, "go", claudeotel.Instrument(opts, c.options()...))
	root.End()
	if err != nil || result.Result != "Done." {
		t.Fatalf("result is %v, err is %v; want err == nil and result.Result == \"Done.\"", result, err)
	}
	c.covered()
	golden(t, "turn.golden", c.tree(shown...)+"\n"+counted(c.measured()))

	// The spans have the tokens of the result, each counted once.
	var output int64
	for _, s := range c.spans() {
		for _, a := range s.Attributes() {
			if a.Key == "gen_ai.usage.output_tokens" && s.Parent().SpanID() == c.find("invoke_agent claude").SpanContext().SpanID() {
				output += a.Value.AsInt64()
			}
		}
	}
	if output != result.Usage.OutputTokens {
		t.Errorf("spans have %d output tokens, the result %d", output, result.Usage.OutputTokens)
	}
}

// TestLiveContext: the CLI's own spans, if it exports them, are below the
// session's span.
func TestLiveContext(t *testing.T) {
	c := newCollector(t)
	bodies := make(chan string, 100)
	otlp := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil && r.URL.Path == "/v1/traces" {
			bodies <- string(body)
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte("{}"))
	}))
	defer otlp.Close()
	opts := liveOptions(t, claudetest.Say("Done."))
	maps.Copy(opts.Env, map[string]string{
		"CLAUDE_CODE_ENABLE_TELEMETRY": "1", "CLAUDE_CODE_ENHANCED_TELEMETRY_BETA": "1", "OTEL_TRACES_EXPORTER": "otlp",
		"OTEL_EXPORTER_OTLP_PROTOCOL": "http/json", "OTEL_EXPORTER_OTLP_ENDPOINT": otlp.URL, "OTEL_TRACES_EXPORT_INTERVAL": "100",
	})
	if _, err := claude.Run(t.Context(), "go", claudeotel.Instrument(opts, c.options()...)); err != nil {
		t.Fatal(err)
	}
	close(bodies)
	var exported strings.Builder
	for b := range bodies {
		exported.WriteString(b)
	}
	id := c.find("claude.session").SpanContext()
	if !strings.Contains(exported.String(), id.TraceID().String()) || !strings.Contains(exported.String(), id.SpanID().String()) {
		t.Errorf("the CLI's spans are not in the trace %s below %s: %.2000s", id.TraceID(), id.SpanID(), exported.String())
	}
}

// counted returns the measurements that are equal in each run.
func counted(m map[string]float64) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if !strings.HasPrefix(name, "claude.control") {
			b.WriteString(name + ": " + text(attribute.Float64Value(m[name])) + "\n")
		}
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
