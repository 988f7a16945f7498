package message

import (
	"encoding/json"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// ContentBlock is one block of a message's content. The set of types is closed;
// a block of a type that this package does not know is an *[UnknownBlock].
type ContentBlock interface {
	// Raw returns a copy of the block's text, nil for a block that was built.
	Raw() json.RawMessage

	block() *blockText
}

// InputBlock is a block that a user's message may contain: *[Text], *[Image], *[Document],
// *[ToolResult], *[UnknownBlock].
type InputBlock interface {
	ContentBlock
	inputBlock()
}

// blockText is the JSON text that a block was decoded from.
type blockText struct{ text string }

// Raw returns a copy of the text, or nil if the block was not decoded.
func (b *blockText) Raw() json.RawMessage { return JSON(b.text).Bytes() }

func (b *blockText) block() *blockText { return b }

// Text is a block of text, in an answer or in a prompt. Citations name the sources of an
// answer.
type Text struct {
	blockText
	Text      string     `json:"text"`
	Citations []Citation `json:"citations,omitempty"`
}

// Citation names the source of a part of a text, such as a page of a document or a search
// result. Type decides which of the other members are set.
type Citation struct {
	Type            string `json:"type"` // char_location, page_location, content_block_location, web_search_result_location, search_result_location
	CitedText       string `json:"cited_text,omitempty"`
	DocumentIndex   *int64 `json:"document_index,omitempty"`
	DocumentTitle   string `json:"document_title,omitempty"`
	FileID          string `json:"file_id,omitempty"`
	StartCharIndex  *int64 `json:"start_char_index,omitempty"`
	EndCharIndex    *int64 `json:"end_char_index,omitempty"`
	StartPageNumber *int64 `json:"start_page_number,omitempty"`
	EndPageNumber   *int64 `json:"end_page_number,omitempty"`
	StartBlockIndex *int64 `json:"start_block_index,omitempty"`
	EndBlockIndex   *int64 `json:"end_block_index,omitempty"`
	EncryptedIndex  string `json:"encrypted_index,omitempty"`
	Title           string `json:"title,omitempty"`
	URL             string `json:"url,omitempty"`
	Source          string `json:"source,omitempty"`
	SearchIndex     *int64 `json:"search_result_index,omitempty"`
}

// Thinking is a block of the model's thoughts. Signature proves to the API that the model wrote
// them.
type Thinking struct {
	blockText
	Thinking  string `json:"thinking"`
	Signature string `json:"signature,omitempty"`
}

// RedactedThinking is a block of thinking that the API has encrypted. Data has to be sent back
// to it unchanged.
type RedactedThinking struct {
	blockText
	Data string `json:"data"`
}

// ToolUse is a call of a tool. Each tool defines the shape of its Input; input that was not
// JSON arrives as {"__unparsedToolInput":{"raw":…}}.
type ToolUse struct {
	blockText
	ID          string `json:"id"`
	Name        string `json:"name"`
	Input       JSON   `json:"input"`
	Caller      JSON   `json:"caller,omitempty"`
	ToolsetName string `json:"toolset_name,omitempty"`
}

// Call returns the name of the tool and its input, undecoded, in the form in which tool.Decode
// takes them.
func (b *ToolUse) Call() (name string, input JSON) { return b.Name, b.Input }

// ToolResult is the result of a tool call as the model reads it. IsError is set for a call that
// failed.
type ToolResult struct {
	blockText
	ToolUseID string  `json:"tool_use_id"`
	Content   Content `json:"content,omitzero"`
	IsError   bool    `json:"is_error,omitempty"`
}

// ServerToolUse is a call of a tool that the API runs itself, such as web_search. Its result is
// a [ServerToolResult].
type ServerToolUse struct {
	blockText
	ID     string `json:"id"`
	Name   string `json:"name"` // web_search, web_fetch, code_execution, advisor, …
	Input  JSON   `json:"input"`
	Caller JSON   `json:"caller,omitempty"`
}

// ServerToolResult is the result of a tool that the API runs itself, for a [ServerToolUse].
// Type names the tool: web_search_tool_result, web_fetch_tool_result,
// code_execution_tool_result, bash_code_execution_tool_result,
// text_editor_code_execution_tool_result, tool_search_tool_result,
// advisor_tool_result.
type ServerToolResult struct {
	blockText
	Type      string `json:"type"`
	ToolUseID string `json:"tool_use_id"`
	Content   JSON   `json:"content,omitempty"`
	Caller    JSON   `json:"caller,omitempty"`
}

// MCPToolUse is a call of an MCP tool that the API itself makes, without the CLI. Its result is
// an [MCPToolResult].
type MCPToolUse struct {
	blockText
	ID         string `json:"id"`
	Name       string `json:"name"`
	ServerName string `json:"server_name"`
	Input      JSON   `json:"input"`
}

// MCPToolResult is the result of an [MCPToolUse], a call that the API made itself. IsError is
// set for one that failed.
type MCPToolResult struct {
	blockText
	ToolUseID string  `json:"tool_use_id"`
	Content   Content `json:"content,omitzero"`
	IsError   bool    `json:"is_error,omitempty"`
}

// ContainerUpload names a file that was uploaded to the container in which the API executes
// code, by its id.
type ContainerUpload struct {
	blockText
	FileID string `json:"file_id"`
}

// Compaction is the API's own summary of the part of a conversation that it has dropped from
// the context.
type Compaction struct {
	blockText
	Content          string `json:"content,omitempty"`
	EncryptedContent string `json:"encrypted_content,omitempty"`
	Signature        string `json:"signature,omitempty"`
	ToolChanges      JSON   `json:"tool_changes,omitempty"`
}

// Fallback marks the place in an answer from which another model answers. From and To name the
// two models.
type Fallback struct {
	blockText
	From    JSON `json:"from,omitempty"`
	To      JSON `json:"to,omitempty"`
	Trigger JSON `json:"trigger,omitempty"`
}

// Source holds or names the data of an image or a document. Type decides which of the other
// members are set.
type Source struct {
	Type      string `json:"type"` // base64, url, file, text, content
	MediaType string `json:"media_type,omitempty"`
	Data      string `json:"data,omitempty"`
	URL       string `json:"url,omitempty"`
	FileID    string `json:"file_id,omitempty"`
	Content   JSON   `json:"content,omitempty"`
}

// Image is an image in a prompt or in the result of a tool, given by its data, an address or a
// file id.
type Image struct {
	blockText
	Source       Source `json:"source"`
	CacheControl JSON   `json:"cache_control,omitempty"`
}

// Document is a document in a prompt or in the result of a tool: a PDF, plain text, or content
// blocks.
type Document struct {
	blockText
	Source       Source `json:"source"`
	Title        string `json:"title,omitempty"`
	Context      string `json:"context,omitempty"`
	Citations    JSON   `json:"citations,omitempty"`
	CacheControl JSON   `json:"cache_control,omitempty"`
}

// SearchResult is a search result that was given to the model as content, with its source, so
// that answers can cite it.
type SearchResult struct {
	blockText
	Source    string         `json:"source"`
	Title     string         `json:"title"`
	Content   []ContentBlock `json:"content,omitempty"`
	Citations JSON           `json:"citations,omitempty"`
}

// UnknownBlock is a block of a type that this package does not know. All of it
// is in Raw; to send one, set JSON to the whole block.
type UnknownBlock struct {
	blockText
	Type string `json:"type"`
	JSON JSON   `json:"-"` // the whole block
}

func (*Text) inputBlock() {}

func (*Image) inputBlock() {}

func (*Document) inputBlock() {}

func (*ToolResult) inputBlock() {}

func (*UnknownBlock) inputBlock() {}

// blockTypes is the decode table of blocks.
var blockTypes = jsonwire.Table[ContentBlock]{
	"text":                                   func() ContentBlock { return new(Text) },
	"thinking":                               func() ContentBlock { return new(Thinking) },
	"redacted_thinking":                      func() ContentBlock { return new(RedactedThinking) },
	"tool_use":                               func() ContentBlock { return new(ToolUse) },
	"tool_result":                            func() ContentBlock { return new(ToolResult) },
	"server_tool_use":                        func() ContentBlock { return new(ServerToolUse) },
	"web_search_tool_result":                 newServerToolResult,
	"web_fetch_tool_result":                  newServerToolResult,
	"code_execution_tool_result":             newServerToolResult,
	"bash_code_execution_tool_result":        newServerToolResult,
	"text_editor_code_execution_tool_result": newServerToolResult,
	"tool_search_tool_result":                newServerToolResult,
	"advisor_tool_result":                    newServerToolResult,
	"mcp_tool_use":                           func() ContentBlock { return new(MCPToolUse) },
	"mcp_tool_result":                        func() ContentBlock { return new(MCPToolResult) },
	"container_upload":                       func() ContentBlock { return new(ContainerUpload) },
	"compaction":                             func() ContentBlock { return new(Compaction) },
	"fallback":                               func() ContentBlock { return new(Fallback) },
	"image":                                  func() ContentBlock { return new(Image) },
	"document":                               func() ContentBlock { return new(Document) },
	"search_result":                          func() ContentBlock { return new(SearchResult) },
}

func newServerToolResult() ContentBlock { return new(ServerToolResult) }

var _ = jsonwire.Register(decodeBlock)

// decodeBlock decodes the next value of any JSON type into a block; null gives nil.
func decodeBlock(d *jsonwire.Decoder) ContentBlock {
	if d.Null() {
		return nil
	}
	b, text := blockTypes.Decode(d, func() ContentBlock { return new(UnknownBlock) })
	b.block().text = text
	if u, ok := b.(*UnknownBlock); ok {
		u.JSON = JSON(text)
	}
	return b
}
