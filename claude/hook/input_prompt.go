package hook

import "github.com/seed7221b0f9/parley/claude/message"

// PromptSource is the author of a prompt. The set is open: a newer CLI may send values that have
// no constant here.
type PromptSource string

// The sources that are known. A newer CLI may send others, so a switch over them needs a default.
const (
	PromptFromUser     PromptSource = "user" // typed in the CLI's own interface
	PromptFromSDK      PromptSource = "sdk"
	PromptFromSystem   PromptSource = "system" // the report of a task, or a message of another agent
	PromptFromLoop     PromptSource = "loop_wakeup"
	PromptFromSchedule PromptSource = "schedule_wakeup"
	PromptFromPoll     PromptSource = "poll_event"
)

// UserPromptSubmitInput is the input of a UserPromptSubmit hook: a prompt that the model has
// not seen yet.
type UserPromptSubmitInput struct {
	Input
	Prompt       string       `json:"prompt"`
	Source       PromptSource `json:"source,omitempty"`
	SessionTitle string       `json:"session_title,omitempty"`
}

// ExpansionType is the kind of command that expands into a prompt. The set is open: a newer CLI
// may send values that have no constant here.
type ExpansionType string

// The kinds that are known. A newer CLI may send others, so a switch over them needs a default.
const (
	ExpansionSlashCommand ExpansionType = "slash_command"
	ExpansionMCPPrompt    ExpansionType = "mcp_prompt"
)

// UserPromptExpansionInput is the input of a UserPromptExpansion hook: a command, and the
// prompt that it becomes.
type UserPromptExpansionInput struct {
	Input
	ExpansionType ExpansionType `json:"expansion_type"`
	CommandName   string        `json:"command_name"`
	CommandArgs   string        `json:"command_args"`
	CommandSource string        `json:"command_source,omitempty"`
	Prompt        string        `json:"prompt"`
}

// NotificationInput is the input of a Notification hook: a note that the CLI would show to its
// user.
type NotificationInput struct {
	Input
	Message          string `json:"message"`
	Title            string `json:"title,omitempty"`
	NotificationType string `json:"notification_type"`
}

// MessageDisplayInput is the input of a MessageDisplay hook: lines of an answer, in pieces, as
// they are completed.
type MessageDisplayInput struct {
	Input
	TurnID    string `json:"turn_id"`
	MessageID string `json:"message_id"` // not the id of the API's message
	Index     int64  `json:"index"`      // counts the deltas of a message, from 0
	Final     bool   `json:"final"`      // this is the last delta of the message, and may be empty
	Delta     string `json:"delta"`
}

// ElicitationInput is the input of an Elicitation hook: a question of an MCP server that the user
// has not seen yet.
type ElicitationInput struct {
	Input
	MCPServerName   string                  `json:"mcp_server_name"`
	Message         string                  `json:"message"`
	Mode            message.ElicitationMode `json:"mode,omitempty"`
	URL             string                  `json:"url,omitempty"`
	ElicitationID   string                  `json:"elicitation_id,omitempty"`
	RequestedSchema message.JSON            `json:"requested_schema,omitempty"`
}

// ElicitationResultInput is the input of an ElicitationResult hook: the answer to a question,
// before the MCP server gets it.
type ElicitationResultInput struct {
	Input
	MCPServerName string                    `json:"mcp_server_name"`
	ElicitationID string                    `json:"elicitation_id,omitempty"`
	Mode          message.ElicitationMode   `json:"mode,omitempty"`
	Action        message.ElicitationAction `json:"action"`
	Content       message.JSON              `json:"content,omitempty"`
}
