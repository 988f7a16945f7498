package claudetest

import (
	"encoding/json"
	"fmt"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// Replies returns a script of these replies, in order.
func Replies(replies ...Reply) Script { return Script{Replies: replies} }

// Say returns a reply that consists of a single text, which is streamed as the real API does.
func Say(text string) Reply { return Reply{Blocks: []Block{Text(text)}} }

// Use returns a reply that calls one tool with this input; see [ToolUse] for valid inputs.
func Use(tool string, input any) Reply { return Reply{Blocks: []Block{ToolUse(tool, input)}} }

// Fail returns a reply with an HTTP error in the API's form, for example Fail(429,
// "rate_limit_error", "slow down"). The CLI retries most failed requests, even with status
// 400: see [Reply.Times].
func Fail(status int, kind, message string) Reply {
	return Reply{Error: &APIError{Status: status, Body: errorBody(kind, message)}}
}

// Times returns the reply for n requests in a row. Without it a reply is given once.
func (r Reply) Times(n int) Reply {
	r.Repeat = n
	return r
}

// When returns the reply for requests that match m only. Other requests skip it.
func (r Reply) When(m Match) Reply {
	r.Match = &m
	return r
}

// Text returns a text block for a [Reply]. [Block.Chunked] changes how it is streamed.
func Text(text string) Block { return Block{Text: &text} }

// Thinking returns a thinking block for a [Reply], with a made-up signature that only a fake
// API accepts.
func Thinking(text string) Block { return Block{Thinking: &text, Signature: "c2lnbmF0dXJl"} }

// ToolUse returns a call of a tool with input, which is anything that encodes to a JSON
// object; nil means an empty one. It panics if input cannot be encoded.
func ToolUse(name string, input any) Block {
	call := &ToolCall{Name: name}
	if input != nil {
		call.Input = mustEncode(input)
	}
	return Block{ToolUse: call}
}

// Raw returns a content block of any type, known to the CLI or not, from anything that
// encodes to a JSON object. It panics if block cannot be encoded.
func Raw(block any) Block { return Block{Raw: mustEncode(block)} }

// Chunked returns the block, streamed in deltas of n code points each.
func (b Block) Chunked(n int) Block {
	b.Chunk = n
	return b
}

// errorBody returns an error in the API's form.
func errorBody(kind, message string) json.RawMessage {
	type detail struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	return mustEncode(struct {
		Type      string `json:"type"`
		Error     detail `json:"error"`
		RequestID string `json:"request_id"`
	}{"error", detail{kind, message}, requestID})
}

// mustEncode returns compact JSON without escapes for <, > and &, like the API.
func mustEncode(v any) json.RawMessage {
	data, err := jsonwire.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("claudetest: %v", err))
	}
	return data
}
