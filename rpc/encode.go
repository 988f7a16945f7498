package rpc

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// Encode returns the JSON of a message, in one line.
func Encode(m Message) ([]byte, error) { return Append(nil, m) }

// Append appends the JSON of a message. Streamed deltas, nearly all messages of a
// live session, allocate nothing but what dst lacks.
func Append(dst []byte, m Message) ([]byte, error) {
	if s, ok := m.(*StreamEvent); ok {
		if out, ok := s.appendDelta(dst); ok {
			return out, nil
		}
	}
	text, err := m.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return append(dst, text...), nil
}

// appendDelta appends a stream event with a delta of a usual kind; false if it is
// another event.
func (s *StreamEvent) appendDelta(dst []byte) ([]byte, bool) {
	e, ok := s.Event.(*ContentBlockDeltaEvent)
	if !ok || s.Extra != nil || e.Extra != nil || s.AbandonedBlocks != nil {
		return nil, false
	}
	var head, text string
	var extra Extra
	switch d := e.Delta.(type) {
	case *TextDelta:
		head, text, extra = `,"delta":{"type":"text_delta","text":`, d.Text, d.Extra
	case *ThinkingDelta:
		head, text, extra = `,"delta":{"type":"thinking_delta","thinking":`, d.Thinking, d.Extra
	case *InputJSONDelta:
		head, text, extra = `,"delta":{"type":"input_json_delta","partial_json":`, d.PartialJSON, d.Extra
	default:
		return nil, false
	}
	if extra != nil {
		return nil, false
	}
	dst = jsonwire.AppendString(append(dst, `{"type":"stream_event","uuid":`...), s.UUID)
	dst = jsonwire.AppendString(append(dst, `,"session_id":`...), s.SessionID)
	dst = strconv.AppendInt(append(dst, `,"event":{"type":"content_block_delta","index":`...), e.Index, 10)
	dst = append(jsonwire.AppendString(append(dst, head...), text), '}', '}')
	if s.ParentToolUseID != "" {
		dst = jsonwire.AppendString(append(dst, `,"parent_tool_use_id":`...), s.ParentToolUseID)
	}
	if s.APIMessageID != "" {
		dst = jsonwire.AppendString(append(dst, `,"api_message_id":`...), s.APIMessageID)
	}
	dst = jsonwire.AppendString(append(dst, `,"provider":`...), s.Provider)
	return append(dst, '}'), true
}

// compact is a JSON text without space between its tokens.
func compact(data []byte) JSON {
	var b bytes.Buffer
	if json.Compact(&b, data) != nil {
		return "null"
	}
	return JSON(b.String())
}
