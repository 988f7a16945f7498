package claude

import (
	"context"

	"github.com/seed7221b0f9/parley/claude/hook"
)

// GuardRequest is a tool call that is about to run, as [Options.Guard] sees it before any rule
// or permission callback.
type GuardRequest struct{ *hook.PreToolUseInput }

// guards are the matchers of this package's own, which come first.
func (l *launch) guards() []hook.Matcher[hook.PreToolUseInput, hook.PreToolUseOutput] {
	if l.Guard == nil {
		return nil
	}
	// Without hook.OnFailure a guard that fails refuses the call.
	return hook.On("", l.guardHook())
}

// guardHook is Guard as a hook.
func (l *launch) guardHook() hook.Func[hook.PreToolUseInput, hook.PreToolUseOutput] {
	return func(ctx context.Context, in *hook.PreToolUseInput) (*hook.PreToolUseOutput, error) {
		deny, err := l.Guard(ctx, &GuardRequest{in})
		if err != nil || deny == nil {
			return nil, err
		}
		out := &hook.PreToolUseOutput{PermissionDecision: hook.DecisionDeny, PermissionDecisionReason: deny.Message}
		if deny.Message == "" {
			out.PermissionDecisionReason = deniedMessage
		}
		if deny.Interrupt {
			out.Continue, out.StopReason = new(false), out.PermissionDecisionReason
		}
		return out, nil
	}
}
