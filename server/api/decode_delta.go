package api

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// decodeDeltaFrame decodes a stream event with a delta of a usual kind, in exactly the form
// that Append gives it; false if it has another. Nearly all messages of a live session are
// such, and this is many times cheaper than the tables of Decode. The result is the same.
func decodeDeltaFrame(s string) (*StreamEvent, bool) {
	d := jsonwire.NewDecoder(s)
	e, m := &ContentBlockDeltaEvent{}, &StreamEvent{}
	ok := d.Literal(deltaUUIDHead) && member(d, &m.UUID) && d.Literal(`,"session_id":`) && member(d, &m.SessionID) &&
		d.Literal(`,"event":{"type":"content_block_delta","index":`)
	if !ok {
		return nil, false
	}
	if e.Index, ok = integer(d); !ok {
		return nil, false
	}
	switch {
	case d.Literal(textDeltaHead):
		delta := &TextDelta{}
		e.Delta, ok = delta, member(d, &delta.Text)
	case d.Literal(thinkingDeltaHead):
		delta := &ThinkingDelta{}
		e.Delta, ok = delta, member(d, &delta.Thinking)
	case d.Literal(inputDeltaHead):
		delta := &InputJSONDelta{}
		e.Delta, ok = delta, member(d, &delta.PartialJSON)
	default:
		return nil, false
	}
	m.Event = e
	ok = ok && d.Literal("}}") && optional(d, `,"parent_tool_use_id":`, &m.ParentToolUseID) &&
		optional(d, `,"api_message_id":`, &m.APIMessageID) && d.Literal(`,"provider":`) && member(d, &m.Provider) && d.Literal("}")
	return m, ok && d.End() == nil
}

func member(d *jsonwire.Decoder, dst *string) bool {
	var ok bool
	*dst, ok = d.String()
	return ok && d.Err() == nil
}

// optional reads a member that need not be there.
func optional(d *jsonwire.Decoder, head string, dst *string) bool {
	return !d.Literal(head) || member(d, dst)
}

// DecodeEnvelope decodes an envelope and its message, which is nil if the envelope has none. The
// envelope may refer to data, which the caller must not change afterwards.
func DecodeEnvelope(data []byte) (Envelope, Message, error) {
	if e, m, ok := decodeDeltaEnvelope(data); ok {
		return e, m, nil
	}
	var e Envelope
	if err := json.Unmarshal(data, &e); err != nil {
		return e, nil, fmt.Errorf("rpc: %w", err)
	}
	if len(e.Msg) == 0 {
		return e, nil, nil
	}
	m, err := Decode(e.Msg)
	return e, m, err
}

// decodeDeltaEnvelope decodes an envelope that a server made of a delta; false for any
// other.
func decodeDeltaEnvelope(data []byte) (Envelope, Message, bool) {
	var e Envelope
	if len(data) == 0 || data[len(data)-1] != '}' {
		return e, nil, false
	}
	s := string(data)
	d := jsonwire.NewDecoder(s)
	ok := d.Literal(`{"seq":`) && number(d, &e.Seq) && d.Literal(`,"sub":`) && number(d, &e.Sub) && d.Literal(`,"epoch":`) && member(d, &e.Epoch) &&
		d.Literal(`,"session_id":`) && member(d, &e.SessionID) && d.Literal(`,"ts":`) && member(d, &e.TS) && d.Literal(`,"msg":`)
	if !ok {
		return e, nil, false
	}
	from, to := d.Offset(), len(data)-1
	if from > to {
		return e, nil, false
	}
	m, ok := decodeDeltaFrame(s[from:to])
	e.Msg = data[from:to:to]
	return e, m, ok
}

// integer reads a number without fraction and exponent, which is what an int64 takes.
func integer(d *jsonwire.Decoder) (int64, bool) {
	start := d.Offset()
	n, ok := d.Int()
	return n, ok && !strings.ContainsAny(d.Since(start), ".eE")
}

func number(d *jsonwire.Decoder, dst *uint64) bool {
	n, ok := integer(d)
	*dst = uint64(n)
	return ok && n >= 0
}
