package hook_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed7221b0f9/parley/claude/hook"
)

// TestTable_absence checks that the CLI waits for a hook at least for the function's own time limit
// plus the possible absence of its process, and never longer than the CLI's timers support.
func TestTable_absence(t *testing.T) {
	const most = 24 * 24 * time.Hour
	for _, tt := range []struct{ timeout, absence, want time.Duration }{
		{0, 0, 0},
		{time.Minute, 0, time.Minute},
		{0, time.Hour, time.Hour + 10*time.Minute},
		{time.Minute, time.Hour, time.Hour + time.Minute + 5*time.Second},
		{2 * most, 0, most},
		{time.Minute, 2 * most, most},
		{2 * most, 1 << 62, most},
	} {
		table := hook.NewTable(&hook.Hooks{PreToolUse: []hook.Matcher[hook.PreToolUseInput, hook.PreToolUseOutput]{{Hooks: []hook.PreToolUseFunc{allowed}, Timeout: tt.timeout}}}, tt.absence)
		if got := table.Events[hook.PreToolUse][0].Timeout; got != tt.want.Seconds() {
			t.Errorf("with a Timeout of %v and an absence of %v the CLI waits %v s, want %v", tt.timeout, tt.absence, got, tt.want)
		}
	}
}

func allowed(context.Context, *hook.PreToolUseInput) (*hook.PreToolUseOutput, error) { return nil, nil }

// TestTable_absenceLimit checks that a function that does not return fails after its own time
// limit, however long the CLI would wait, and that OnFailure then decides.
func TestTable_absenceLimit(t *testing.T) {
	for _, tt := range []struct {
		timeout, limit time.Duration
		onFailure      hook.OnFailure
		refused        bool
	}{
		{0, 10 * time.Minute, "", true}, {time.Minute, 65 * time.Second, "", true},
		{0, 10 * time.Minute, hook.Continue, false}, {time.Minute, 65 * time.Second, hook.Block, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			stuck := func(ctx context.Context, _ *hook.PreToolUseInput) (*hook.PreToolUseOutput, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			table := hook.NewTable(&hook.Hooks{PreToolUse: []hook.Matcher[hook.PreToolUseInput, hook.PreToolUseOutput]{{Hooks: []hook.PreToolUseFunc{stuck}, Timeout: tt.timeout, OnFailure: tt.onFailure}}}, 24*time.Hour)
			begun := time.Now()
			var work sync.WaitGroup
			answer, _, err := table.Call(t.Context(), "hook_0", hook.Invocation{Start: work.Go, Input: "{}"})
			work.Wait()
			if took := time.Since(begun); took != tt.limit {
				t.Errorf("a function with a Timeout of %v fails after %v, want %v", tt.timeout, took, tt.limit)
			}
			if refused := strings.Contains(string(answer), `"deny"`); refused != tt.refused || (err == nil) != tt.refused {
				t.Errorf("with OnFailure %q the answer is %s, %v; want a refusal: %v", tt.onFailure, answer, err, tt.refused)
			}
		})
	}
}

// TestTable_registered checks that a table takes over the ids that another version has assigned: a
// call reaches the hook of its event and matcher, or none.
func TestTable_registered(t *testing.T) {
	var called []string
	on := func(name string) hook.PreToolUseFunc {
		return func(context.Context, *hook.PreToolUseInput) (*hook.PreToolUseOutput, error) {
			called = append(called, name)
			return nil, nil
		}
	}
	stop := func(context.Context, *hook.StopInput) (*hook.StopOutput, error) {
		called = append(called, "stop")
		return nil, nil
	}
	own := hook.NewTable(&hook.Hooks{PreToolUse: append(hook.On("", on("all")), hook.On("Bash", on("first"), on("second"))...), Stop: hook.On("", stop)}, 0)
	table := own.Registered(map[hook.Event][]hook.Registration{
		"Earlier":       {{HookCallbackIDs: []string{"hook_0"}}},
		hook.PreToolUse: {{Matcher: "Bash", HookCallbackIDs: []string{"hook_1"}}, {Matcher: "Bash", HookCallbackIDs: []string{"hook_2", "hook_3"}}, {HookCallbackIDs: []string{"hook_4"}}, {Matcher: "Edit", HookCallbackIDs: []string{"hook_5"}}},
	})
	for id, want := range map[string]string{"hook_0": "", "hook_1": "first", "hook_2": "second", "hook_3": "", "hook_4": "all", "hook_5": "", "hook_6": ""} {
		called = nil
		var work sync.WaitGroup
		_, found, err := table.Call(t.Context(), id, hook.Invocation{Start: work.Go, Input: "{}"})
		work.Wait()
		if got := strings.Join(called, ","); got != want || found != (want != "") || err != nil {
			t.Errorf("%s calls %q (%v, %v), want %q", id, got, found, err, want)
		}
	}
	if none := own.Registered(nil); none.Any() {
		t.Errorf("a CLI without hooks has %v", none.Events)
	}
}

// TestRefusal checks that Refusal refuses the same events as a failed hook.
func TestRefusal(t *testing.T) {
	refused := 0
	for f := range reflect.TypeFor[hook.Hooks]().Fields() {
		event := hook.Event(f.Name)
		got := string(hook.Refusal(event, "why"))
		if got == "{}" {
			continue
		}
		refused++
		if !strings.Contains(got, `"why"`) || !strings.Contains(got, `"deny"`) && !strings.Contains(got, `"block"`) {
			t.Errorf("%s is answered with %s, want a refusal", event, got)
		}
	}
	for _, event := range []hook.Event{hook.PreToolUse, hook.PermissionRequest, hook.UserPromptSubmit, hook.UserPromptExpansion, hook.PreModelSwitch, hook.Elicitation, hook.ElicitationResult, hook.ConfigChange} {
		if got := string(hook.Refusal(event, "why")); got == "{}" {
			t.Errorf("%s is not refused", event)
		} else {
			refused--
		}
	}
	for _, event := range []hook.Event{"Other", "Unknown", ""} {
		if got := string(hook.Refusal(event, "why")); got != "{}" {
			t.Errorf("the event %q is answered with %s, want {}", event, got)
		}
	}
	if refused != 0 {
		t.Errorf("%d more events are refused than this test lists", refused)
	}
}

// TestTable_absenceAnswer checks that a function has a deadline although the CLI would wait longer,
// and that its answer is returned.
func TestTable_absenceAnswer(t *testing.T) {
	table := hook.NewTable(&hook.Hooks{PreToolUse: hook.On("", func(ctx context.Context, _ *hook.PreToolUseInput) (*hook.PreToolUseOutput, error) {
		if _, limited := ctx.Deadline(); !limited {
			return nil, errors.New("there is no limit")
		}
		return &hook.PreToolUseOutput{PermissionDecision: hook.DecisionAllow}, nil
	})}, time.Hour)
	var work sync.WaitGroup
	answer, _, err := table.Call(t.Context(), "hook_0", hook.Invocation{Start: work.Go, Input: "{}"})
	work.Wait()
	if err != nil || !strings.Contains(string(answer), `"allow"`) {
		t.Errorf("the answer is %s, %v; want allow", answer, err)
	}
}
