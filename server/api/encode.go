package api

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// Encode returns the JSON of a message in one line, without a newline at its end. [Append]
// avoids the allocation.
func Encode(m Message) ([]byte, error) { return Append(nil, m) }

// Append appends the JSON of a message to dst, in one line without a newline at its end. Streamed
// deltas, which are nearly all messages of a live session, need no other memory than dst.
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
	f := deltaFrame{session: s.SessionID, parent: s.ParentToolUseID, message: s.APIMessageID, provider: s.Provider, index: e.Index}
	var extra Extra
	switch d := e.Delta.(type) {
	case *TextDelta:
		f.head, f.text, extra = textDeltaHead, d.Text, d.Extra
	case *ThinkingDelta:
		f.head, f.text, extra = thinkingDeltaHead, d.Thinking, d.Extra
	case *InputJSONDelta:
		f.head, f.text, extra = inputDeltaHead, d.PartialJSON, d.Extra
	default:
		return nil, false
	}
	if extra != nil {
		return nil, false
	}
	dst = append(dst, deltaUUIDHead...)
	return f.append(jsonwire.AppendString(dst, s.UUID)), true
}

// A stream event with a delta, in pieces.
const (
	deltaUUIDHead     = `{"type":"stream_event","uuid":`
	textDeltaHead     = `,"delta":{"type":"text_delta","text":`
	thinkingDeltaHead = `,"delta":{"type":"thinking_delta","thinking":`
	inputDeltaHead    = `,"delta":{"type":"input_json_delta","partial_json":`
)

// deltaFrame is a stream event with a delta, after its uuid.
type deltaFrame struct {
	session, parent, message, provider string
	index                              int64
	head, text                         string
}

func (f *deltaFrame) append(dst []byte) []byte {
	dst = jsonwire.AppendString(append(dst, `,"session_id":`...), f.session)
	dst = strconv.AppendInt(append(dst, `,"event":{"type":"content_block_delta","index":`...), f.index, 10)
	dst = append(jsonwire.AppendString(append(dst, f.head...), f.text), '}', '}')
	if f.parent != "" {
		dst = jsonwire.AppendString(append(dst, `,"parent_tool_use_id":`...), f.parent)
	}
	if f.message != "" {
		dst = jsonwire.AppendString(append(dst, `,"api_message_id":`...), f.message)
	}
	dst = jsonwire.AppendString(append(dst, `,"provider":`...), f.provider)
	return append(dst, '}')
}

// AppendLines appends the messages of an event to dst as JSON, each with a newline at its end. It
// does the same as [Converter.Messages] and [Append], but deltas need no other memory than dst.
func (c *Converter) AppendLines(dst []byte, ev event.Event) ([]byte, error) {
	var f deltaFrame
	switch ev := ev.(type) {
	case *event.TextDelta:
		f.index, f.head, f.text = ev.Index, textDeltaHead, ev.Text
	case *event.ThinkingDelta:
		f.index, f.head, f.text = ev.Index, thinkingDeltaHead, ev.Thinking
	case *event.ToolInputDelta:
		f.index, f.head, f.text = ev.Index, inputDeltaHead, ev.PartialJSON
	default:
		for _, m := range c.Messages(ev) {
			var err error
			if dst, err = Append(dst, m); err != nil {
				return nil, err
			}
			dst = append(dst, '\n')
		}
		return dst, nil
	}
	h := ev.Head()
	f.provider, f.session, f.parent, f.message = h.Provider, h.SessionID, h.ParentToolUseID, h.MessageID
	c.n++
	dst = append(append(append(dst, deltaUUIDHead...), '"'), c.stream...)
	dst = append(strconv.AppendUint(dst, c.n, 10), '"')
	return append(f.append(dst), '\n'), nil
}

// compact is a JSON text without space between its tokens.
func compact(data []byte) event.JSON {
	var b bytes.Buffer
	if json.Compact(&b, data) != nil {
		return "null"
	}
	return event.JSON(b.String())
}
