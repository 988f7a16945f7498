package claudetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Script holds the answers of a [FakeAPI]. [ParseScript] reads its JSON form.
type Script struct {
	// Replies answer the requests of the main conversation in order. The first request that
	// matches a reply's Match takes it, before any reply without a Match.
	Replies []Reply `json:"replies"`
	// AllMain makes every message request part of the main conversation, including those
	// without tools and the probes for a single token.
	AllMain bool `json:"all_main,omitempty"`
	// NoToolsMain makes requests without tools part of the main conversation;
	// probes for a single token remain side requests.
	NoToolsMain bool `json:"no_tools_main,omitempty"`
	// SideText is the answer to side requests; the default is a title.
	SideText string `json:"side_text,omitempty"`
}

// Reply is one answer of the API: a message made of Blocks, an Error, or a
// connection that breaks. The zero value is a message without content.
//
// The members that count events (HoldAfter, DropAfter, EndAfter, MalformedAfter, SSEErrorAfter)
// and EventDelayMS apply to streamed answers only. A count larger than the number of events
// means after the last one; of several faults the earliest happens.
type Reply struct {
	Blocks []Block `json:"blocks,omitempty"`
	// StopReason is by default "tool_use" for a message with a tool call and "end_turn" for any
	// other.
	StopReason string `json:"stop_reason,omitempty"`
	// Usage overrides the default of 10 input and 5 output tokens. The first event of a stream
	// always has 1 output token.
	Usage map[string]any `json:"usage,omitempty"`
	// Model is by default the model of the request.
	Model string `json:"model,omitempty"`
	// ID is by default the next of msg_0001, msg_0002, ...
	ID string `json:"id,omitempty"`
	// Repeat n is equivalent to n such replies; 0 means 1.
	Repeat int `json:"repeat,omitempty"`

	// DelayMS is the delay before the answer, in milliseconds.
	DelayMS int `json:"delay_ms,omitempty"`
	// EventDelayMS is the delay between two events of the stream, in milliseconds.
	EventDelayMS int `json:"event_delay_ms,omitempty"`
	// Hold makes the client wait until it hangs up; see [HoldBefore] and [HoldMid].
	Hold Hold `json:"hold,omitempty"`
	// HoldAfter is the number of events before a HoldMid; nil means 3.
	HoldAfter *int `json:"hold_after,omitempty"`
	// HoldMS limits a hold in milliseconds; then the answer continues. 0 means 20,000.
	HoldMS int `json:"hold_ms,omitempty"`

	// Error answers with an HTTP error instead of a message.
	Error *APIError `json:"error,omitempty"`
	// Reset closes the connection without any answer.
	Reset bool `json:"reset,omitempty"`
	// DropAfter breaks the connection after this number of events.
	DropAfter *int `json:"drop_after,omitempty"`
	// EndAfter ends the stream cleanly, but too early, after this number of events.
	EndAfter *int `json:"end_after,omitempty"`
	// MalformedAfter writes only half the data of the event after this number of events, and
	// ends the stream.
	MalformedAfter *int `json:"malformed_after,omitempty"`
	// SSEErrorAfter ends the stream with an error event after this number of events. If only
	// SSEError is set, the event follows the last block.
	SSEErrorAfter *int `json:"sse_error_after,omitempty"`
	// SSEError is the data of the error event; nil means an overloaded_error.
	SSEError json.RawMessage `json:"sse_error,omitempty"`
	// Headers are added to the headers of the answer.
	Headers map[string]string `json:"headers,omitempty"`

	// Match restricts which requests may take the reply; nil means any request of the main
	// conversation.
	Match *Match `json:"match,omitempty"`
}

// Hold is the position at which a [Reply] stops and waits for the client to hang up, to test interruptions.
type Hold string

const (
	// HoldBefore waits before the answer, even before its headers, like an overloaded API.
	HoldBefore Hold = "before"
	// HoldMid waits in the middle of the stream, after [Reply].HoldAfter events.
	HoldMid Hold = "mid"
)

// Block is one content block of a [Reply]. Exactly one of Text, TextRepeat,
// Thinking, ToolUse and Raw is set, except that Chunks alone is a text.
type Block struct {
	Text       *string     `json:"text,omitempty"`
	TextRepeat *TextRepeat `json:"text_repeat,omitempty"`
	Thinking   *string     `json:"thinking,omitempty"`
	// Signature ends a thinking block; if it is empty, the stream has no signature event.
	Signature string    `json:"signature,omitempty"`
	ToolUse   *ToolCall `json:"tool_use,omitempty"`
	// Raw is a content block as it goes over the wire, of any type. It is
	// streamed whole, without deltas.
	Raw json.RawMessage `json:"raw,omitempty"`

	// Chunk cuts the text, the thinking or the tool's input into deltas of this number of code
	// points; 0 means a single delta.
	Chunk int `json:"chunk,omitempty"`
	// Chunks are the deltas; they override Chunk and the content.
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
	// Input is the tool's input; nil means an empty object.
	Input json.RawMessage `json:"input,omitempty"`
	// ID is by default the next of toolu_0001, toolu_0002, ...
	ID string `json:"id,omitempty"`
	// RawInput is streamed unchanged in place of Input, so that the input can be malformed
	// JSON. An answer that is not streamed has an empty object instead of malformed input.
	RawInput *string `json:"raw_input,omitempty"`
}

// APIError is an answer of the API that is an HTTP error: its status, its body and its headers.
type APIError struct {
	Status int `json:"status"`
	// Body is sent as JSON, or as plain text if it is a JSON string; nil means an api_error.
	Body    json.RawMessage   `json:"body,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

// Match holds the conditions for a request to take a [Reply]; all set members must match. A
// text is searched in every string value of its part of the request (texts, tool inputs, tool
// results), after JSON escapes are resolved; it must be within one string.
type Match struct {
	// Model is the exact model of the request.
	Model string `json:"model,omitempty"`
	// SystemIncludes is a text in the system prompt.
	SystemIncludes string `json:"system_includes,omitempty"`
	// LastIncludes is a text in the last message with role user; messages with another role may
	// follow it.
	LastIncludes string `json:"last_includes,omitempty"`
	// AnyIncludes is a text in any message of any role.
	AnyIncludes string `json:"any_includes,omitempty"`
	// Side restricts the reply to side requests.
	Side bool `json:"side,omitempty"`
}

// ParseScript reads a script from JSON. An unknown member, a value of the wrong type and an
// invalid reply are errors.
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
