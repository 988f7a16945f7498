package api

import (
	"encoding/json"

	"github.com/seed7221b0f9/parley/agent/event"
)

// ContentBlock is one block of a message. The set of types is closed: a block of any other type is
// an *[UnknownBlock].
type ContentBlock interface {
	json.Marshaler
	// Type returns the block's type on the wire.
	Type() string

	block()
}

// TextBlock is a block of text in a message of the model or of the user. Citations are in
// Extra.
type TextBlock struct {
	Text  string `json:"text"`
	Extra Extra  `json:"-"` // citations, …
}

// ThinkingBlock is a block of the model's thoughts, or of a summary of them. Signature proves
// them to the API.
type ThinkingBlock struct {
	Thinking  string `json:"thinking"`
	Signature string `json:"signature,omitempty"`
	Summary   bool   `json:"summary,omitempty"` // a summary of the reasoning, not the reasoning itself
	Extra     Extra  `json:"-"`
}

// ToolUseBlock is a call of a tool. In a content_block_start Input is null, because it follows in
// deltas. BlockType is tool_use, or server_tool_use or mcp_tool_use for tools that the API runs
// itself; empty means tool_use.
type ToolUseBlock struct {
	BlockType string     `json:"-"`
	ID        string     `json:"id"`
	ToolName  string     `json:"toolName"`
	ToolType  string     `json:"toolType"`
	Input     event.JSON `json:"input"`
	Status    string     `json:"status"`          // in_progress, success, failed
	Name      string     `json:"name,omitempty"`  // the API's name of toolName
	Title     string     `json:"title,omitempty"` // what the call does
	Kind      string     `json:"kind,omitempty"`  // the provider's kind of tool
	Extra     Extra      `json:"-"`
}

// ToolResultBlock is the result of a tool call, in a user message. Truncated is set if the
// content was cut.
type ToolResultBlock struct {
	ToolUseID string     `json:"tool_use_id"`
	Content   event.JSON `json:"content,omitempty"` // a string or blocks
	IsError   bool       `json:"is_error"`
	Truncated bool       `json:"truncated,omitempty"` // the content was cut
	Extra     Extra      `json:"-"`
}

// OtherBlock is a block of one of the API's other types, such as an image, redacted thinking, or
// the result of a tool that the API ran. All of its members except the type are in Extra.
type OtherBlock struct {
	BlockType string `json:"-"`
	Extra     Extra  `json:"-"`
}

// UnknownBlock is a block of a type that this package does not know. Data is the whole block as it
// was read.
type UnknownBlock struct {
	OriginalType string     `json:"originalType"`
	Data         event.JSON `json:"data"`
	Extra        Extra      `json:"-"`
}

// otherBlocks are the types of an [OtherBlock].
var otherBlocks = map[string]bool{
	"image": true, "document": true, "search_result": true, "redacted_thinking": true,
	"web_search_tool_result": true, "web_fetch_tool_result": true, "code_execution_tool_result": true,
	"bash_code_execution_tool_result": true, "text_editor_code_execution_tool_result": true,
	"tool_search_tool_result": true, "advisor_tool_result": true, "mcp_tool_result": true,
	"container_upload": true, "compaction": true, "fallback": true, "tool_reference": true,
}
