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
	"github.com/seed7221b0f9/parley/claudetest"
)

// notFired are the events that the CLI of the tests fires for no callback,
// whatever the scenes do: Setup is run by flags that only command hooks hear of,
// TeammateIdle by agents that this CLI does not start without a terminal.
var notFired = []string{"Setup", "TeammateIdle"}

// TestHookEvents registers hooks for all events in every scene and holds the
// events that fire against the ones that are known to.
func TestHookEvents(t *testing.T) {
	t.Parallel()
	fired := map[string]bool{}
	for _, s := range hookScenes {
		for _, event := range s.want {
			fired[event] = true
		}
	}
	var never []string
	for field := range reflect.TypeFor[claude.Hooks]().Fields() {
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

// checkTyped fails for a member of an input that its type does not have.
func (l *hookLog) checkTyped() {
	for _, in := range l.inputs {
		d := json.NewDecoder(strings.NewReader(string(in.(input).Raw())))
		d.DisallowUnknownFields()
		if err := d.Decode(reflect.New(reflect.TypeOf(in).Elem()).Interface()); err != nil {
			l.t.Errorf("%s: %v in %s", event(in), err, in.(input).Raw())
		}
	}
}

// touch is what a tool call of these tests does.
const touch = "touch ran"

// runsTool runs a turn in which the model calls a tool that is allowed, and
// reports whether the tool ran.
func runsTool(t *testing.T, hooks *claude.Hooks) (ran bool, got talk) {
	t.Helper()
	w := newWorld(t, calls(bash(touch)), claudetest.Say("done"))
	w.opts.AllowedTools = []string{"Bash"}
	w.opts.Hooks, w.opts.Logger = hooks, slog.New(slog.DiscardHandler)
	got = collect(claude.Query(t.Context(), "go", w.opts))
	got.one(t)
	_, err := os.Stat(filepath.Join(w.dir, "ran"))
	return err == nil, got
}

// TestHookDecides is about one tool call: what its hook says is what happens.
func TestHookDecides(t *testing.T) {
	t.Parallel()
	type out = claude.PreToolUseOutput
	answer := func(o *out) claude.PreToolUseHook {
		return func(context.Context, *claude.PreToolUseInput) (*out, error) { return o, nil }
	}
	fails := func(context.Context, *claude.PreToolUseInput) (*out, error) { return nil, errors.New("boom") }
	panics := func(context.Context, *claude.PreToolUseInput) (*out, error) { panic("boom") }
	sleeps := func(ctx context.Context, _ *claude.PreToolUseInput) (*out, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	for name, tt := range map[string]struct {
		hook      claude.PreToolUseHook
		timeout   time.Duration
		onFailure claude.OnFailure
		runs      bool
	}{
		"no opinion":             {hook: answer(nil), runs: true},
		"empty":                  {hook: answer(&out{}), runs: true},
		"deny, all else unset":   {hook: answer(&out{PermissionDecision: claude.DecisionDeny})},
		"deny with empty values": {hook: answer(&out{PermissionDecision: claude.DecisionDeny, UpdatedInput: map[string]any(nil)})},
		"block":                  {hook: answer(&out{HookOutput: claude.HookOutput{Decision: claude.DecisionBlock, Reason: "no"}})},
		"continue false":         {hook: answer(&out{HookOutput: claude.HookOutput{Continue: new(false)}}), runs: true}, // only the turn ends
		"misspelt":               {hook: answer(&out{PermissionDecision: "Deny"})},
		"async":                  {hook: answer(&out{HookOutput: claude.HookOutput{Async: true}}), runs: true},
		"error":                  {hook: fails},
		"panic":                  {hook: panics},
		"too slow":               {hook: sleeps, timeout: time.Second},
		"error, continue":        {hook: fails, onFailure: claude.Continue, runs: true},
		"panic, continue":        {hook: panics, onFailure: claude.Continue, runs: true},
		"error, block":           {hook: fails, onFailure: claude.Block},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			matchers := claude.On("Bash", tt.hook)
			matchers[0].Timeout, matchers[0].OnFailure = tt.timeout, tt.onFailure
			if ran, got := runsTool(t, &claude.Hooks{PreToolUse: matchers}); ran != tt.runs {
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
	w.opts.Hooks = &claude.Hooks{
		UserPromptSubmit: claude.On("", func(context.Context, *claude.UserPromptSubmitInput) (*claude.UserPromptSubmitOutput, error) {
			if refuse {
				return nil, errors.New("the prompt's hook is broken")
			}
			return &claude.UserPromptSubmitOutput{AdditionalContext: "CONTEXT OF THE HOOK"}, nil
		}),
		PreModelSwitch: claude.On("", func(context.Context, *claude.PreModelSwitchInput) (*claude.PreModelSwitchOutput, error) {
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

// wasTold fails unless the model was told a text.
func (w *world) wasTold(text string) {
	w.t.Helper()
	if !slices.ContainsFunc(w.api.Requests(), func(r claudetest.APIRequest) bool { return strings.Contains(string(r.Body), text) }) {
		w.t.Errorf("the model was not told %q", text)
	}
}

// TestHookChangesInputAndOutput has a call run with another input and the model
// see another result.
func TestHookChangesInputAndOutput(t *testing.T) {
	t.Parallel()
	w := newWorld(t, calls(bash("echo first")), claudetest.Say("done"))
	w.opts.AllowedTools = []string{"Bash"}
	ran := make(chan string, 1)
	w.opts.Hooks = &claude.Hooks{
		PreToolUse: claude.On("Bash", func(_ context.Context, in *claude.PreToolUseInput) (*claude.PreToolUseOutput, error) {
			input, err := in.DecodeInput()
			if err != nil {
				return nil, err
			}
			input.(*claude.BashInput).Command = "echo second"
			return &claude.PreToolUseOutput{PermissionDecision: claude.DecisionAllow, UpdatedInput: input}, nil
		}),
		PostToolUse: claude.On("Bash", func(_ context.Context, in *claude.PostToolUseInput) (*claude.PostToolUseOutput, error) {
			var result claude.BashResult
			if err := in.ToolResponse.Decode(&result); err != nil {
				return nil, err
			}
			ran <- result.Stdout
			return &claude.PostToolUseOutput{AdditionalContext: "SEEN BY A HOOK"}, nil
		}),
	}
	collect(claude.Query(t.Context(), "go", w.opts)).one(t)
	if got := <-ran; got != "second" {
		t.Errorf("the tool said %q", got)
	}
	w.wasTold("SEEN BY A HOOK")
}

// TestHookDeclinesElicitation has a question of an MCP server refused by a hook:
// nobody else is asked. What it would accept the CLI asks about nevertheless.
func TestHookDeclinesElicitation(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		out   *claude.ElicitationOutput
		err   error
		asked bool
	}{
		"decline": {out: &claude.ElicitationOutput{Action: claude.ElicitationDecline}},
		"error":   {err: errors.New("boom")},
		"accept":  {out: &claude.ElicitationOutput{Action: claude.ElicitationAccept, Content: map[string]any{"name": "x"}}, asked: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, claudetest.Use("mcp__ext__ask", map[string]any{}), claudetest.Say("done"))
			w.opts.MCPServers, w.opts.AllowedTools = extServer(t), []string{"mcp__ext"}
			asked := make(chan claude.ElicitationAction, 1)
			w.opts.Hooks = &claude.Hooks{
				Elicitation: claude.On("", func(context.Context, *claude.ElicitationInput) (*claude.ElicitationOutput, error) {
					return tt.out, tt.err
				}),
				ElicitationResult: claude.On("", func(_ context.Context, in *claude.ElicitationResultInput) (*claude.ElicitationResultOutput, error) {
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
