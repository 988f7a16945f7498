package api

import (
	"encoding/json"

	"github.com/seed7221b0f9/parley/agent/event"
)

// Extra holds the members of an object that this package does not know, by name. It is nil if
// there are none. [Encode] writes them after the known members, sorted by name.
type Extra map[string]json.RawMessage

// Message is one message to a front end. The set of types is closed: a message of any other type
// is an *[UnknownMessage].
type Message interface {
	json.Marshaler
	// Type returns the message's type on the wire.
	Type() string

	message()
}

// UserMessage is a message in the role of the user: a prompt, or the result of a tool, which has a
// single [ToolResultBlock].
type UserMessage struct {
	Message         Content    `json:"message"`
	ParentToolUseID string     `json:"parent_tool_use_id,omitempty"`
	IsReplay        bool       `json:"isReplay,omitempty"`
	IsSynthetic     bool       `json:"isSynthetic,omitempty"`
	IsMeta          bool       `json:"isMeta,omitempty"`
	IsPrompt        bool       `json:"isPrompt,omitempty"` // sent through the server
	Origin          string     `json:"origin,omitempty"`
	ToolUseResult   event.JSON `json:"tool_use_result,omitempty"`
	UUID            string     `json:"uuid,omitempty"`
	SessionID       string     `json:"session_id,omitempty"`
	AgentID         string     `json:"agent_id,omitempty"`
	Timestamp       string     `json:"timestamp,omitempty"`
	Provider        string     `json:"provider"`
	Extra           Extra      `json:"-"`
}

// Content is the content of a message: its blocks and, for one of the model, the model and the
// usage.
type Content struct {
	Content    []ContentBlock `json:"content"`
	Model      string         `json:"model,omitempty"`
	StopReason string         `json:"stop_reason,omitempty"`
	Usage      event.JSON     `json:"usage,omitempty"`
	Extra      Extra          `json:"-"`
}

// AssistantMessage is a whole message of the model, or a part of one; all parts of a message have
// the same ID. Indexes are the API's indexes of the blocks in Message, by which a client matches
// them with blocks that were streamed before.
type AssistantMessage struct {
	Message         Content  `json:"message"`
	ID              string   `json:"id,omitempty"`
	Indexes         []int64  `json:"indexes,omitempty"`
	ParentToolUseID string   `json:"parent_tool_use_id,omitempty"`
	Error           string   `json:"error,omitempty"`
	Aborted         bool     `json:"aborted,omitempty"`
	Supersedes      []string `json:"supersedes,omitempty"`
	Phase           string   `json:"phase,omitempty"` // commentary, final_answer
	UUID            string   `json:"uuid,omitempty"`
	SessionID       string   `json:"session_id,omitempty"`
	AgentID         string   `json:"agent_id,omitempty"`
	Timestamp       string   `json:"timestamp,omitempty"`
	Provider        string   `json:"provider"`
	Extra           Extra    `json:"-"`
}

// ResultMessage ends a turn. Only IsError says whether the turn failed. Other members of the
// provider's message are in Extra, under the provider's names.
type ResultMessage struct {
	Subtype           string     `json:"subtype"`
	DurationMS        int64      `json:"duration_ms"`
	DurationAPIMS     int64      `json:"duration_api_ms"`
	IsError           bool       `json:"is_error"`
	NumTurns          int64      `json:"num_turns"`
	SessionID         string     `json:"session_id,omitempty"`
	TotalCostUSD      *float64   `json:"total_cost_usd,omitempty"` // absent if it is not known
	Usage             event.JSON `json:"usage,omitempty"`
	Result            string     `json:"result,omitempty"`
	Errors            []string   `json:"errors,omitempty"`
	StructuredOutput  event.JSON `json:"structured_output,omitempty"`
	StopReason        string     `json:"stop_reason,omitempty"`
	TerminalReason    string     `json:"terminal_reason,omitempty"`
	ModelUsage        event.JSON `json:"modelUsage,omitempty"`
	PermissionDenials event.JSON `json:"permission_denials,omitempty"`
	UUID              string     `json:"uuid,omitempty"`
	Provider          string     `json:"provider"`
	Extra             Extra      `json:"-"`
}

// ErrorMessage is a failure of the stream itself. A turn that failed is a [ResultMessage] with
// an error instead.
type ErrorMessage struct {
	Message         string `json:"message"`
	ParentToolUseID string `json:"parent_tool_use_id,omitempty"`
	SessionID       string `json:"session_id,omitempty"`
	Provider        string `json:"provider"`
	Extra           Extra  `json:"-"`
}

// UnknownMessage is a message of any other type. OriginalType is the provider's type, with the
// subtype for system messages of Claude, and Data is the whole message.
type UnknownMessage struct {
	OriginalType    string     `json:"originalType"`
	Data            event.JSON `json:"data"`
	ParentToolUseID string     `json:"parent_tool_use_id,omitempty"`
	SessionID       string     `json:"session_id,omitempty"`
	UUID            string     `json:"uuid,omitempty"`
	Provider        string     `json:"provider,omitempty"`
	Extra           Extra      `json:"-"`
}
