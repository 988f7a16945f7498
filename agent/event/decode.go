package event

import "fmt"

// maxMessageDepth is the nesting limit of a message: the JSON of an event, and the message around
// it.
const maxMessageDepth = 2 * MaxDepth

var errDeep = fmt.Errorf("event: the message nests deeper than %d levels", maxMessageDepth)

// Decoder decodes the messages of one session to events, in order. It is the inverse of an
// [Encoder]: the events fold to the same conversation. The zero value is ready to use. A Decoder is
// not safe for concurrent use.
type Decoder struct {
	current map[string]string // the streamed message, by parent tool use
}

// Decode returns the events of one message: usually one, several for a user message with tool
// results, none for a message without a meaning on its own. A message, block or delta of an unknown
// type is not an error. Decode returns an error for text that is not JSON or is nested too deeply,
// and for a member with the wrong JSON type, which the error names.
func (d *Decoder) Decode(data []byte) ([]Event, error) {
	if ev, ok := d.DecodeDelta(data); ok {
		return []Event{ev}, nil
	}
	if Deeper(view(data), maxMessageDepth) {
		return nil, errDeep
	}
	if err := valid(data); err != nil {
		return nil, err
	}
	typ, err := typeOf(data)
	if err != nil {
		return nil, err
	}
	switch typ {
	case "user":
		m := new(wireUser)
		if err := fill(data, m); err != nil {
			return nil, err
		}
		return userEvents(m), nil
	case "assistant":
		m := new(wireAssistant)
		if err := fill(data, m); err != nil {
			return nil, err
		}
		return []Event{assistantEvent(m)}, nil
	case "stream_event":
		m := new(wireStream)
		if err := fill(data, m); err != nil {
			return nil, err
		}
		if ev := d.event(m); ev != nil {
			return []Event{ev}, nil
		}
		return nil, nil
	}
	create, ok := events[typ]
	if !ok {
		return []Event{&Unknown{OriginalType: typ, Data: compact(data)}}, nil
	}
	ev := create()
	if err := Unmarshal(data, ev); err != nil {
		return nil, err
	}
	return []Event{ev}, nil
}

// Unmarshal decodes the message of an event that is one message with its members, which must be of
// the type of ev.
func Unmarshal(data []byte, ev Event) error {
	if err := fill(data, ev); err != nil {
		return err
	}
	whole := func() JSON { return compact(data) }
	switch ev := ev.(type) {
	case *CompactBoundary:
		trigger, _ := ev.Metadata.Member("trigger")
		ev.Trigger = trigger.Text()
		if _, ok := ev.Metadata.Member("pre_tokens"); ok {
			n := int64(ev.Metadata.Number("pre_tokens"))
			ev.PreTokens = &n
		}
	case *PermissionRequest:
		ev.Data = whole()
	case *QuestionRequest:
		ev.Data = whole()
	case *ResultMessage:
		ev.Data = whole()
	}
	return nil
}
