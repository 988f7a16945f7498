package claudeotel_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudeotel"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/message"
	"go.opentelemetry.io/otel/attribute"
)

// fake returns options that run a program in place of the CLI.
func fake(program claudetest.Program) *claude.Options {
	return &claude.Options{Spawner: claudetest.InProcess(program), Logger: slog.New(slog.DiscardHandler)}
}

// working simulates a CLI with a turn that has a failing tool and a background task, which
// outlives the turn.
func working(cli *claudetest.CLI) int {
	cli.Handshake()
	if _, err := cli.Prompt(); err != nil {
		return 1
	}
	cli.BeginTurn()
	bash, agent := cli.ToolUseID(), cli.ToolUseID()
	task := cli.TaskStarted("task1", "local_agent", "the description", agent)
	task.SubagentType, task.IsBackgrounded, task.Prompt = "helper", true, "the subprompt"
	cli.Emit(
		cli.APIRetry(1, 529, message.ErrorOverloaded),
		cli.AssistantText("the answer"),
		cli.AssistantToolUse(bash, "Bash", map[string]any{"command": "the command"}),
		cli.UserToolError(bash, "the failure"),
		cli.AssistantToolUse(agent, "Agent", map[string]any{}),
		task,
		cli.UserToolResult(agent, "launched"),
	)
	cli.Emit(cli.Result("the result"))
	cli.Emit(cli.TaskNotification("task1", message.TaskCompleted, "done"))
	cli.Emit(cli.State(message.StateIdle))
	<-cli.InputEnd()
	return 0
}

var secrets = []string{"the answer", "the command", "the failure", "the result", "the description", "the subprompt", "the prompt"}

func dump(c *collector) string {
	var b strings.Builder
	for _, s := range c.spans() {
		fmt.Fprintf(&b, "%s %v %v %v\n", s.Name(), s.Attributes(), s.Events(), s.Status())
	}
	return b.String()
}

func TestSpans(t *testing.T) {
	c := newCollector(t)
	if _, err := claude.Run(t.Context(), "the prompt", claudeotel.Instrument(fake(working), c.options()...)); err != nil {
		t.Fatal(err)
	}
	c.covered()
	want := `claude.session
  claude.start
  invoke_agent claude
    chat claude-opus-5-5
    execute_tool Bash error "tool_error"
    chat claude-opus-5-5
    chat claude-opus-5-5
    execute_tool Agent
  invoke_agent helper linked
`
	if got := strings.ReplaceAll(c.tree(), models(c), "claude-opus-5-5"); sorted(got) != sorted(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	link := c.find("invoke_agent helper").Links()[0].SpanContext
	if link.SpanID() != c.find("execute_tool Agent").SpanContext().SpanID() {
		t.Error("the task is linked to another span")
	}
	for _, said := range secrets {
		if strings.Contains(dump(c), said) {
			t.Errorf("%q is in %s", said, dump(c))
		}
	}
	m := c.measured()
	if m["claude.api.retries error.type=overloaded http.response.status_code=529"] != 1 || m["claude.sessions"] != 0 || m["claude.prompts.waiting"] != 0 {
		t.Errorf("m is %v; want m[\"claude.api.retries error.type=overloaded http.response.status_code=529\"] == 1 and m[\"claude.sessions\"] == 0 and m[\"claude.prompts.waiting\"] == 0", m)
	}
}

// models returns the model name in the answers.
func models(c *collector) string {
	for _, s := range c.spans() {
		if model, ok := strings.CutPrefix(s.Name(), "chat "); ok {
			return model
		}
	}
	return "?"
}

// sorted sorts spans that begin at the same time.
func sorted(tree string) string {
	lines := strings.Split(tree, "\n")
	counts := map[string]int{}
	for _, l := range lines {
		counts[l]++
	}
	return fmt.Sprint(counts)
}

func TestContent(t *testing.T) {
	c := newCollector(t)
	edit := func(s string) string { return strings.ReplaceAll(s, "command", "[redacted]") }
	opts := claudeotel.Instrument(fake(working), append(c.options(), claudeotel.WithContent(edit), claudeotel.WithAttributes(attribute.String("tenant", "a")))...)
	if _, err := claude.Run(t.Context(), "the prompt", opts); err != nil {
		t.Fatal(err)
	}
	got := dump(c)
	for _, said := range append(secrets, "tenant") {
		if strings.Contains(got, said) != (said != "the command") {
			t.Errorf("%q: %s; want strings.Contains(got, said) == (said != \"the command\")", said, got)
		}
	}
	if !strings.Contains(got, `[{"role":"user","parts":[{"type":"text","content":"the prompt"}]}]`) {
		t.Errorf("got is %v; want strings.Contains(got, `[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"the prompt\"}]}]`)", got)
	}
}

// TestSessions: one Trace serves several sessions at once; each CLI gets the
// context of its own span, regardless of variables that the caller inherited.
func TestSessions(t *testing.T) {
	t.Setenv("TRACEPARENT", "00-00000000000000000000000000000001-0000000000000001-01")
	t.Setenv("TRACESTATE", "stale=1")
	c := newCollector(t)
	opts := claudeotel.Instrument(fake(func(cli *claudetest.CLI) int {
		cli.Handshake()
		if _, err := cli.Prompt(); err != nil {
			return 1
		}
		cli.Turn(cli.Env("TRACEPARENT") + "|" + cli.Env("TRACESTATE"))
		<-cli.InputEnd()
		return 0
	}), c.options()...)
	var mu sync.Mutex
	told := map[string]bool{}
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			r, err := claude.Run(t.Context(), "go", opts)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			told[r.Result] = true
		})
	}
	all.Wait()
	sessions := 0
	for _, s := range c.spans() {
		if s.Name() == "claude.session" {
			sessions++
			sc := s.SpanContext()
			if want := fmt.Sprintf("00-%s-%s-01|", sc.TraceID(), sc.SpanID()); !told[want] {
				t.Errorf("%s is not in %v", want, told)
			}
		}
	}
	c.covered()
	if sessions != 5 || len(told) != 5 {
		t.Errorf("%d sessions, %v", sessions, told)
	}
}

