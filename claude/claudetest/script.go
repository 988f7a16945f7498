package claudetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Script is what a [FakeAPI] answers. Its JSON form is the one that [ParseScript]
// reads.
type Script struct {
	// Replies answer the requests of the main conversation in order. A reply
	// with a Match is taken by the first request that fits it, before any reply
	// without one.
	Replies []Reply `json:"replies"`
	// AllMain makes every request for a message one of the main conversation,
	// also those without tools and the probes for a single token.
	AllMain bool `json:"all_main,omitempty"`
	// NoToolsMain makes requests without tools part of the main conversation;
	// probes for a single token remain side requests.
	NoToolsMain bool `json:"no_tools_main,omitempty"`
	// SideText is the text that side requests get; empty is a harmless title.
	SideText string `json:"side_text,omitempty"`
}

// Reply is one answer of the API: a message made of Blocks, an Error, or a
// connection that breaks. The zero value is a message without content.
//
// What is counted in events (HoldAfter, DropAfter, EndAfter, MalformedAfter,
// SSEErrorAfter, EventDelayMS) applies to streamed answers only. A count larger
// than the number of events means after the last one; of several faults the
// earliest strikes.
type Reply struct {
	Blocks []Block `json:"blocks,omitempty"`
	// StopReason is "tool_use" for a message with a tool call and "end_turn"
	// for any other unless set.
	StopReason string `json:"stop_reason,omitempty"`
	// Usage is laid over the default of 10 input and 5 output tokens. The first
	// event of a stream always says 1 output token.
	Usage map[string]any `json:"usage,omitempty"`
	// Model is the model of the request unless set.
	Model string `json:"model,omitempty"`
	// ID is the next of msg_0001, msg_0002, ... unless set.
	ID string `json:"id,omitempty"`
	// Repeat n is the same as n such replies; 0 is 1.
	Repeat int `json:"repeat,omitempty"`

	// DelayMS is the time before anything is answered, in milliseconds.
	DelayMS int `json:"delay_ms,omitempty"`
	// EventDelayMS is the time between two events of the stream.
	EventDelayMS int `json:"event_delay_ms,omitempty"`
	// Hold keeps the client waiting until it hangs up; see [HoldBefore] and [HoldMid].
	Hold Hold `json:"hold,omitempty"`
	// HoldAfter is the number of events before a HoldMid; nil is 3.
	HoldAfter *int `json:"hold_after,omitempty"`
	// HoldMS bounds a hold, after which the answer goes on; 0 is 20,000.
	HoldMS int `json:"hold_ms,omitempty"`

	// Error answers with an HTTP error instead of a message.
	Error *APIError `json:"error,omitempty"`
	// Reset closes the connection without any answer.
	Reset bool `json:"reset,omitempty"`
	// DropAfter breaks the connection after so many events.
	DropAfter *int `json:"drop_after,omitempty"`
	// EndAfter ends the stream cleanly, but too early, after so many events.
	EndAfter *int `json:"end_after,omitempty"`
	// MalformedAfter writes only half the data of the event after so many
	// others, and ends the stream.
	MalformedAfter *int `json:"malformed_after,omitempty"`
	// SSEErrorAfter ends the stream with an error event after so many events.
	// Where only SSEError is set, the event comes after the last block.
	SSEErrorAfter *int `json:"sse_error_after,omitempty"`
	// SSEError is the data of the error event; nil is an overloaded_error.
	SSEError json.RawMessage `json:"sse_error,omitempty"`
	// Headers are added to the answer's.
	Headers map[string]string `json:"headers,omitempty"`

	// Match restricts which requests may take the reply; nil is any request of
	// the main conversation.
	Match *Match `json:"match,omitempty"`
}

// Hold is the place at which a [Reply] stops and waits for the client to hang up, to test
// interruptions.
type Hold string

const (
	// HoldBefore waits before anything is answered, even before the headers, like an API that
	// is overloaded.
	HoldBefore Hold = "before"
	// HoldMid waits in the middle of the stream, after as many events as [Reply].HoldAfter
	// says.
	HoldMid Hold = "mid"
)

// Block is one content block of a [Reply]. Exactly one of Text, TextRepeat,
// Thinking, ToolUse and Raw is set, except that Chunks alone is a text.
type Block struct {
	Text       *string     `json:"text,omitempty"`
	TextRepeat *TextRepeat `json:"text_repeat,omitempty"`
	Thinking   *string     `json:"thinking,omitempty"`
	// Signature ends a thinking block; without one there is no signature event.
	Signature string    `json:"signature,omitempty"`
	ToolUse   *ToolCall `json:"tool_use,omitempty"`
	// Raw is a content block as it goes over the wire, of any type. It is
	// streamed whole, without deltas.
	Raw json.RawMessage `json:"raw,omitempty"`

	// Chunk cuts the text, the thinking or the tool's input into deltas of so
	// many code points; 0 is a single delta.
	Chunk int `json:"chunk,omitempty"`
	// Chunks are the deltas themselves; they win over Chunk and over the
	// content they stand for.
	Chunks []string `json:"chunks,omitempty"`
}

// TextRepeat is a long text in a short form: the string S is written N times in a row.
type TextRepeat struct {
	S string `json:"s"`
	N int    `json:"n"`
}

// ToolCall is a tool_use block of a [Reply]: the name of the tool, its input, and its id if it
// matters.
type ToolCall struct {
	Name string `json:"name"`
	// Input is the tool's input; nil is an empty object.
	Input json.RawMessage `json:"input,omitempty"`
	// ID is the next of toolu_0001, toolu_0002, ... unless set.
	ID string `json:"id,omitempty"`
	// RawInput is streamed as it is in the place of Input, so that the input can
	// be malformed JSON. An answer that is not streamed has an empty object in
	// the place of malformed input.
	RawInput *string `json:"raw_input,omitempty"`
}

// APIError is an answer of the API that is an HTTP error: its status, its body and its headers.
type APIError struct {
	Status int `json:"status"`
	// Body is sent as JSON, or as plain text if it is a JSON string; nil is an
	// api_error.
	Body    json.RawMessage   `json:"body,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

// Match is what a request must have to take a [Reply]: everything that is set.
// A text is looked for in every string value of its part of the request (texts,
// tool inputs, tool results), after JSON escapes are resolved; it must lie within
// one string.
type Match struct {
	// Model is the request's model, exactly.
	Model string `json:"model,omitempty"`
	// SystemIncludes is part of the system prompt.
	SystemIncludes string `json:"system_includes,omitempty"`
	// LastIncludes is part of the last message with role user; messages with
	// another role may follow it.
	LastIncludes string `json:"last_includes,omitempty"`
	// AnyIncludes is part of any message, whatever its role.
	AnyIncludes string `json:"any_includes,omitempty"`
	// Side replies are for side requests and for no others.
	Side bool `json:"side,omitempty"`
}

// ParseScript reads a script from JSON. A member that the format does not know,
// a value of the wrong type and a reply that makes no sense are errors.
func ParseScript(data []byte) (Script, error) {
	var s Script
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return Script{}, fmt.Errorf("claudetest: script: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Script{}, errors.New("claudetest: script: data after the script's object")
	}
	if err := s.check(); err != nil {
		return Script{}, err
	}
	return s, nil
}

// ReadScript reads a script from a file and checks it, as [ParseScript] does. Errors name the
// file.
func ReadScript(path string) (Script, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Script{}, fmt.Errorf("claudetest: script: %w", err)
	}
	s, err := ParseScript(data)
	if err != nil {
		return Script{}, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}
