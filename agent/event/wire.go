package event

import (
	"maps"
	"reflect"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// Most events are one message on the wire, with the members of their struct. The types here are the
// messages that differ: those of the user and of the model, which hold blocks, and the events of
// the API's stream.

// wireObject is a struct that the codec writes as a JSON object.
type wireObject interface{ onWire() }

// object makes a struct that embeds it a wireObject.
type object struct {
	Extra Extra `json:"-"`
}

func (*object) onWire() {}

type wireUser struct {
	Message         wireContent `json:"message"`
	ParentToolUseID string      `json:"parent_tool_use_id,omitempty"`
	IsReplay        bool        `json:"isReplay,omitempty"`
	IsSynthetic     bool        `json:"isSynthetic,omitempty"`
	IsMeta          bool        `json:"isMeta,omitempty"`
	IsPrompt        bool        `json:"isPrompt,omitempty"`
	Origin          string      `json:"origin,omitempty"`
	By              string      `json:"by,omitempty"`
	ToolUseResult   JSON        `json:"tool_use_result,omitempty"`
	UUID            string      `json:"uuid,omitempty"`
	SessionID       string      `json:"session_id,omitempty"`
	AgentID         string      `json:"agent_id,omitempty"`
	Timestamp       string      `json:"timestamp,omitempty"`
	Provider        string      `json:"provider"`
	object
}

type wireContent struct {
	Content    []wireBlock `json:"content"`
	Model      string      `json:"model,omitempty"`
	StopReason string      `json:"stop_reason,omitempty"`
	Usage      JSON        `json:"usage,omitempty"`
	object
}

type wireAssistant struct {
	Message         wireContent `json:"message"`
	ID              string      `json:"id,omitempty"`
	Indexes         []int64     `json:"indexes,omitempty"`
	ParentToolUseID string      `json:"parent_tool_use_id,omitempty"`
	Error           string      `json:"error,omitempty"`
	Aborted         bool        `json:"aborted,omitempty"`
	Supersedes      []string    `json:"supersedes,omitempty"`
	Phase           string      `json:"phase,omitempty"`
	UUID            string      `json:"uuid,omitempty"`
	SessionID       string      `json:"session_id,omitempty"`
	AgentID         string      `json:"agent_id,omitempty"`
	Timestamp       string      `json:"timestamp,omitempty"`
	Provider        string      `json:"provider"`
	object
}

type wireStream struct {
	UUID            string         `json:"uuid"`
	SessionID       string         `json:"session_id"`
	Event           wireEvent      `json:"event"`
	ParentToolUseID string         `json:"parent_tool_use_id,omitempty"`
	APIMessageID    string         `json:"api_message_id,omitempty"`
	AbandonedBlocks *wireAbandoned `json:"abandoned_blocks,omitempty"`
	Provider        string         `json:"provider"`
	object
}

type wireAbandoned struct {
	APIMessageID   string `json:"api_message_id"`
	FromBlockIndex int64  `json:"from_block_index"`
}

// wireEvent is one event of the API's stream.
type wireEvent interface{ wireObject }

type wireMessageStart struct {
	Message wireStreamMessage `json:"message"`
	object
}

type wireStreamMessage struct {
	ID      string      `json:"id"`
	Model   string      `json:"model,omitempty"`
	Content []wireBlock `json:"content"`
	object
}

type wireBlockStart struct {
	Index        int64     `json:"index"`
	ContentBlock wireBlock `json:"content_block"`
	object
}

type wireBlockDelta struct {
	Index int64     `json:"index"`
	Delta wireDelta `json:"delta"`
	object
}

type wireBlockStop struct {
	Index      int64 `json:"index"`
	Incomplete bool  `json:"incomplete,omitempty"`
	object
}

type wireMessageDelta struct {
	Delta JSON `json:"delta"`
	Usage JSON `json:"usage,omitempty"`
	object
}

type wireMessageStop struct {
	Incomplete bool `json:"incomplete,omitempty"`
	object
}

type wireUnknownEvent struct {
	OriginalType string `json:"originalType"`
	Data         JSON   `json:"data"`
	object
}

// wireDelta is the addition of a wireBlockDelta to a block.
type wireDelta interface{ wireObject }

type wireTextDelta struct {
	Text string `json:"text"`
	object
}

type wireThinkingDelta struct {
	Thinking string `json:"thinking"`
	object
}

type wireInputDelta struct {
	PartialJSON string `json:"partial_json"`
	object
}

type wireSignatureDelta struct {
	Signature string `json:"signature"`
	object
}

type wireCitationsDelta struct {
	Citation JSON `json:"citation"`
	object
}

type wireUnknownDelta struct {
	OriginalType string `json:"originalType"`
	Data         JSON   `json:"data"`
	object
}

// wireBlock is one block of a message.
type wireBlock interface{ wireObject }

type wireText struct {
	Text string `json:"text"`
	object
}

type wireThinking struct {
	Thinking  string `json:"thinking"`
	Signature string `json:"signature,omitempty"`
	Summary   bool   `json:"summary,omitempty"`
	object
}

// wireToolUse is a tool call. In a content_block_start its input is null, because it follows in
// deltas.
type wireToolUse struct {
	BlockType string `json:"-"` // tool_use, server_tool_use, mcp_tool_use
	ID        string `json:"id"`
	ToolName  string `json:"toolName"`
	ToolType  string `json:"toolType"`
	Input     JSON   `json:"input"`
	Status    string `json:"status"`
	Name      string `json:"name,omitempty"` // the API's name of toolName
	Title     string `json:"title,omitempty"`
	Kind      string `json:"kind,omitempty"`
	Content   JSON   `json:"content,omitempty"`
	Locations JSON   `json:"locations,omitempty"`
	object
}

func (t *wireToolUse) typeOnWire() string { return t.BlockType }

type wireToolResult struct {
	ToolUseID string `json:"tool_use_id"`
	Content   JSON   `json:"content,omitempty"`
	IsError   bool   `json:"is_error"`
	Truncated bool   `json:"truncated,omitempty"`
	object
}

// wireOther is a block of one of the API's other types, with all of its members in Extra.
type wireOther struct {
	BlockType string `json:"-"`
	object
}

func (o *wireOther) typeOnWire() string { return o.BlockType }

type wireUnknownBlock struct {
	OriginalType string `json:"originalType"`
	Data         JSON   `json:"data"`
	object
}

// otherBlocks are the types of a wireOther.
var otherBlocks = []string{
	"image", "document", "search_result", "redacted_thinking", "web_search_tool_result", "web_fetch_tool_result",
	"code_execution_tool_result", "bash_code_execution_tool_result", "text_editor_code_execution_tool_result",
	"tool_search_tool_result", "advisor_tool_result", "mcp_tool_result", "container_upload", "compaction", "fallback", "tool_reference",
}

// The decode tables of the unions.
var (
	wireEvents = jsonwire.Table[wireEvent]{
		"message_start":       func() wireEvent { return new(wireMessageStart) },
		"content_block_start": func() wireEvent { return new(wireBlockStart) },
		"content_block_delta": func() wireEvent { return new(wireBlockDelta) },
		"content_block_stop":  func() wireEvent { return new(wireBlockStop) },
		"message_delta":       func() wireEvent { return new(wireMessageDelta) },
		"message_stop":        func() wireEvent { return new(wireMessageStop) },
		"unknown":             func() wireEvent { return new(wireUnknownEvent) },
	}
	wireDeltas = jsonwire.Table[wireDelta]{
		"text_delta":       func() wireDelta { return new(wireTextDelta) },
		"thinking_delta":   func() wireDelta { return new(wireThinkingDelta) },
		"input_json_delta": func() wireDelta { return new(wireInputDelta) },
		"signature_delta":  func() wireDelta { return new(wireSignatureDelta) },
		"citations_delta":  func() wireDelta { return new(wireCitationsDelta) },
		"unknown":          func() wireDelta { return new(wireUnknownDelta) },
	}
	wireBlocks = jsonwire.Table[wireBlock]{
		"text":            func() wireBlock { return new(wireText) },
		"thinking":        func() wireBlock { return new(wireThinking) },
		"tool_result":     func() wireBlock { return new(wireToolResult) },
		"unknown":         func() wireBlock { return new(wireUnknownBlock) },
		"tool_use":        func() wireBlock { return &wireToolUse{BlockType: "tool_use"} },
		"server_tool_use": func() wireBlock { return &wireToolUse{BlockType: "server_tool_use"} },
		"mcp_tool_use":    func() wireBlock { return &wireToolUse{BlockType: "mcp_tool_use"} },
	}
)

// events is the decode table of the messages that are one event with the same members.
var events = jsonwire.Table[Event]{
	"result":              func() Event { return new(ResultMessage) },
	"error":               func() Event { return new(Error) },
	"system_init":         func() Event { return new(SystemInit) },
	"status_system":       func() Event { return new(Status) },
	"compact_boundary":    func() Event { return new(CompactBoundary) },
	"tool_progress":       func() Event { return new(ToolProgress) },
	"task_started":        func() Event { return new(TaskStarted) },
	"task_progress":       func() Event { return new(TaskProgress) },
	"task_updated":        func() Event { return new(TaskUpdated) },
	"task_notification":   func() Event { return new(TaskNotification) },
	"rate_limit":          func() Event { return new(RateLimit) },
	"permission_request":  func() Event { return new(PermissionRequest) },
	"permission_resolved": func() Event { return new(PermissionResolved) },
	"question_request":    func() Event { return new(QuestionRequest) },
	"question_resolved":   func() Event { return new(QuestionResolved) },
	"queue_changed":       func() Event { return new(QueueChanged) },
	"queue_updated":       func() Event { return new(QueueUpdated) },
	"session_state":       func() Event { return new(SessionState) },
	"turn_start":          func() Event { return new(TurnStart) },
	"plan":                func() Event { return new(Plan) },
	"turn_diff":           func() Event { return new(TurnDiff) },
	"usage":               func() Event { return new(Usage) },
	"notice":              func() Event { return new(Notice) },
	"retry":               func() Event { return new(Retry) },
	"hook":                func() Event { return new(Hook) },
	"session_info":        func() Event { return new(SessionInfo) },
	"truncate":            func() Event { return new(Truncate) },
	"unknown":             func() Event { return new(Unknown) },
}

// wireTypes maps pointer types of structs to their type on the wire.
var wireTypes = func() map[reflect.Type]string {
	all := map[reflect.Type]string{
		reflect.TypeFor[*wireUser](): "user", reflect.TypeFor[*wireAssistant](): "assistant", reflect.TypeFor[*wireStream](): "stream_event",
	}
	for _, names := range []map[reflect.Type]string{wireEvents.Names(), wireDeltas.Names(), wireBlocks.Names(), events.Names()} {
		maps.Copy(all, names)
	}
	delete(all, reflect.TypeFor[*wireToolUse]()) // it has several types
	return all
}()