func TestFailures(t *testing.T) {
	for _, tt := range []struct {
		name    string
		program claudetest.Program
		want    string // the error of the session and of the turn
	}{
		{"death in a turn", func(cli *claudetest.CLI) int {
			cli.Handshake()
			cli.Prompt()
			cli.BeginTurn()
			cli.Emit(cli.AssistantToolUse(cli.ToolUseID(), "Bash", nil))
			cli.Stderr("sk-ant-REDACTED\n")
			return 3
		}, "exit exit no_result"},
		{"no handshake", func(*claudetest.CLI) int { return 4 }, "exit"},
		{"failed turn", func(cli *claudetest.CLI) int {
			cli.Handshake()
			cli.Prompt()
			cli.BeginTurn()
			cli.Emit(cli.ResultFailed(message.ResultMaxTurns, "too many"))
			return 1
		}, "error_max_turns error_max_turns"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newCollector(t)
			if _, err := claude.Run(t.Context(), "go", claudeotel.Instrument(fake(tt.program), c.options()...)); err == nil {
				t.Fatal("no error")
			}
			c.covered()
			var got []string
			for _, name := range []string{"claude.session", "invoke_agent claude", "execute_tool Bash"} {
				for _, s := range c.spans() {
					if s.Name() == name {
						got = append(got, s.Status().Description)
					}
				}
			}
			if strings.Join(got, " ") != tt.want || strings.Contains(dump(c), "sk-ant") {
				t.Errorf("got %q in\n%s", got, c.tree())
			}
		})
	}
}

func TestNotFound(t *testing.T) {
	c := newCollector(t)
	_, err := claude.Run(t.Context(), "go", claudeotel.Instrument(&claude.Options{CLIPath: "/nowhere/claude"}, c.options()...))
	if !errors.Is(err, claude.ErrNotFound) {
		t.Fatal(err)
	}
	if got := c.tree(); got != "claude.session error \"cli_not_found\"\n" {
		t.Errorf("got is %v; want got == \"claude.session error \\\"cli_not_found\\\"\\n\"", got)
	}
}

// TestPromptIsLinked: a turn belongs to its session, and has a link to the span
// that sent its prompt.
func TestPromptIsLinked(t *testing.T) {
	c := newCollector(t)
	client, err := claude.Connect(t.Context(), claudeotel.Instrument(fake(func(cli *claudetest.CLI) int {
		cli.Handshake()
		cli.Prompt()
		cli.Turn("ok")
		<-cli.InputEnd()
		return 0
	}), c.options()...))
	if err != nil {
		t.Fatal(err)
	}
	ctx, span := c.tracers.Tracer("test").Start(t.Context(), "request")
	turn, err := client.Send(ctx, claude.Text("go"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := turn.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	span.End()
	client.Close()
	got := c.find("invoke_agent claude")
	if got.Parent().SpanID() != c.find("claude.session").SpanContext().SpanID() || len(got.Links()) != 1 || !got.Links()[0].SpanContext.Equal(span.SpanContext()) {
		t.Errorf("parent %v, links %v", got.Parent(), got.Links())
	}
}

// TestWithoutTelemetrySDK: without an SDK the CLI gets no trace context, and inherited
// variables are unchanged.
func TestWithoutTelemetrySDK(t *testing.T) {
	const inherited = "00-00000000000000000000000000000001-0000000000000001-01"
	t.Setenv("TRACEPARENT", inherited)
	r, err := claude.Run(t.Context(), "go", claudeotel.Instrument(fake(func(cli *claudetest.CLI) int {
		cli.Handshake()
		cli.Prompt()
		cli.Turn(cli.Env("TRACEPARENT"))
		<-cli.InputEnd()
		return 0
	})))
	if err != nil || r.Result != inherited {
		t.Fatalf("r is %v, err is %v; want err == nil and r.Result == inherited", r, err)
	}
}
