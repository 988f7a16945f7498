package event

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// CapabilityOutputDelta is the capability of clients that accept the output of running tools, in
// tool_progress messages.
const CapabilityOutputDelta = "output_delta"

// CapabilityQueueUpdated is the capability of clients that accept changes of a queue, in
// queue_updated messages. Other clients get the whole queue each time, in queue_changed messages.
const CapabilityQueueUpdated = "queue_updated"

// Encoder writes the events of one session as messages and numbers those of a stream. It is not
// safe for concurrent use.
//
// Every event is one message with its members, with these exceptions: the events of a stream are
// wrapped in a stream_event; [MessageComplete] is two messages; [MessageDelta] and
// [ToolInputComplete] are none; [ToolProgress] is one only for a client with
// [CapabilityOutputDelta]; [ToolComplete] is a user message with a tool_result block.
type Encoder struct {
	stream      string // evt-<8 hex>-, escaped for a JSON string
	n           uint64
	outputDelta bool
}

// NewEncoder returns an encoder. stream is the 8 hex digits in the uuids of its stream events, and
// n the number of the last one, so that another encoder can continue a session without reusing a
// number. capabilities are those of the client.
func NewEncoder(stream string, n uint64, capabilities ...string) *Encoder {
	quoted := jsonwire.AppendString(nil, "evt-"+stream+"-")
	e := &Encoder{stream: string(quoted[1 : len(quoted)-1]), n: n}
	for _, name := range capabilities {
		e.outputDelta = e.outputDelta || name == CapabilityOutputDelta
	}
	return e
}

// Last returns the number of the last stream event.
func (e *Encoder) Last() uint64 { return e.n }

// Messages returns the messages of an event as JSON, each in one line without a newline: usually
// one, two for the end of an answer, none for an event without a message.
func (e *Encoder) Messages(ev Event) ([]json.RawMessage, error) {
	lines, err := e.MessagesAfter("", ev)
	all := make([]json.RawMessage, len(lines))
	for i, line := range lines {
		all[i] = line
	}
	return all, err
}

// MessagesAfter is like [Encoder.Messages] but starts each message with a copy of a prefix: a large
// message becomes part of another text without another copy.
func (e *Encoder) MessagesAfter(prefix string, ev Event) ([][]byte, error) {
	frame, isDelta := deltaOf(ev)
	if isDelta {
		line := append(make([]byte, 0, len(prefix)+frame.size()), prefix...)
		return [][]byte{e.appendDelta(line, &frame)}, nil
	}
	objects := e.objects(ev)
	all := make([][]byte, 0, len(objects))
	for _, o := range objects {
		line, err := appendWire(append(make([]byte, 0, len(prefix)+lineSize), prefix...), o)
		if err != nil {
			return nil, err
		}
		all = append(all, line)
	}
	return all, nil
}

// AppendLines appends the messages of an event to dst, each with a newline at its end. For deltas,
// nearly all events of a live session, it allocates only dst.
func (e *Encoder) AppendLines(dst []byte, ev Event) ([]byte, error) {
	if frame, ok := deltaOf(ev); ok {
		return append(e.appendDelta(dst, &frame), '\n'), nil
	}
	for _, o := range e.objects(ev) {
		var err error
		if dst, err = appendWire(dst, o); err != nil {
			return nil, err
		}
		dst = append(dst, '\n')
	}
	return dst, nil
}

// lineSize is sufficient for most messages that are not deltas.
const lineSize = 320

// objects returns the messages of an event that is not one of the usual deltas.
func (e *Encoder) objects(ev Event) []any {
	switch ev := ev.(type) {
	case *MessageDelta, *ToolInputComplete: // included in the end of the message or of the block
		return nil
	case *ToolProgress:
		if !e.outputDelta {
			return nil
		}
	case *UserMessage:
		return []any{userMessage(ev)}
	case *AssistantMessage:
		return []any{assistantMessage(ev)}
	case *ToolComplete:
		return []any{toolMessage(ev)}
	case *MessageComplete:
		stop := &wireMessageStop{Incomplete: ev.Incomplete}
		first, second := e.wrap(&ev.Header, messageDelta(ev)), e.wrap(&ev.Header, stop)
		if ev.AbandonedFrom != nil {
			second.AbandonedBlocks = &wireAbandoned{APIMessageID: ev.MessageID, FromBlockIndex: *ev.AbandonedFrom}
		}
		return []any{first, second}
	default:
		if s := streamEvent(ev); s != nil {
			return []any{e.wrap(ev.Head(), s)}
		}
	}
	return []any{ev}
}

// wrap returns the message of a stream event.
func (e *Encoder) wrap(h *Header, ev wireEvent) *wireStream {
	e.n++
	return &wireStream{
		UUID: e.uuid(), SessionID: h.SessionID, Event: ev,
		ParentToolUseID: h.ParentToolUseID, APIMessageID: h.MessageID, Provider: h.Provider, object: object{h.Extra},
	}
}

func (e *Encoder) uuid() string {
	return JSON(`"` + e.stream + strconv.FormatUint(e.n, 10) + `"`).Text()
}

// MessageType returns the type of a message of an [Encoder].
func MessageType(msg []byte) string {
	t, _ := JSON(view(msg)).Member("type")
	return strings.Clone(t.Text())
}

// IsTransient reports whether an event is shown only while it happens, to clients with
// [CapabilityOutputDelta].
func IsTransient(ev Event) bool {
	_, ok := ev.(*ToolProgress)
	return ok
}

// Marshal returns the message of an event that is one message with its members, as JSON.
func Marshal(ev Event) ([]byte, error) { return appendWire(nil, ev) }
