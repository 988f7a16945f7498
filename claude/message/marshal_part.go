package message

// MarshalJSON writes the text that b was decoded from, byte for byte, or the fields of a block that was built.
func (b *Text) MarshalJSON() ([]byte, error) { return marshalPart(b.text, b) }

// MarshalJSON writes the text that b was decoded from, byte for byte, or the fields of a block that was built.
func (b *Thinking) MarshalJSON() ([]byte, error) { return marshalPart(b.text, b) }

// MarshalJSON writes the text that b was decoded from, byte for byte, or the fields of a block that was built.
func (b *RedactedThinking) MarshalJSON() ([]byte, error) { return marshalPart(b.text, b) }

// MarshalJSON writes the text that b was decoded from, byte for byte, or the fields of a block that was built.
func (b *ToolUse) MarshalJSON() ([]byte, error) { return marshalPart(b.text, b) }

// MarshalJSON writes the text that b was decoded from, byte for byte, or the fields of a block that was built.
func (b *ToolResult) MarshalJSON() ([]byte, error) { return marshalPart(b.text, b) }

// MarshalJSON writes the text that b was decoded from, byte for byte, or the fields of a block that was built.
func (b *ServerToolUse) MarshalJSON() ([]byte, error) { return marshalPart(b.text, b) }

// MarshalJSON writes the text that b was decoded from, byte for byte, or the fields of a block that was built.
func (b *MCPToolUse) MarshalJSON() ([]byte, error) { return marshalPart(b.text, b) }

// MarshalJSON writes the text that b was decoded from, byte for byte, or the fields of a block that was built.
func (b *MCPToolResult) MarshalJSON() ([]byte, error) { return marshalPart(b.text, b) }

// MarshalJSON writes the text that b was decoded from, byte for byte, or the fields of a block that was built.
func (b *ContainerUpload) MarshalJSON() ([]byte, error) { return marshalPart(b.text, b) }

// MarshalJSON writes the text that b was decoded from, byte for byte, or the fields of a block that was built.
func (b *Compaction) MarshalJSON() ([]byte, error) { return marshalPart(b.text, b) }

// MarshalJSON writes the text that b was decoded from, byte for byte, or the fields of a block that was built.
func (b *Fallback) MarshalJSON() ([]byte, error) { return marshalPart(b.text, b) }

// MarshalJSON writes the text that b was decoded from, byte for byte, or the fields of a block that was built.
func (b *Image) MarshalJSON() ([]byte, error) { return marshalPart(b.text, b) }

// MarshalJSON writes the text that b was decoded from, byte for byte, or the fields of a block that was built.
func (b *Document) MarshalJSON() ([]byte, error) { return marshalPart(b.text, b) }

// MarshalJSON writes the text that b was decoded from, byte for byte, or the fields of a block that was built.
func (b *SearchResult) MarshalJSON() ([]byte, error) { return marshalPart(b.text, b) }

// MarshalJSON writes the text that b was decoded from, byte for byte, or the fields of a block that was built.
func (b *ServerToolResult) MarshalJSON() ([]byte, error) { return marshalPart(b.text, b) }

// MarshalJSON writes the text that e was decoded from, byte for byte, or the fields of an event that was built.
func (e *MessageStart) MarshalJSON() ([]byte, error) { return marshalPart(e.text, e) }

// MarshalJSON writes the text that e was decoded from, byte for byte, or the fields of an event that was built.
func (e *ContentBlockStart) MarshalJSON() ([]byte, error) { return marshalPart(e.text, e) }

// MarshalJSON writes the text that e was decoded from, byte for byte, or the fields of an event that was built.
func (e *ContentBlockDelta) MarshalJSON() ([]byte, error) { return marshalPart(e.text, e) }

// MarshalJSON writes the text that e was decoded from, byte for byte, or the fields of an event that was built.
func (e *ContentBlockStop) MarshalJSON() ([]byte, error) { return marshalPart(e.text, e) }

// MarshalJSON writes the text that e was decoded from, byte for byte, or the fields of an event that was built.
func (e *MessageDelta) MarshalJSON() ([]byte, error) { return marshalPart(e.text, e) }

// MarshalJSON writes the text that e was decoded from, byte for byte, or the fields of an event that was built.
func (e *MessageStop) MarshalJSON() ([]byte, error) { return marshalPart(e.text, e) }

// MarshalJSON writes the text that e was decoded from, byte for byte, or the fields of an event that was built.
func (e *Ping) MarshalJSON() ([]byte, error) { return marshalPart(e.text, e) }

// MarshalJSON writes the text that e was decoded from, byte for byte, or the fields of an event that was built.
func (e *StreamError) MarshalJSON() ([]byte, error) { return marshalPart(e.text, e) }

// MarshalJSON writes the text that d was decoded from, byte for byte, or the fields of a delta that was built.
func (d *TextDelta) MarshalJSON() ([]byte, error) { return marshalPart(d.text, d) }

// MarshalJSON writes the text that d was decoded from, byte for byte, or the fields of a delta that was built.
func (d *ThinkingDelta) MarshalJSON() ([]byte, error) { return marshalPart(d.text, d) }

// MarshalJSON writes the text that d was decoded from, byte for byte, or the fields of a delta that was built.
func (d *SignatureDelta) MarshalJSON() ([]byte, error) { return marshalPart(d.text, d) }

// MarshalJSON writes the text that d was decoded from, byte for byte, or the fields of a delta that was built.
func (d *InputJSONDelta) MarshalJSON() ([]byte, error) { return marshalPart(d.text, d) }

// MarshalJSON writes the text that d was decoded from, byte for byte, or the fields of a delta that was built.
func (d *CitationsDelta) MarshalJSON() ([]byte, error) { return marshalPart(d.text, d) }

// MarshalJSON writes the text that d was decoded from, byte for byte, or the fields of a delta that was built.
func (d *CompactionDelta) MarshalJSON() ([]byte, error) { return marshalPart(d.text, d) }
