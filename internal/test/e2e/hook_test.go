package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/hook"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/claude/tool"
)

// notFired are the events for which the tested CLI never calls callbacks: Setup is
// triggered by flags and only runs command hooks, TeammateIdle needs agents that this CLI
// does not start without a terminal.
var notFired = []string{"Setup", "TeammateIdle"}

// TestHookEvents registers hooks for all events in every scene and compares the fired
// events with the expected ones.
func TestHookEvents(t *testing.T) {
	t.Parallel()
	fired := map[string]bool{}
	for _, s := range hookScenes {
		for _, event := range s.want {
			fired[event] = true
		}
	}
	var never []string
	for field := range reflect.TypeFor[hook.Hooks]().Fields() {
		if !fired[field.Name] && field.Name != "Other" {
			never = append(never, field.Name)
		}
	}
	if !slices.Equal(never, notFired) {
		t.Errorf("no scene fires %v", never)
	}
	for _, name := range slices.Sorted(maps.Keys(hookScenes)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			playScene(t, hookScenes[name])
		})
	}
}

func playScene(t *testing.T, s hookScene) {
	w := newWorld(t, s.replies...)
	l := newHookLog(t)
	w.opts.Hooks = l.hooks("watched.txt")
	if s.setup != nil {
		s.setup(w, w.opts.Hooks)
	}
	c := w.connect()
	if s.drive != nil {
		s.drive(w, c, l)
	} else {
		ask(w, c, "go")
	}
	if err := c.CloseInput(); err != nil && !errors.Is(err, claude.ErrClosed) {
		t.Error(err)
	}
	c.Wait()
	missed := func(name string) bool { return slices.Contains(s.may, name) && !slices.Contains(l.fired(), name) }
	if got, want := l.fired(), slices.DeleteFunc(slices.Sorted(slices.Values(s.want)), missed); !slices.Equal(got, want) {
		t.Errorf("these fired:     %v\nthese were meant: %v", got, want)
	}
	l.checkTyped()
}

// checkTyped fails for a member of an input without a typed field.
func (l *hookLog) checkTyped() {
	for _, in := range l.inputs {
		d := json.NewDecoder(strings.NewReader(string(in.(input).Raw())))
		d.DisallowUnknownFields()
		if err := d.Decode(reflect.New(reflect.TypeOf(in).Elem()).Interface()); err != nil {
			l.t.Errorf("%s: %v in %s", eventOf(in), err, in.(input).Raw())
		}
	}
}

// touch is the command of the tool calls in these tests.
const touch = "touch ran"

// runsTool runs a turn with an allowed tool call, and reports whether the tool ran.
func runsTool(t *testing.T, hooks *hook.Hooks) (ran bool, got talk) {
	t.Helper()
	w := newWorld(t, calls(bash(touch)), claudetest.Say("done"))
	w.opts.AllowedTools = []string{"Bash"}
	w.opts.Hooks, w.opts.Logger = hooks, slog.New(slog.DiscardHandler)
	got = collect(claude.Query(t.Context(), "go", w.opts))
	got.one(t)
	_, err := os.Stat(filepath.Join(w.dir, "ran"))
	return err == nil, got
}

// TestHookDecides checks that the decision of a hook applies to its tool call.
func TestHookDecides(t *testing.T) {
	t.Parallel()
	type out = hook.PreToolUseOutput
	answer := func(o *out) hook.PreToolUseFunc {
		return func(context.Context, *hook.PreToolUseInput) (*out, error) { return o, nil }
	}
	fails := func(context.Context, *hook.PreToolUseInput) (*out, error) { return nil, errors.New("boom") }
	panics := func(context.Context, *hook.PreToolUseInput) (*out, error) { panic("boom") }
	sleeps := func(ctx context.Context, _ *hook.PreToolUseInput) (*out, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	for name, tt := range map[string]struct {
		hook      hook.PreToolUseFunc
		timeout   time.Duration
		onFailure hook.OnFailure
		runs      bool
	}{
		"no opinion":             {hook: answer(nil), runs: true},
		"empty":                  {hook: answer(&out{}), runs: true},
		"deny, all else unset":   {hook: answer(&out{PermissionDecision: hook.DecisionDeny})},
		"deny with empty values": {hook: answer(&out{PermissionDecision: hook.DecisionDeny, UpdatedInput: map[string]any(nil)})},
		"block":                  {hook: answer(&out{Output: hook.Output{Decision: hook.DecisionBlock, Reason: "no"}})},
		"continue false":         {hook: answer(&out{Output: hook.Output{Continue: new(false)}}), runs: true}, // only the turn ends
		"misspelt":               {hook: answer(&out{PermissionDecision: "Deny"})},
		"async":                  {hook: answer(&out{Output: hook.Output{Async: true}}), runs: true},
		"error":                  {hook: fails},
		"panic":                  {hook: panics},
		"too slow":               {hook: sleeps, timeout: time.Second},
		"error, continue":        {hook: fails, onFailure: hook.Continue, runs: true},
		"panic, continue":        {hook: panics, onFailure: hook.Continue, runs: true},
		"error, block":           {hook: fails, onFailure: hook.Block},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			matchers := hook.On("Bash", tt.hook)
			matchers[0].Timeout, matchers[0].OnFailure = tt.timeout, tt.onFailure
			if ran, got := runsTool(t, &hook.Hooks{PreToolUse: matchers}); ran != tt.runs {
				t.Errorf("the tool ran: %t; %v", ran, got.kinds())
			}
		})
	}
}

func TestHookRefusesPromptAndModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, claudetest.Say("one"), claudetest.Say("two"))
	w.opts.Logger = slog.New(slog.DiscardHandler)
	refuse := true
	w.opts.Hooks = &hook.Hooks{
		UserPromptSubmit: hook.On("", func(context.Context, *hook.UserPromptSubmitInput) (*hook.UserPromptSubmitOutput, error) {
			if refuse {
				return nil, errors.New("the prompt's hook is broken")
			}
			return &hook.UserPromptSubmitOutput{AdditionalContext: "CONTEXT OF THE HOOK"}, nil
		}),
		PreModelSwitch: hook.On("", func(context.Context, *hook.PreModelSwitchInput) (*hook.PreModelSwitchOutput, error) {
			panic("the model's hook is broken")
		}),
	}
	c := w.connect()
	if got := collect(c.Query(t.Context(), "go")); got.text() != "" || len(w.api.Requests()) != 0 {
		t.Errorf("a prompt that its hook did not let through was answered: %v", got.kinds())
	}
	if m, err := c.SetModel(t.Context(), "claude-sonnet-5"); err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("the model changed to %s, %v", m, err)
	}
	refuse = false
	collect(c.Query(t.Context(), "go")).one(t)
	w.wasTold("CONTEXT OF THE HOOK")
}

// wasTold fails unless the model received a text.
func (w *world) wasTold(text string) {
	w.t.Helper()
	if !slices.ContainsFunc(w.api.Requests(), func(r claudetest.APIRequest) bool { return strings.Contains(string(r.Body), text) }) {
		w.t.Errorf("the model was not told %q", text)
	}
}

// TestHookChangesInputAndOutput changes the input of a call and the result that the
// model receives.
func TestHookChangesInputAndOutput(t *testing.T) {
	t.Parallel()
	w := newWorld(t, calls(bash("echo first")), claudetest.Say("done"))
	w.opts.AllowedTools = []string{"Bash"}
	ran := make(chan string, 1)
	w.opts.Hooks = &hook.Hooks{
		PreToolUse: hook.On("Bash", func(_ context.Context, in *hook.PreToolUseInput) (*hook.PreToolUseOutput, error) {
			input, err := tool.Decode(in)
			if err != nil {
				return nil, err
			}
			input.(*tool.BashInput).Command = "echo second"
			return &hook.PreToolUseOutput{PermissionDecision: hook.DecisionAllow, UpdatedInput: input}, nil
		}),
		PostToolUse: hook.On("Bash", func(_ context.Context, in *hook.PostToolUseInput) (*hook.PostToolUseOutput, error) {
			var result tool.BashResult
			if err := in.ToolResponse.Decode(&result); err != nil {
				return nil, err
			}
			ran <- result.Stdout
			return &hook.PostToolUseOutput{AdditionalContext: "SEEN BY A HOOK"}, nil
		}),
	}
	collect(claude.Query(t.Context(), "go", w.opts)).one(t)
	if got := <-ran; got != "second" {
		t.Errorf("the tool said %q", got)
	}
	w.wasTold("SEEN BY A HOOK")
}

// TestHookDeclinesElicitation declines a question of an MCP server in a hook: no
// other callback is called. An accepting hook does not prevent the CLI from asking.
func TestHookDeclinesElicitation(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		out   *hook.ElicitationOutput
		err   error
		asked bool
	}{
		"decline": {out: &hook.ElicitationOutput{Action: message.ElicitationDecline}},
		"error":   {err: errors.New("boom")},
		"accept":  {out: &hook.ElicitationOutput{Action: message.ElicitationAccept, Content: map[string]any{"name": "x"}}, asked: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, claudetest.Use("mcp__ext__ask", map[string]any{}), claudetest.Say("done"))
			w.opts.MCPServers, w.opts.AllowedTools = extServer(t), []string{"mcp__ext"}
			asked := make(chan message.ElicitationAction, 1)
			w.opts.Hooks = &hook.Hooks{
				Elicitation: hook.On("", func(context.Context, *hook.ElicitationInput) (*hook.ElicitationOutput, error) {
					return tt.out, tt.err
				}),
				ElicitationResult: hook.On("", func(_ context.Context, in *hook.ElicitationResultInput) (*hook.ElicitationResultOutput, error) {
					asked <- in.Action
					return nil, nil
				}),
			}
			collect(claude.Query(t.Context(), "go", w.opts)).one(t)
			w.wasTold(`elicited: {\"action\":\"decline\"}`)
			if got := len(asked) > 0; got != tt.asked {
				t.Errorf("somebody else was asked: %t", got)
			}
		})
	}
}
