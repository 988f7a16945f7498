package claude

import (
	"context"

	"github.com/seed7221b0f9/parley/claude/hook"
)

// GuardRequest is a tool call that is about to run. [Options.Guard] gets it before any rule or
// permission callback applies.
type GuardRequest struct{ *hook.PreToolUseInput }

// guards returns the matchers of this package, which precede the caller's.
func (l *launch) guards() []hook.Matcher[hook.PreToolUseInput, hook.PreToolUseOutput] {
	if l.Guard == nil {
		return nil
	}
	// Without hook.OnFailure a failing guard refuses the call.
	return hook.On("", l.guardHook())
}

// guardHook returns Guard as a hook.
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
