package message

import "github.com/seed7221b0f9/parley/internal/jsonwire"

// textDelta holds a whole text delta in one allocation, because nearly every line of a stream
// with partial messages is one.
type textDelta struct {
	message StreamEvent
	event   ContentBlockDelta
	delta   TextDelta
}

// The parts of a text delta line as the CLI writes it.
const (
	eventHead = `{"type":"stream_event","event":`
	deltaHead = `{"type":"content_block_delta","index":`
	textHead  = `{"type":"text_delta","text":`
)

// decodeTextDelta decodes the most frequent form of a line without the decode tables. It
// returns nil for any other form; the caller then uses the tables.
func decodeTextDelta(line string) *StreamEvent {
	d := jsonwire.NewDecoder(line)
	if !d.Literal(eventHead) || !d.Literal(deltaHead) {
		return nil
	}
	index, ok := d.Int()
	if !ok || !d.Literal(`,"delta":`) {
		return nil
	}
	start := d.Offset()
	if !d.Literal(textHead) {
		return nil
	}
	text, ok := d.String()
	if !ok || !d.Literal("}") {
		return nil
	}
	all := new(textDelta)
	all.delta = TextDelta{deltaText{d.Since(start)}, text}
	if !d.Literal("}") {
		return nil
	}
	event := line[len(eventHead):d.Offset()]
	all.event = ContentBlockDelta{eventText{event}, index, &all.delta}
	all.message.Event = &all.event
	if !all.message.rest(d) {
		return nil
	}
	all.message.line = line
	return &all.message
}

// rest decodes the members after the event. It returns false for a member that this path does
// not know.
func (m *StreamEvent) rest(d *jsonwire.Decoder) bool {
	if before := *d; !m.quickRest(d) {
		*d = before
		return m.anyRest(d)
	}
	return true
}

// quickRest is rest for members in the CLI's own order.
func (m *StreamEvent) quickRest(d *jsonwire.Decoder) bool {
	var ok1, ok2, ok3 bool
	if d.Literal(`,"session_id":`) {
		m.SessionID, ok1 = d.String()
	}
	if d.Literal(`,"parent_tool_use_id":null,"uuid":`) {
		m.UUID, ok2 = d.String()
	}
	if d.Literal(`,"api_message_id":`) {
		m.APIMessageID, ok3 = d.String()
	}
	return ok1 && ok2 && ok3 && d.Literal("}") && d.End() == nil
}

// anyRest is rest for members in any order.
func (m *StreamEvent) anyRest(d *jsonwire.Decoder) bool {
	for rest := d.Resume(); rest.Next(); {
		var dst *string
		switch rest.Key {
		case "uuid":
			dst = &m.UUID
		case "session_id":
			dst = &m.SessionID
		case "parent_tool_use_id":
			dst = &m.ParentToolUseID
		case "api_message_id":
			dst = &m.APIMessageID
		default:
			return false
		}
		*dst, _ = d.String()
	}
	return d.End() == nil
}

var (
	_ = jsonwire.Register(decodeEvent)
	_ = jsonwire.Register(decodeDelta)
)

func decodeEvent(d *jsonwire.Decoder) Event {
	e, text := eventTypes.Decode(d, func() Event { return new(UnknownEvent) })
	e.event().text = text
	return e
}

func decodeDelta(d *jsonwire.Decoder) Delta {
	delta, text := deltaTypes.Decode(d, func() Delta { return new(UnknownDelta) })
	delta.delta().text = text
	return delta
}
