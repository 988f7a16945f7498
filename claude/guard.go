package claude

import "context"

// GuardRequest is a tool call that is about to run.
type GuardRequest struct{ *PreToolUseInput }

// guards are the matchers of this package's own, which come first.
func (o *Options) guards() []HookMatcher[PreToolUseInput, PreToolUseOutput] {
	if o.Guard == nil {
		return nil
	}
	// Without OnFailure a guard that fails refuses the call.
	return On("", o.guardHook())
}

// guardHook is Guard as a hook.
func (o *Options) guardHook() Hook[PreToolUseInput, PreToolUseOutput] {
	return func(ctx context.Context, in *PreToolUseInput) (*PreToolUseOutput, error) {
		deny, err := o.Guard(ctx, &GuardRequest{in})
		if err != nil || deny == nil {
			return nil, err
		}
		out := &PreToolUseOutput{PermissionDecision: DecisionDeny, PermissionDecisionReason: deny.Message}
		if deny.Message == "" {
			out.PermissionDecisionReason = deniedMessage
		}
		if deny.Interrupt {
			out.Continue, out.StopReason = new(false), out.PermissionDecisionReason
		}
		return out, nil
	}
}
