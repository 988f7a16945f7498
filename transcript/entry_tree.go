package transcript

import (
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// UserEntry is a line in the user's role: a prompt, the result of one tool, or a note that the CLI
// added.
type UserEntry struct {
	Link
	Message message.UserContent `json:"message"` // a string or blocks, decoded on demand

	// ToolUseResult is the tool's output: an object, or a string for an error and for MCP tools.
	// Files of subagents do not have it.
	ToolUseResult           message.JSON `json:"toolUseResult"`
	SourceToolAssistantUUID string       `json:"sourceToolAssistantUUID"` // the line of the tool use that this line answers
	SourceToolUseID         string       `json:"sourceToolUseID"`
	PermissionDecision      message.JSON `json:"permissionDecision"`
	ToolDenialKind          string       `json:"toolDenialKind"` // if set, the reason why the tool did not run

	PermissionMode string       `json:"permissionMode"`
	PromptSource   string       `json:"promptSource"`
	TurnOrigin     string       `json:"turnOrigin"`
	TurnPosition   message.JSON `json:"turnPosition"`
	Origin         message.JSON `json:"origin"`   // the author, if it was not the user
	Contexts       message.JSON `json:"contexts"` // written by other programs only, never by the CLI

	IsCompactSummary          bool `json:"isCompactSummary"`
	IsVisibleInTranscriptOnly bool `json:"isVisibleInTranscriptOnly"`
}

// Text returns the text of the message: the string itself, or its text blocks joined without a
// separator.
func (e *UserEntry) Text() string { return e.Message.Content.String() }

// AssistantEntry is one block of an answer. The CLI writes one line per block; the lines of one
// answer share Message.ID, and each repeats the whole answer's usage. [Join] merges them.
type AssistantEntry struct {
	Link
	Message APIMessage `json:"message"`

	RequestID      string `json:"requestId"`  // of the API, if any
	RequestRef     string `json:"requestRef"` // the id of an api-request record
	RequestedModel string `json:"requestedModel"`
	APIBlockIndex  *int64 `json:"apiBlockIndex"`
	Effort         string `json:"effort"`
	ThinkingMS     int64  `json:"thinkingDurationMs"`

	IsAPIErrorMessage  bool                   `json:"isApiErrorMessage"` // the text is an error that the CLI wrote
	Error              message.AssistantError `json:"error"`
	APIError           string                 `json:"apiError"`
	APIErrorStatus     int64                  `json:"apiErrorStatus"`
	APIErrorType       string                 `json:"apiErrorType"`
	ErrorDetails       message.JSON           `json:"errorDetails"`
	IsAbortedMidStream bool                   `json:"isAbortedMidStream"`

	AttributionAgent string `json:"attributionAgent"`
	AttributionSkill string `json:"attributionSkill"`
}

// Text returns the text of the line's text blocks. An answer has a line for each of its blocks.
func (e *AssistantEntry) Text() string { return e.Message.Content.String() }

// APIMessage is the part of an assistant line that comes from the API: model, content, stop
// reason and usage.
type APIMessage struct {
	ID         string          `json:"id"`
	Role       string          `json:"role"`
	Model      string          `json:"model"` // "<synthetic>" for text that the CLI wrote
	Content    message.Content `json:"content"`
	StopReason string          `json:"stop_reason"`
	UsageJSON  message.JSON    `json:"usage"`
}

// Usage returns the token counts of the whole answer, or nil if the line does not report them.
func (m *APIMessage) Usage() *message.Usage {
	if m.UsageJSON == "" {
		return nil
	}
	var u *message.Usage
	if jsonwire.Unmarshal(string(m.UsageJSON), &u) != nil {
		return nil
	}
	return u
}

// SystemEntry is a note of the CLI. Its subtype names the kind: compact_boundary, local_command,
// api_error and others.
type SystemEntry struct {
	Link
	Subtype         string           `json:"subtype"`
	Level           string           `json:"level"`
	Content         message.Content  `json:"content"` // nearly always a string
	CompactMetadata *CompactMetadata `json:"compactMetadata"`
	CommandRun      message.JSON     `json:"commandRun"`
	Error           message.JSON     `json:"error"`
	ToolUseID       string           `json:"toolUseID"`
	Origin          message.JSON     `json:"origin"`
}

// Text returns the text of the note for people. It is empty for notes that only have data.
func (e *SystemEntry) Text() string { return e.Content.String() }

// CompactMetadata describes a compaction: its trigger, the tokens before and after it, and the
// preserved messages.
type CompactMetadata struct {
	Trigger           string             `json:"trigger"` // auto, manual
	PreTokens         int64              `json:"preTokens"`
	PostTokens        int64              `json:"postTokens"`
	DurationMS        *int64             `json:"durationMs"`
	PreservedMessages *PreservedMessages `json:"preservedMessages"`
	PreservedSegment  *PreservedSegment  `json:"preservedSegment"`
}

// PreservedMessages are messages from before a compaction that were kept: they
// follow the anchor, which is the summary.
type PreservedMessages struct {
	AnchorUUID string   `json:"anchorUuid"`
	UUIDs      []string `json:"uuids"`
}

// PreservedSegment is an older form of [PreservedMessages]: the chain from head to tail follows the
// anchor.
type PreservedSegment struct {
	HeadUUID   string `json:"headUuid"`
	AnchorUUID string `json:"anchorUuid"`
	TailUUID   string `json:"tailUuid"`
}

// AttachmentEntry is data that the CLI attached to the conversation: the environment, a file, a
// queued prompt, …
type AttachmentEntry struct {
	Link
	Attachment   message.JSON `json:"attachment"` // an object; its shape depends on the attachment type
	Rendered     message.JSON `json:"rendered"`   // the text that the model got for it
	RenderedRole string       `json:"renderedRole"`
}

// AttachmentType returns the type of the attachment, such as environment, file or queued_command,
// if any.
func (e *AttachmentEntry) AttachmentType() string {
	return jsonwire.NewDecoder(string(e.Attachment)).Peek("type")
}

// ProgressEntry is a progress report of a running tool. Only older CLIs kept these reports in the
// transcript.
type ProgressEntry struct {
	Link
	Data            message.JSON `json:"data"`
	ToolUseID       string       `json:"toolUseID"`
	ParentToolUseID string       `json:"parentToolUseID"`
}
