package claude

import (
	"github.com/seed7221b0f9/parley/internal/control"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// refuser is the output of an event that can be refused.
type refuser interface {
	refuse(reason string) hookOutput
}

func (*PreToolUseOutput) refuse(reason string) hookOutput {
	return &PreToolUseOutput{PermissionDecision: DecisionDeny, PermissionDecisionReason: reason}
}

func (*PermissionRequestOutput) refuse(reason string) hookOutput {
	return &PermissionRequestOutput{Decision: &PermissionRequestDecision{Behavior: DecisionDeny, Message: reason}}
}

func (*UserPromptSubmitOutput) refuse(reason string) hookOutput {
	return &UserPromptSubmitOutput{HookOutput: HookOutput{Decision: DecisionBlock, Reason: reason}}
}

func (*PreModelSwitchOutput) refuse(reason string) hookOutput {
	return &PreModelSwitchOutput{PermissionDecision: DecisionDeny, PermissionDecisionReason: reason}
}

func (*ElicitationOutput) refuse(reason string) hookOutput {
	return &ElicitationOutput{HookOutput: HookOutput{Reason: reason}, Action: ElicitationDecline}
}

// OnFailureError says that hooks with OnFailure [Block] would not block: the CLI
// does not know the option, or serves a session that was running already and did
// not take the hooks. It is [ErrUnsupported].
type OnFailureError struct {
	Known   bool // the CLI knows the option
	Applied bool // the CLI took the hooks
}

func (e *OnFailureError) Error() string {
	if !e.Known {
		return "claude: the CLI does not know OnFailure: Block, so that a hook that fails would not block"
	}
	return "claude: the CLI did not take the hooks, so that one with OnFailure: Block would never run"
}

// Is reports whether target is ErrUnsupported.
func (e *OnFailureError) Is(target error) bool { return target == ErrUnsupported }

// hooksRefused is why the answer to initialize does not do for the hooks, nil if
// it does.
func (o *Options) hooksRefused(e control.Ended) error {
	if !o.hooksBlock() {
		return nil
	}
	var info struct {
		HooksApplied           *bool `json:"hooks_applied"`
		HookOnFailureSupported bool  `json:"hook_on_failure_supported"`
	}
	answer, err := e.Outcome()
	if err != nil {
		return err
	}
	// An answer that is broken does not say that hooks block.
	_ = jsonwire.Unmarshal(answer.Body, &info)
	refused := &OnFailureError{Known: info.HookOnFailureSupported, Applied: info.HooksApplied == nil || *info.HooksApplied}
	if refused.Known && refused.Applied {
		return nil
	}
	return refused
}
