package event

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// The parts of a stream event with a delta. Nearly all messages of a live session have this form:
// exactly this form is written and read without the tables of the codec, any other form with them.
const (
	deltaUUIDHead     = `{"type":"stream_event","uuid":`
	textDeltaHead     = `,"delta":{"type":"text_delta","text":`
	thinkingDeltaHead = `,"delta":{"type":"thinking_delta","thinking":`
	inputDeltaHead    = `,"delta":{"type":"input_json_delta","partial_json":`
)

// deltaFrame is a stream event with a delta, after its uuid.
type deltaFrame struct {
	header     *Header
	index      int64
	head, text string
}

// deltaOf returns the frame of one of the usual deltas; false for any other event.
func deltaOf(ev Event) (deltaFrame, bool) {
	var f deltaFrame
	switch ev := ev.(type) {
	case *TextDelta:
		f = deltaFrame{&ev.Header, ev.Index, textDeltaHead, ev.Text}
	case *ThinkingDelta:
		f = deltaFrame{&ev.Header, ev.Index, thinkingDeltaHead, ev.Thinking}
	case *ToolInputDelta:
		f = deltaFrame{&ev.Header, ev.Index, inputDeltaHead, ev.PartialJSON}
	default:
		return f, false
	}
	return f, true
}

// appendDelta appends the message of a delta with the next uuid.
func (e *Encoder) appendDelta(dst []byte, f *deltaFrame) []byte {
	e.n++
	dst = append(append(append(dst, deltaUUIDHead...), '"'), e.stream...)
	dst = append(strconv.AppendUint(dst, e.n, 10), '"')
	return f.append(dst)
}

// size estimates the size of the message in bytes: sufficient unless the text has many escapes.
func (f *deltaFrame) size() int {
	h := f.header
	return 240 + len(h.Provider) + len(h.SessionID) + len(h.ParentToolUseID) + len(h.MessageID) + len(f.text) + len(f.text)/16
}

func (f *deltaFrame) append(dst []byte) []byte {
	h := f.header
	dst = jsonwire.AppendString(append(dst, `,"session_id":`...), h.SessionID)
	dst = strconv.AppendInt(append(dst, `,"event":{"type":"content_block_delta","index":`...), f.index, 10)
	dst = append(jsonwire.AppendString(append(dst, f.head...), f.text), '}', '}')
	if h.ParentToolUseID != "" {
		dst = jsonwire.AppendString(append(dst, `,"parent_tool_use_id":`...), h.ParentToolUseID)
	}
	if h.MessageID != "" {
		dst = jsonwire.AppendString(append(dst, `,"api_message_id":`...), h.MessageID)
	}
	dst = jsonwire.AppendString(append(dst, `,"provider":`...), h.Provider)
	return append(dst, '}')
}

// SameBlock reports whether two deltas add to one block in the same way.
func SameBlock(a, b Event) bool {
	x, ok := deltaOf(a)
	y, ok2 := deltaOf(b)
	if !ok || !ok2 {
		return false
	}
	if t, ok := a.(*ToolInputDelta); ok && y.head == inputDeltaHead && t.ToolUseID != b.(*ToolInputDelta).ToolUseID {
		return false
	}
	h, g := x.header, y.header
	return x.head == y.head && x.index == y.index && h.MessageID == g.MessageID && h.ParentToolUseID == g.ParentToolUseID &&
		h.SessionID == g.SessionID && h.Provider == g.Provider
}

// WithText returns a copy of a text, thinking or input delta with another text, and any other event
// unchanged.
func WithText(ev Event, text string) Event {
	switch ev := ev.(type) {
	case *TextDelta:
		return &TextDelta{Header: ev.Header, Index: ev.Index, Text: text}
	case *ThinkingDelta:
		return &ThinkingDelta{Header: ev.Header, Index: ev.Index, Thinking: text}
	case *ToolInputDelta:
		return &ToolInputDelta{Header: ev.Header, Index: ev.Index, ToolUseID: ev.ToolUseID, PartialJSON: text}
	}
	return ev
}

// Join merges two consecutive deltas into one, and returns false if they do not add to the same
// block in the same way.
func Join(a, b Event) (Event, bool) {
	if !SameBlock(a, b) {
		return nil, false
	}
	x, _ := deltaOf(a)
	y, _ := deltaOf(b)
	return WithText(b, x.text+y.text), true
}

// Reframe returns the message of a delta with the uuid of msg, the message of another delta.
func Reframe(msg []byte, ev Event) ([]byte, bool) {
	f, ok := deltaOf(ev)
	head, _, found := bytes.Cut(msg, []byte(`,"session_id":`))
	if !ok || !found {
		return nil, false
	}
	return f.append(bytes.Clone(head)), true
}

// DecodeDelta decodes the message of a text, thinking or input delta in the form of an [Encoder].
// It returns false for any other message.
func (d *Decoder) DecodeDelta(data []byte) (Event, bool) {
	if !bytes.HasPrefix(data, []byte(deltaUUIDHead)) {
		return nil, false
	}
	return d.delta(string(data))
}

func (d *Decoder) delta(s string) (Event, bool) {
	var h Header
	var index int64
	w := jsonwire.NewDecoder(s)
	var uuid string
	ok := w.Literal(deltaUUIDHead) && member(w, &uuid) && w.Literal(`,"session_id":`) && member(w, &h.SessionID) &&
		w.Literal(`,"event":{"type":"content_block_delta","index":`)
	if !ok {
		return nil, false
	}
	if index, ok = integer(w); !ok {
		return nil, false
	}
	var ev Event
	var text *string
	switch {
	case w.Literal(textDeltaHead):
		t := &TextDelta{Index: index}
		ev, text = t, &t.Text
	case w.Literal(thinkingDeltaHead):
		t := &ThinkingDelta{Index: index}
		ev, text = t, &t.Thinking
	case w.Literal(inputDeltaHead):
		t := &ToolInputDelta{Index: index}
		ev, text = t, &t.PartialJSON
	default:
		return nil, false
	}
	ok = member(w, text) && w.Literal("}}") && optional(w, `,"parent_tool_use_id":`, &h.ParentToolUseID) &&
		optional(w, `,"api_message_id":`, &h.MessageID) && w.Literal(`,"provider":`) && member(w, &h.Provider) && w.Literal("}")
	if !ok || w.End() != nil {
		return nil, false
	}
	if h.MessageID == "" {
		h.MessageID = d.current[h.ParentToolUseID]
	}
	*ev.Head() = h
	return ev, true
}

func member(d *jsonwire.Decoder, dst *string) bool {
	var ok bool
	*dst, ok = d.String()
	return ok && d.Err() == nil
}

// optional reads a member that may be absent.
func optional(d *jsonwire.Decoder, head string, dst *string) bool {
	return !d.Literal(head) || member(d, dst)
}

// integer reads a number without fraction and exponent, as for an int64.
func integer(d *jsonwire.Decoder) (int64, bool) {
	start := d.Offset()
	n, ok := d.Int()
	return n, ok && !strings.ContainsAny(d.Since(start), ".eE")
}
