package hook

import (
	"errors"

	"github.com/seed7221b0f9/parley/claude/message"
)

// UserPromptSubmitOutput is the output of a UserPromptSubmit hook. It can add context to the
// prompt; Output.Decision [DecisionBlock] refuses it.
type UserPromptSubmitOutput struct {
	Output            `json:"-"`
	AdditionalContext string `json:"additionalContext,omitempty"`
	SessionTitle      string `json:"sessionTitle,omitempty"`
	// SuppressOriginalPrompt omits the text of a refused prompt from the message about it.
	SuppressOriginalPrompt bool `json:"suppressOriginalPrompt,omitempty"`
}

func (*UserPromptSubmitOutput) refuse(reason string) AnyOutput {
	return &UserPromptSubmitOutput{Output: Output{Decision: DecisionBlock, Reason: reason}}
}

// UserPromptExpansionOutput is the output of a UserPromptExpansion hook. It can add context to
// the prompt; Output.Decision [DecisionBlock] refuses it.
type UserPromptExpansionOutput struct {
	Output                 `json:"-"`
	AdditionalContext      string `json:"additionalContext,omitempty"`
	SuppressOriginalPrompt bool   `json:"suppressOriginalPrompt,omitempty"`
}

func (*UserPromptExpansionOutput) refuse(reason string) AnyOutput {
	return &UserPromptExpansionOutput{Output: Output{Decision: DecisionBlock, Reason: reason}}
}

// NotificationOutput is the output of a Notification hook. AdditionalContext is for the model;
// the note itself cannot be changed.
type NotificationOutput struct {
	Output            `json:"-"`
	AdditionalContext string `json:"additionalContext,omitempty"`
}

// MessageDisplayOutput is the output of a MessageDisplay hook. It changes the displayed text, not
// the answer itself.
type MessageDisplayOutput struct {
	Output         `json:"-"`
	DisplayContent *string `json:"displayContent,omitempty"` // nil: the lines are unchanged
}

// ElicitationOutput is the output of an Elicitation hook. The only Action that the CLI accepts from
// a Go hook is [message.ElicitationDecline], which is sent with Output.Decision [DecisionBlock];
// with any other Action the CLI still asks the user.
type ElicitationOutput struct {
	Output  `json:"-"`
	Action  message.ElicitationAction `json:"action,omitempty"`
	Content any                       `json:"content,omitempty"` // must encode to a JSON object
}

func (*ElicitationOutput) refuse(reason string) AnyOutput {
	return &ElicitationOutput{Output: Output{Reason: reason}, Action: message.ElicitationDecline}
}

func (o *ElicitationOutput) common() *Output { return declined(&o.Output, o.Action) }

func (o *ElicitationOutput) check() error { return checkElicitation(o.Action, o.Content) }

// ElicitationResultOutput is the output of an ElicitationResult hook. It can turn the answer to a
// question of an MCP server into a refusal, with the limits of [ElicitationOutput].
type ElicitationResultOutput struct {
	Output  `json:"-"`
	Action  message.ElicitationAction `json:"action,omitempty"`
	Content any                       `json:"content,omitempty"` // must encode to a JSON object
}

func (*ElicitationResultOutput) refuse(reason string) AnyOutput {
	return &ElicitationResultOutput{Output: Output{Reason: reason}, Action: message.ElicitationDecline}
}

func (o *ElicitationResultOutput) common() *Output { return declined(&o.Output, o.Action) }

// declined sets the members with which the CLI accepts a refusal from a callback.
func declined(o *Output, action message.ElicitationAction) *Output {
	if action != message.ElicitationDecline || o.Decision != "" || o.Async {
		return o
	}
	blocked := *o
	blocked.Decision = DecisionBlock
	return &blocked
}

func (o *ElicitationResultOutput) check() error { return checkElicitation(o.Action, o.Content) }

func checkElicitation(action message.ElicitationAction, content any) error {
	return errors.Join(objectOnly("Content", content), oneOf("Action", action, message.ElicitationAccept, message.ElicitationDecline, message.ElicitationCancel))
}
