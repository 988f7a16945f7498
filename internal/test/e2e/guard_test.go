package e2e_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/hook"
	"github.com/seed7221b0f9/parley/claude/message"
)

// A guard gets every call regardless of the mode, and refused calls do not run.
func TestGuardInEveryMode(t *testing.T) {
	t.Parallel()
	modes := map[string]func(o *claude.Options){
		"allowed": func(o *claude.Options) { o.AllowedTools = []string{"Bash"} },
		"hook": func(o *claude.Options) {
			o.Hooks = &hook.Hooks{PreToolUse: hook.On("", func(context.Context, *hook.PreToolUseInput) (*hook.PreToolUseOutput, error) {
				return &hook.PreToolUseOutput{PermissionDecision: hook.DecisionAllow}, nil
			})}
		},
	}
	for _, mode := range []message.PermissionMode{message.ModeDefault, message.ModeAcceptEdits, message.ModeBypassPermissions, message.ModePlan, message.ModeDontAsk} {
		modes[string(mode)] = func(o *claude.Options) {
			o.PermissionMode = mode
			o.AllowDangerouslySkipPermissions = mode == message.ModeBypassPermissions
			o.Env["IS_SANDBOX"] = "1" // the tests may run as root
		}
	}
	for name, set := range modes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, touchFile, claudetest.Say("done"))
			set(w.opts)
			var seen atomic.Int32
			w.opts.Guard = func(_ context.Context, g *claude.GuardRequest) (*claude.Deny, error) {
				seen.Add(1)
				return &claude.Deny{Message: "guarded " + g.ToolName}, nil
			}
			talk := collect(claude.Query(t.Context(), "go", w.opts))
			if seen.Load() != 1 || w.exists("f1") || !strings.Contains(talk.toolResults(), "guarded Bash") {
				t.Errorf("seen %d times: %s", seen.Load(), talk.toolResults())
			}
		})
	}
}

func TestGuardOutcomes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		guard func(context.Context, *claude.GuardRequest) (*claude.Deny, error)
		runs  bool
		next  bool // the model continues
	}{
		"pass": {func(context.Context, *claude.GuardRequest) (*claude.Deny, error) { return nil, nil }, true, true},
		"deny": {func(context.Context, *claude.GuardRequest) (*claude.Deny, error) { return &claude.Deny{}, nil }, false, true},
		"interrupt": {func(context.Context, *claude.GuardRequest) (*claude.Deny, error) {
			return &claude.Deny{Interrupt: true}, nil
		}, false, false},
		"error": {func(context.Context, *claude.GuardRequest) (*claude.Deny, error) { return nil, errors.New("boom") }, false, true},
		"panic": {func(context.Context, *claude.GuardRequest) (*claude.Deny, error) { panic("boom") }, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, touchFile, claudetest.Say("done"))
			w.opts.AllowedTools = []string{"Bash"}
			w.opts.Guard = tt.guard
			talk := collect(claude.Query(t.Context(), "go", w.opts))
			if w.exists("f1") != tt.runs || strings.Contains(talk.text(), "done") != tt.next {
				t.Errorf("runs %t, %v, %s", w.exists("f1"), talk.kinds(), talk.toolResults())
			}
		})
	}
}
