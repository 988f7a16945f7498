package api

// eventTypes is the decode table of events.
var eventTypes = map[string]func() Event{
	"message_start":       func() Event { return new(MessageStartEvent) },
	"content_block_start": func() Event { return new(ContentBlockStartEvent) },
	"content_block_delta": func() Event { return new(ContentBlockDeltaEvent) },
	"content_block_stop":  func() Event { return new(ContentBlockStopEvent) },
	"message_delta":       func() Event { return new(MessageDeltaEvent) },
	"message_stop":        func() Event { return new(MessageStopEvent) },
	"unknown":             func() Event { return new(UnknownEvent) },
}

// Type returns "message_start", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*MessageStartEvent) Type() string { return "message_start" }

func (*MessageStartEvent) event() {}

// MarshalJSON writes the event as a JSON object: its type, its fields, and then the members of Extra.
func (m *MessageStartEvent) MarshalJSON() ([]byte, error) { return marshal(m, m.Extra) }

// Type returns "content_block_start", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*ContentBlockStartEvent) Type() string { return "content_block_start" }

func (*ContentBlockStartEvent) event() {}

// MarshalJSON writes the event as a JSON object: its type, its fields, and then the members of Extra.
func (c *ContentBlockStartEvent) MarshalJSON() ([]byte, error) { return marshal(c, c.Extra) }

// Type returns "content_block_delta", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*ContentBlockDeltaEvent) Type() string { return "content_block_delta" }

func (*ContentBlockDeltaEvent) event() {}

// MarshalJSON writes the event as a JSON object: its type, its fields, and then the members of Extra.
func (c *ContentBlockDeltaEvent) MarshalJSON() ([]byte, error) { return marshal(c, c.Extra) }

// Type returns "content_block_stop", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*ContentBlockStopEvent) Type() string { return "content_block_stop" }

func (*ContentBlockStopEvent) event() {}

// MarshalJSON writes the event as a JSON object: its type, its fields, and then the members of Extra.
func (c *ContentBlockStopEvent) MarshalJSON() ([]byte, error) { return marshal(c, c.Extra) }

// Type returns "message_delta", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*MessageDeltaEvent) Type() string { return "message_delta" }

func (*MessageDeltaEvent) event() {}

// MarshalJSON writes the event as a JSON object: its type, its fields, and then the members of Extra.
func (m *MessageDeltaEvent) MarshalJSON() ([]byte, error) { return marshal(m, m.Extra) }

// Type returns "message_stop", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*MessageStopEvent) Type() string { return "message_stop" }

func (*MessageStopEvent) event() {}

// MarshalJSON writes the event as a JSON object: its type, its fields, and then the members of Extra.
func (m *MessageStopEvent) MarshalJSON() ([]byte, error) { return marshal(m, m.Extra) }

// Type returns "unknown", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*UnknownEvent) Type() string { return "unknown" }

func (*UnknownEvent) event() {}

// MarshalJSON writes the event as a JSON object: its type, its fields, and then the members of Extra.
func (u *UnknownEvent) MarshalJSON() ([]byte, error) { return marshal(u, u.Extra) }

// deltaTypes is the decode table of deltas.
var deltaTypes = map[string]func() Delta{
	"text_delta":       func() Delta { return new(TextDelta) },
	"thinking_delta":   func() Delta { return new(ThinkingDelta) },
	"input_json_delta": func() Delta { return new(InputJSONDelta) },
	"signature_delta":  func() Delta { return new(SignatureDelta) },
	"citations_delta":  func() Delta { return new(CitationsDelta) },
	"unknown":          func() Delta { return new(UnknownDelta) },
}

// Type returns "text_delta", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*TextDelta) Type() string { return "text_delta" }

func (*TextDelta) delta() {}

// MarshalJSON writes the delta as a JSON object: its type, its fields, and then the members of Extra.
func (t *TextDelta) MarshalJSON() ([]byte, error) { return marshal(t, t.Extra) }

// Type returns "thinking_delta", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*ThinkingDelta) Type() string { return "thinking_delta" }

func (*ThinkingDelta) delta() {}

// MarshalJSON writes the delta as a JSON object: its type, its fields, and then the members of Extra.
func (t *ThinkingDelta) MarshalJSON() ([]byte, error) { return marshal(t, t.Extra) }

// Type returns "input_json_delta", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*InputJSONDelta) Type() string { return "input_json_delta" }

func (*InputJSONDelta) delta() {}

// MarshalJSON writes the delta as a JSON object: its type, its fields, and then the members of Extra.
func (i *InputJSONDelta) MarshalJSON() ([]byte, error) { return marshal(i, i.Extra) }

// Type returns "signature_delta", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*SignatureDelta) Type() string { return "signature_delta" }

func (*SignatureDelta) delta() {}

// MarshalJSON writes the delta as a JSON object: its type, its fields, and then the members of Extra.
func (s *SignatureDelta) MarshalJSON() ([]byte, error) { return marshal(s, s.Extra) }

// Type returns "citations_delta", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*CitationsDelta) Type() string { return "citations_delta" }

func (*CitationsDelta) delta() {}

// MarshalJSON writes the delta as a JSON object: its type, its fields, and then the members of Extra.
func (c *CitationsDelta) MarshalJSON() ([]byte, error) { return marshal(c, c.Extra) }

// Type returns "unknown", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*UnknownDelta) Type() string { return "unknown" }

func (*UnknownDelta) delta() {}

// MarshalJSON writes the delta as a JSON object: its type, its fields, and then the members of Extra.
func (u *UnknownDelta) MarshalJSON() ([]byte, error) { return marshal(u, u.Extra) }
