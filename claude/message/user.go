package message

// User is a message in the role of the user: the result of a tool, a note that the CLI inserted,
// or, with the flag --replay-user-messages, a prompt that the CLI repeats.
type User struct {
	Header
	Message         UserContent `json:"message"`
	ParentToolUseID string      `json:"parent_tool_use_id,omitempty"` // set for a subagent: the tool use that started it
	// ToolUseResult is the tool's own structured output: an object, an array,
	// or a string, mostly for errors.
	ToolUseResult  JSON             `json:"tool_use_result,omitempty"`
	ToolResultMeta []ToolResultMeta `json:"tool_result_meta,omitempty"`

	IsSynthetic     bool     `json:"isSynthetic,omitempty"` // written by the CLI, not by a person
	IsReplay        bool     `json:"isReplay,omitempty"`    // a prompt or a command's output that the CLI repeats
	IsMeta          bool     `json:"isMeta,omitempty"`
	Priority        Priority `json:"priority,omitempty"`
	Origin          *Origin  `json:"origin,omitempty"`
	ShouldQuery     *bool    `json:"shouldQuery,omitempty"`
	ClientComposed  bool     `json:"client_composed,omitempty"`
	Timestamp       string   `json:"timestamp,omitempty"`
	AgentID         string   `json:"agent_id,omitempty"`
	SubagentType    string   `json:"subagent_type,omitempty"`
	TaskDescription string   `json:"task_description,omitempty"`
	FileAttachments JSON     `json:"file_attachments,omitempty"`
	PastedContent   JSON     `json:"pasted_content,omitempty"`
	InlinePastes    []string `json:"inline_pastes,omitempty"`
}

// UserContent is the part of a user message that goes to the API: the role and the content.
type UserContent struct {
	Role    string  `json:"role"`
	Content Content `json:"content"`
}

// Text returns the text of the message: the string itself, or its text blocks joined without a
// separator.
func (m *User) Text() string { return m.Message.Content.String() }

// ToolResultMeta reports the permission decision for a tool call. NonExecutionKind is set if the
// tool did not run.
type ToolResultMeta struct {
	ID                 string              `json:"id"`
	PermissionDecision *PermissionDecision `json:"permission_decision,omitempty"`
	NonExecutionKind   string              `json:"non_execution_kind,omitempty"` // set if the tool did not run: the reason
}

// PermissionDecision is a decision about one tool call: the outcome, its source, and the kind of
// reason.
type PermissionDecision struct {
	Decision   string `json:"decision"`
	Source     string `json:"source"`
	ReasonType string `json:"reason_type,omitempty"`
}

// Priority decides when the CLI takes a queued prompt. The set is open: a newer CLI may send values
// that have no constant here.
type Priority string

// The priorities that are known. A newer CLI may send others, so a switch over them needs a default.
const (
	PriorityNow   Priority = "now"
	PriorityNext  Priority = "next"
	PriorityLater Priority = "later"
)

// Origin names the source of a turn, such as a person, another agent or a task. Kind decides which
// of the other members are set. Prompts that a program sends have no origin.
type Origin struct {
	Kind            string `json:"kind"` // human, channel, peer, task-notification, coordinator, observer, auto-continuation, …
	Server          string `json:"server,omitempty"`
	From            string `json:"from,omitempty"`
	FromMode        string `json:"fromMode,omitempty"`
	FromSession     string `json:"fromSession,omitempty"`
	Name            string `json:"name,omitempty"`
	SenderTaskID    string `json:"senderTaskId,omitempty"`
	Body            string `json:"body,omitempty"`
	VerifiedPeerPID int64  `json:"verifiedPeerPid,omitempty"`
	Subkind         string `json:"subkind,omitempty"`
	FireReason      string `json:"fireReason,omitempty"`
	RunID           string `json:"runId,omitempty"`
	Producer        string `json:"producer,omitempty"`
}
