package claude

import "errors"

// MarshalJSON writes the text of b, or its fields.
func (b *TextBlock) MarshalJSON() ([]byte, error) {
	type plain TextBlock
	return encodePart(b.text, "text", (*plain)(b))
}

// MarshalJSON writes the text of b, or its fields.
func (b *ThinkingBlock) MarshalJSON() ([]byte, error) {
	type plain ThinkingBlock
	return encodePart(b.text, "thinking", (*plain)(b))
}

// MarshalJSON writes the text of b, or its fields.
func (b *RedactedThinkingBlock) MarshalJSON() ([]byte, error) {
	type plain RedactedThinkingBlock
	return encodePart(b.text, "redacted_thinking", (*plain)(b))
}

// MarshalJSON writes the text of b, or its fields.
func (b *ToolUseBlock) MarshalJSON() ([]byte, error) {
	type plain ToolUseBlock
	return encodePart(b.text, "tool_use", (*plain)(b))
}

// MarshalJSON writes the text of b, or its fields.
func (b *ToolResultBlock) MarshalJSON() ([]byte, error) {
	type plain ToolResultBlock
	return encodePart(b.text, "tool_result", (*plain)(b))
}

// MarshalJSON writes the text of b, or its fields.
func (b *ServerToolUseBlock) MarshalJSON() ([]byte, error) {
	type plain ServerToolUseBlock
	return encodePart(b.text, "server_tool_use", (*plain)(b))
}

// MarshalJSON writes the text of b, or its fields.
func (b *MCPToolUseBlock) MarshalJSON() ([]byte, error) {
	type plain MCPToolUseBlock
	return encodePart(b.text, "mcp_tool_use", (*plain)(b))
}

// MarshalJSON writes the text of b, or its fields.
func (b *MCPToolResultBlock) MarshalJSON() ([]byte, error) {
	type plain MCPToolResultBlock
	return encodePart(b.text, "mcp_tool_result", (*plain)(b))
}

// MarshalJSON writes the text of b, or its fields.
func (b *ContainerUploadBlock) MarshalJSON() ([]byte, error) {
	type plain ContainerUploadBlock
	return encodePart(b.text, "container_upload", (*plain)(b))
}

// MarshalJSON writes the text of b, or its fields.
func (b *CompactionBlock) MarshalJSON() ([]byte, error) {
	type plain CompactionBlock
	return encodePart(b.text, "compaction", (*plain)(b))
}

// MarshalJSON writes the text of b, or its fields.
func (b *FallbackBlock) MarshalJSON() ([]byte, error) {
	type plain FallbackBlock
	return encodePart(b.text, "fallback", (*plain)(b))
}

// MarshalJSON writes the text of b, or its fields.
func (b *ImageBlock) MarshalJSON() ([]byte, error) {
	type plain ImageBlock
	return encodePart(b.text, "image", (*plain)(b))
}

// MarshalJSON writes the text of b, or its fields.
func (b *DocumentBlock) MarshalJSON() ([]byte, error) {
	type plain DocumentBlock
	return encodePart(b.text, "document", (*plain)(b))
}

// MarshalJSON writes the text of b, or its fields.
func (b *SearchResultBlock) MarshalJSON() ([]byte, error) {
	type plain SearchResultBlock
	return encodePart(b.text, "search_result", (*plain)(b))
}

// MarshalJSON writes the text of e, or its fields.
func (e *MessageStartEvent) MarshalJSON() ([]byte, error) {
	type plain MessageStartEvent
	return encodePart(e.text, "message_start", (*plain)(e))
}

// MarshalJSON writes the text of e, or its fields.
func (e *ContentBlockStartEvent) MarshalJSON() ([]byte, error) {
	type plain ContentBlockStartEvent
	return encodePart(e.text, "content_block_start", (*plain)(e))
}

// MarshalJSON writes the text of e, or its fields.
func (e *ContentBlockDeltaEvent) MarshalJSON() ([]byte, error) {
	type plain ContentBlockDeltaEvent
	return encodePart(e.text, "content_block_delta", (*plain)(e))
}

// MarshalJSON writes the text of e, or its fields.
func (e *ContentBlockStopEvent) MarshalJSON() ([]byte, error) {
	type plain ContentBlockStopEvent
	return encodePart(e.text, "content_block_stop", (*plain)(e))
}

// MarshalJSON writes the text of e, or its fields.
func (e *MessageDeltaEvent) MarshalJSON() ([]byte, error) {
	type plain MessageDeltaEvent
	return encodePart(e.text, "message_delta", (*plain)(e))
}

// MarshalJSON writes the text of e, or its fields.
func (e *MessageStopEvent) MarshalJSON() ([]byte, error) {
	type plain MessageStopEvent
	return encodePart(e.text, "message_stop", (*plain)(e))
}

// MarshalJSON writes the text of e, or its fields.
func (e *PingEvent) MarshalJSON() ([]byte, error) {
	type plain PingEvent
	return encodePart(e.text, "ping", (*plain)(e))
}

// MarshalJSON writes the text of e, or its fields.
func (e *ErrorEvent) MarshalJSON() ([]byte, error) {
	type plain ErrorEvent
	return encodePart(e.text, "error", (*plain)(e))
}

// MarshalJSON writes the text of d, or its fields.
func (d *TextDelta) MarshalJSON() ([]byte, error) {
	type plain TextDelta
	return encodePart(d.text, "text_delta", (*plain)(d))
}

// MarshalJSON writes the text of d, or its fields.
func (d *ThinkingDelta) MarshalJSON() ([]byte, error) {
	type plain ThinkingDelta
	return encodePart(d.text, "thinking_delta", (*plain)(d))
}

// MarshalJSON writes the text of d, or its fields.
func (d *SignatureDelta) MarshalJSON() ([]byte, error) {
	type plain SignatureDelta
	return encodePart(d.text, "signature_delta", (*plain)(d))
}

// MarshalJSON writes the text of d, or its fields.
func (d *InputJSONDelta) MarshalJSON() ([]byte, error) {
	type plain InputJSONDelta
	return encodePart(d.text, "input_json_delta", (*plain)(d))
}

// MarshalJSON writes the text of d, or its fields.
func (d *CitationsDelta) MarshalJSON() ([]byte, error) {
	type plain CitationsDelta
	return encodePart(d.text, "citations_delta", (*plain)(d))
}

// MarshalJSON writes the text of d, or its fields.
func (d *CompactionDelta) MarshalJSON() ([]byte, error) {
	type plain CompactionDelta
	return encodePart(d.text, "compaction_delta", (*plain)(d))
}

// MarshalJSON writes the text of b, or its fields.
func (b *ServerToolResultBlock) MarshalJSON() ([]byte, error) {
	type plain ServerToolResultBlock
	if b.text != "" {
		return []byte(b.text), nil
	}
	return encodeJSON((*plain)(b))
}

var errNoBlock = errors.New("claude: an UnknownBlock without its JSON")

// MarshalJSON writes the block as it was read, or JSON.
func (b *UnknownBlock) MarshalJSON() ([]byte, error) {
	if b.text != "" {
		return []byte(b.text), nil
	}
	if b.JSON == "" {
		return nil, errNoBlock
	}
	return b.JSON.Bytes(), nil
}

// MarshalJSON writes the event as it was read.
func (e *UnknownEvent) MarshalJSON() ([]byte, error) { return JSON(e.text).MarshalJSON() }

// MarshalJSON writes the delta as it was read.
func (d *UnknownDelta) MarshalJSON() ([]byte, error) { return JSON(d.text).MarshalJSON() }
