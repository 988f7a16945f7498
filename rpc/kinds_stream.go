package rpc

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

// Type is message_start.
func (*MessageStartEvent) Type() string { return "message_start" }

func (*MessageStartEvent) event() {}

// MarshalJSON writes the event.
func (m *MessageStartEvent) MarshalJSON() ([]byte, error) { return marshal(m, m.Extra) }

// Type is content_block_start.
func (*ContentBlockStartEvent) Type() string { return "content_block_start" }

func (*ContentBlockStartEvent) event() {}

// MarshalJSON writes the event.
func (c *ContentBlockStartEvent) MarshalJSON() ([]byte, error) { return marshal(c, c.Extra) }

// Type is content_block_delta.
func (*ContentBlockDeltaEvent) Type() string { return "content_block_delta" }

func (*ContentBlockDeltaEvent) event() {}

// MarshalJSON writes the event.
func (c *ContentBlockDeltaEvent) MarshalJSON() ([]byte, error) { return marshal(c, c.Extra) }

// Type is content_block_stop.
func (*ContentBlockStopEvent) Type() string { return "content_block_stop" }

func (*ContentBlockStopEvent) event() {}

// MarshalJSON writes the event.
func (c *ContentBlockStopEvent) MarshalJSON() ([]byte, error) { return marshal(c, c.Extra) }

// Type is message_delta.
func (*MessageDeltaEvent) Type() string { return "message_delta" }

func (*MessageDeltaEvent) event() {}

// MarshalJSON writes the event.
func (m *MessageDeltaEvent) MarshalJSON() ([]byte, error) { return marshal(m, m.Extra) }

// Type is message_stop.
func (*MessageStopEvent) Type() string { return "message_stop" }

func (*MessageStopEvent) event() {}

// MarshalJSON writes the event.
func (m *MessageStopEvent) MarshalJSON() ([]byte, error) { return marshal(m, m.Extra) }

// Type is unknown.
func (*UnknownEvent) Type() string { return "unknown" }

func (*UnknownEvent) event() {}

// MarshalJSON writes the event.
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

// Type is text_delta.
func (*TextDelta) Type() string { return "text_delta" }

func (*TextDelta) delta() {}

// MarshalJSON writes the delta.
func (t *TextDelta) MarshalJSON() ([]byte, error) { return marshal(t, t.Extra) }

// Type is thinking_delta.
func (*ThinkingDelta) Type() string { return "thinking_delta" }

func (*ThinkingDelta) delta() {}

// MarshalJSON writes the delta.
func (t *ThinkingDelta) MarshalJSON() ([]byte, error) { return marshal(t, t.Extra) }

// Type is input_json_delta.
func (*InputJSONDelta) Type() string { return "input_json_delta" }

func (*InputJSONDelta) delta() {}

// MarshalJSON writes the delta.
func (i *InputJSONDelta) MarshalJSON() ([]byte, error) { return marshal(i, i.Extra) }

// Type is signature_delta.
func (*SignatureDelta) Type() string { return "signature_delta" }

func (*SignatureDelta) delta() {}

// MarshalJSON writes the delta.
func (s *SignatureDelta) MarshalJSON() ([]byte, error) { return marshal(s, s.Extra) }

// Type is citations_delta.
func (*CitationsDelta) Type() string { return "citations_delta" }

func (*CitationsDelta) delta() {}

// MarshalJSON writes the delta.
func (c *CitationsDelta) MarshalJSON() ([]byte, error) { return marshal(c, c.Extra) }

// Type is unknown.
func (*UnknownDelta) Type() string { return "unknown" }

func (*UnknownDelta) delta() {}

// MarshalJSON writes the delta.
func (u *UnknownDelta) MarshalJSON() ([]byte, error) { return marshal(u, u.Extra) }
