package message

// MarshalJSON writes the text of b, or its fields.
func (b *Text) MarshalJSON() ([]byte, error) { return marshalPart(b.text, b) }

// MarshalJSON writes the text of b, or its fields.
func (b *Thinking) MarshalJSON() ([]byte, error) { return marshalPart(b.text, b) }

// MarshalJSON writes the text of b, or its fields.
func (b *RedactedThinking) MarshalJSON() ([]byte, error) { return marshalPart(b.text, b) }

// MarshalJSON writes the text of b, or its fields.
func (b *ToolUse) MarshalJSON() ([]byte, error) { return marshalPart(b.text, b) }

// MarshalJSON writes the text of b, or its fields.
func (b *ToolResult) MarshalJSON() ([]byte, error) { return marshalPart(b.text, b) }

// MarshalJSON writes the text of b, or its fields.
func (b *ServerToolUse) MarshalJSON() ([]byte, error) { return marshalPart(b.text, b) }

// MarshalJSON writes the text of b, or its fields.
func (b *MCPToolUse) MarshalJSON() ([]byte, error) { return marshalPart(b.text, b) }

// MarshalJSON writes the text of b, or its fields.
func (b *MCPToolResult) MarshalJSON() ([]byte, error) { return marshalPart(b.text, b) }

// MarshalJSON writes the text of b, or its fields.
func (b *ContainerUpload) MarshalJSON() ([]byte, error) { return marshalPart(b.text, b) }

// MarshalJSON writes the text of b, or its fields.
func (b *Compaction) MarshalJSON() ([]byte, error) { return marshalPart(b.text, b) }

// MarshalJSON writes the text of b, or its fields.
func (b *Fallback) MarshalJSON() ([]byte, error) { return marshalPart(b.text, b) }

// MarshalJSON writes the text of b, or its fields.
func (b *Image) MarshalJSON() ([]byte, error) { return marshalPart(b.text, b) }

// MarshalJSON writes the text of b, or its fields.
func (b *Document) MarshalJSON() ([]byte, error) { return marshalPart(b.text, b) }

// MarshalJSON writes the text of b, or its fields.
func (b *SearchResult) MarshalJSON() ([]byte, error) { return marshalPart(b.text, b) }

// MarshalJSON writes the text of b, or its fields.
func (b *ServerToolResult) MarshalJSON() ([]byte, error) { return marshalPart(b.text, b) }

// MarshalJSON writes the text of e, or its fields.
func (e *MessageStart) MarshalJSON() ([]byte, error) { return marshalPart(e.text, e) }

// MarshalJSON writes the text of e, or its fields.
func (e *ContentBlockStart) MarshalJSON() ([]byte, error) { return marshalPart(e.text, e) }

// MarshalJSON writes the text of e, or its fields.
func (e *ContentBlockDelta) MarshalJSON() ([]byte, error) { return marshalPart(e.text, e) }

// MarshalJSON writes the text of e, or its fields.
func (e *ContentBlockStop) MarshalJSON() ([]byte, error) { return marshalPart(e.text, e) }

// MarshalJSON writes the text of e, or its fields.
func (e *MessageDelta) MarshalJSON() ([]byte, error) { return marshalPart(e.text, e) }

// MarshalJSON writes the text of e, or its fields.
func (e *MessageStop) MarshalJSON() ([]byte, error) { return marshalPart(e.text, e) }

// MarshalJSON writes the text of e, or its fields.
func (e *Ping) MarshalJSON() ([]byte, error) { return marshalPart(e.text, e) }

// MarshalJSON writes the text of e, or its fields.
func (e *StreamError) MarshalJSON() ([]byte, error) { return marshalPart(e.text, e) }

// MarshalJSON writes the text of d, or its fields.
func (d *TextDelta) MarshalJSON() ([]byte, error) { return marshalPart(d.text, d) }

// MarshalJSON writes the text of d, or its fields.
func (d *ThinkingDelta) MarshalJSON() ([]byte, error) { return marshalPart(d.text, d) }

// MarshalJSON writes the text of d, or its fields.
func (d *SignatureDelta) MarshalJSON() ([]byte, error) { return marshalPart(d.text, d) }

// MarshalJSON writes the text of d, or its fields.
func (d *InputJSONDelta) MarshalJSON() ([]byte, error) { return marshalPart(d.text, d) }

// MarshalJSON writes the text of d, or its fields.
func (d *CitationsDelta) MarshalJSON() ([]byte, error) { return marshalPart(d.text, d) }

// MarshalJSON writes the text of d, or its fields.
func (d *CompactionDelta) MarshalJSON() ([]byte, error) { return marshalPart(d.text, d) }
