package claude

import "errors"

// UserPromptSubmitOutput adds to a prompt; HookOutput.Decision [DecisionBlock]
// refuses it.
type UserPromptSubmitOutput struct {
	HookOutput        `json:"-"`
	AdditionalContext string `json:"additionalContext,omitempty"`
	SessionTitle      string `json:"sessionTitle,omitempty"`
	// SuppressOriginalPrompt leaves the prompt out of the message that it is
	// refused.
	SuppressOriginalPrompt bool `json:"suppressOriginalPrompt,omitempty"`
}

// UserPromptExpansionOutput adds to a prompt that a command has become;
// HookOutput.Decision [DecisionBlock] refuses it.
type UserPromptExpansionOutput struct {
	HookOutput             `json:"-"`
	AdditionalContext      string `json:"additionalContext,omitempty"`
	SuppressOriginalPrompt bool   `json:"suppressOriginalPrompt,omitempty"`
}

// NotificationOutput answers a notification.
type NotificationOutput struct {
	HookOutput        `json:"-"`
	AdditionalContext string `json:"additionalContext,omitempty"`
}

// MessageDisplayOutput replaces what is shown of an answer, not the answer.
type MessageDisplayOutput struct {
	HookOutput     `json:"-"`
	DisplayContent *string `json:"displayContent,omitempty"` // nil: the lines as they are
}

// ElicitationOutput answers a question of an MCP server. Of what a callback
// answers the CLI takes a refusal alone, as HookOutput.Decision [DecisionBlock],
// which ElicitationDecline is sent with; with any other Action it goes on and
// asks (hook-elicitation).
type ElicitationOutput struct {
	HookOutput `json:"-"`
	Action     ElicitationAction `json:"action,omitempty"`
	Content    any               `json:"content,omitempty"` // must encode to a JSON object
}

func (o *ElicitationOutput) common() *HookOutput { return declined(&o.HookOutput, o.Action) }

func (o *ElicitationOutput) check() error { return checkElicitation(o.Action, o.Content) }

// ElicitationResultOutput changes the answer to a question of an MCP server. The
// CLI takes the same of it as of an [ElicitationOutput].
type ElicitationResultOutput struct {
	HookOutput `json:"-"`
	Action     ElicitationAction `json:"action,omitempty"`
	Content    any               `json:"content,omitempty"` // must encode to a JSON object
}

func (o *ElicitationResultOutput) common() *HookOutput { return declined(&o.HookOutput, o.Action) }

// declined makes a refusal one that the CLI takes from a callback.
func declined(o *HookOutput, action ElicitationAction) *HookOutput {
	if action != ElicitationDecline || o.Decision != "" || o.Async {
		return o
	}
	blocked := *o
	blocked.Decision = DecisionBlock
	return &blocked
}

func (o *ElicitationResultOutput) check() error { return checkElicitation(o.Action, o.Content) }

func checkElicitation(action ElicitationAction, content any) error {
	return errors.Join(objectOnly("Content", content), oneOf("Action", action, ElicitationAccept, ElicitationDecline, ElicitationCancel))
}
