package hook

import (
	"errors"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// PermissionDecision is a hook's decision about a tool call or a change of the model. The zero
// value is no decision.
type PermissionDecision string

// The decisions about a tool call that the CLI knows. Without one, the rules and the permission
// mode decide.
const (
	DecisionAllow PermissionDecision = "allow" // the call runs without asking
	DecisionDeny  PermissionDecision = "deny"
	DecisionAsk   PermissionDecision = "ask"   // permission is asked for
	DecisionDefer PermissionDecision = "defer" // the turn stops; message.Result.DeferredToolUse is the call
)

// PreToolUseOutput is the output of a PreToolUse hook. It can decide about the call, change its
// input and add context.
type PreToolUseOutput struct {
	Output                   `json:"-"`
	PermissionDecision       PermissionDecision `json:"permissionDecision,omitempty"`
	PermissionDecisionReason string             `json:"permissionDecisionReason,omitempty"`
	// UpdatedInput replaces the call's whole input. It must encode to a JSON
	// object; nil keeps the input.
	UpdatedInput      any    `json:"updatedInput,omitempty"`
	AdditionalContext string `json:"additionalContext,omitempty"`
}

func (*PreToolUseOutput) refuse(reason string) AnyOutput {
	return &PreToolUseOutput{PermissionDecision: DecisionDeny, PermissionDecisionReason: reason}
}

func (o *PreToolUseOutput) check() error {
	return errors.Join(objectOnly("UpdatedInput", o.UpdatedInput),
		oneOf("PermissionDecision", o.PermissionDecision, DecisionAllow, DecisionDeny, DecisionAsk, DecisionDefer))
}

// PostToolUseOutput is the output of a PostToolUse hook. It can add context to the result of
// the call or replace it.
type PostToolUseOutput struct {
	Output            `json:"-"`
	AdditionalContext string `json:"additionalContext,omitempty"`
	// ClassifierContext is shown to the classifier of the permission mode auto. It must not contain
	// text from a tool or from the model.
	ClassifierContext string `json:"classifierContext,omitempty"`
	// UpdatedToolOutput replaces the result. The CLI ignores it unless it has the shape of the
	// tool's result. UpdatedMCPToolOutput is its older form for tools of MCP servers.
	UpdatedToolOutput    any `json:"updatedToolOutput,omitempty"`
	UpdatedMCPToolOutput any `json:"updatedMCPToolOutput,omitempty"`
}

// PostToolUseFailureOutput is the output of a PostToolUseFailure hook. AdditionalContext is
// added to the error that the model reads.
type PostToolUseFailureOutput struct {
	Output            `json:"-"`
	AdditionalContext string `json:"additionalContext,omitempty"`
}

// PostToolBatchOutput is the output of a PostToolBatch hook. AdditionalContext is added to the
// results of the step.
type PostToolBatchOutput struct {
	Output            `json:"-"`
	AdditionalContext string `json:"additionalContext,omitempty"`
}

// PermissionRequestOutput is the output of a PermissionRequest hook, which can answer the request.
// Its Decision is specific to the event and hides the one of [Output]; nil means no decision.
type PermissionRequestOutput struct {
	Output   `json:"-"`
	Decision *PermissionRequestDecision `json:"decision,omitempty"`
}

func (*PermissionRequestOutput) refuse(reason string) AnyOutput {
	return &PermissionRequestOutput{Decision: &PermissionRequestDecision{Behavior: DecisionDeny, Message: reason}}
}

// PermissionRequestDecision answers a request for permission in place of the user: it allows the
// call, optionally changed, or denies it.
type PermissionRequestDecision struct {
	Behavior PermissionDecision // DecisionAllow or DecisionDeny
	// UpdatedInput replaces the call's whole input when it is allowed. It must
	// encode to a JSON object. UpdatedPermissions take effect as well.
	UpdatedInput       any
	UpdatedPermissions []message.PermissionUpdate
	// Message is the reason why the call is denied; Interrupt also ends the turn.
	Message   string
	Interrupt bool
}

// MarshalJSON writes only the members that belong to the behavior: those of an allowed call, or
// those of a denied one.
func (d *PermissionRequestDecision) MarshalJSON() ([]byte, error) {
	if d == nil {
		return []byte("null"), nil
	}
	if d.Behavior == DecisionAllow {
		text, err := jsonwire.Marshal(struct {
			Behavior           PermissionDecision         `json:"behavior"`
			UpdatedInput       any                        `json:"updatedInput,omitempty"`
			UpdatedPermissions []message.PermissionUpdate `json:"updatedPermissions,omitempty"`
		}{d.Behavior, d.UpdatedInput, d.UpdatedPermissions})
		if err != nil {
			return nil, err
		}
		members, err := membersWithout(text, "")
		return append(append([]byte{'{'}, members...), '}'), err
	}
	return jsonwire.Marshal(struct {
		Behavior  PermissionDecision `json:"behavior"`
		Message   string             `json:"message,omitempty"`
		Interrupt bool               `json:"interrupt,omitempty"`
	}{d.Behavior, d.Message, d.Interrupt})
}

func (o *PermissionRequestOutput) check() error {
	d := o.Decision
	if d == nil {
		return nil
	}
	if d.Behavior == "" {
		return errors.New("claude: Decision has no Behavior")
	}
	return errors.Join(objectOnly("Decision.UpdatedInput", d.UpdatedInput), oneOf("Decision.Behavior", d.Behavior, DecisionAllow, DecisionDeny))
}

// PermissionDeniedOutput is the output of a PermissionDenied hook. With Retry the model is
// asked to try the call again.
type PermissionDeniedOutput struct {
	Output `json:"-"`
	Retry  bool `json:"retry,omitempty"`
}
