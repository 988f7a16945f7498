package api

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// CapabilityOutputDelta is the capability of clients that want the output of running tools, in
// tool_progress messages.
const CapabilityOutputDelta = "output_delta"

// Converter makes messages from the events of one session and numbers them. It is not safe for
// concurrent use.
type Converter struct {
	stream      string // evt-<8 hex>-
	n           uint64
	outputDelta bool
	out         []Message
	uuids       strings.Builder // of those that are in use
}

// NewConverter returns a converter. Stream is the 8 hex digits in the uuids of its stream events,
// and n the number of the last one, so that another converter can continue a session without
// using a number twice. Capabilities are those of the client.
func NewConverter(stream string, n uint64, capabilities ...string) *Converter {
	quoted := jsonwire.AppendString(nil, "evt-"+stream+"-") // it goes into JSON as it is
	c := &Converter{stream: string(quoted[1 : len(quoted)-1]), n: n}
	for _, name := range capabilities {
		c.outputDelta = c.outputDelta || name == CapabilityOutputDelta
	}
	return c
}

// Last returns the number of the last stream event, from which another Converter of the session
// can continue.
func (c *Converter) Last() uint64 { return c.n }

// Messages returns the messages of an event: mostly one, two at the end of an answer, and none for
// an event that has no message. The slice is valid until the next call.
func (c *Converter) Messages(ev event.Event) []Message {
	c.out = c.out[:0]
	switch ev := ev.(type) {
	case *event.TextDelta:
		// One allocation for the three.
		all := new(textDelta)
		all.delta.Text = ev.Text
		all.event = ContentBlockDeltaEvent{Index: ev.Index, Delta: &all.delta}
		all.message = c.wrap(&ev.Header, &all.event)
		c.out = append(c.out, &all.message)
	case *event.ThinkingDelta:
		c.event(&ev.Header, &ContentBlockDeltaEvent{Index: ev.Index, Delta: &ThinkingDelta{Thinking: ev.Thinking}})
	case *event.ToolInputDelta:
		c.event(&ev.Header, &ContentBlockDeltaEvent{Index: ev.Index, Delta: &InputJSONDelta{PartialJSON: ev.PartialJSON}})
	case *event.BlockDelta:
		c.event(&ev.Header, &ContentBlockDeltaEvent{Index: ev.Index, Delta: deltaOf(ev)})
	case *event.MessageStart:
		c.event(&ev.Header, &MessageStartEvent{Message: streamMessage(ev)})
	case *event.TextStart:
		c.start(&ev.Header, ev.Index, blockOr(ev.Block, "text", &TextBlock{Text: ev.Text}))
	case *event.ThinkingStart:
		c.start(&ev.Header, ev.Index, thinkingBlock(ev))
	case *event.ToolStart:
		c.start(&ev.Header, ev.Index, toolBlock(&ev.Header, &event.Content{Type: ev.BlockType, ToolUseID: ev.ToolUseID, Name: ev.Name, Title: ev.Title, Kind: ev.Kind, Raw: ev.Block}))
	case *event.BlockStart:
		c.start(&ev.Header, ev.Index, blockOr(ev.Block, ev.BlockType, &UnknownBlock{OriginalType: ev.BlockType}))
	case *event.BlockStop:
		c.event(&ev.Header, &ContentBlockStopEvent{Index: ev.Index, Incomplete: ev.Incomplete})
	case *event.MessageDelta: // repeated at the end
	case *event.MessageComplete:
		c.messageComplete(ev)
	case *event.UnknownStream:
		c.event(&ev.Header, &UnknownEvent{OriginalType: ev.OriginalType, Data: clean(ev.Data)})
	case *event.ToolInputComplete: // the stop of its block says so
	case *event.ToolProgress:
		c.toolProgress(ev)
	default:
		if m := wholeMessage(ev); m != nil {
			c.out = append(c.out, m)
		}
	}
	return c.out
}

type textDelta struct {
	message StreamEvent
	event   ContentBlockDeltaEvent
	delta   TextDelta
}

// event wraps an event of the API's stream.
func (c *Converter) event(h *event.Header, e Event) *StreamEvent {
	m := c.wrap(h, e)
	c.out = append(c.out, &m)
	return &m
}

func (c *Converter) wrap(h *event.Header, e Event) StreamEvent {
	return StreamEvent{
		UUID: c.uuid(), SessionID: h.SessionID, Event: e,
		ParentToolUseID: h.ParentToolUseID, APIMessageID: h.MessageID, Provider: h.Provider,
	}
}

// uuidChunk is how many bytes of uuids are allocated at once.
const uuidChunk = 1 << 10

// uuid is the next uuid. Many share an allocation: a builder that does not grow
// leaves what it has given out where it is.
func (c *Converter) uuid() string {
	c.n++
	var digits [20]byte
	number := strconv.AppendUint(digits[:0], c.n, 10)
	if c.uuids.Cap()-c.uuids.Len() < len(c.stream)+len(number) {
		c.uuids = strings.Builder{}
		c.uuids.Grow(max(uuidChunk, len(c.stream)+len(number)))
	}
	start := c.uuids.Len()
	c.uuids.WriteString(c.stream)
	c.uuids.Write(number)
	return c.uuids.String()[start:]
}

func (c *Converter) start(h *event.Header, index int64, b ContentBlock) {
	c.event(h, &ContentBlockStartEvent{Index: index, ContentBlock: b})
}

// messageComplete is two events, always: one without the other leaves a client
// waiting.
func (c *Converter) messageComplete(ev *event.MessageComplete) {
	delta := &MessageDeltaEvent{Delta: `{"stop_reason":null}`}
	if ev.Delta != "" {
		if e, err := checked(ev.Delta, decodeEvent); err == nil {
			if d, ok := e.(*MessageDeltaEvent); ok {
				delta = d
				delta.Delta, delta.Usage = clean(d.Delta), clean(d.Usage)
			}
		}
	} else if ev.StopReason != "" || ev.Usage != "" {
		delta.Delta = event.JSON(fmt.Sprintf(`{"stop_reason":%s}`, quote(ev.StopReason)))
		delta.Usage = clean(ev.Usage)
	}
	c.event(&ev.Header, delta)
	stop := c.event(&ev.Header, &MessageStopEvent{Incomplete: ev.Incomplete})
	if ev.AbandonedFrom != nil {
		stop.AbandonedBlocks = &AbandonedBlocks{APIMessageID: ev.MessageID, FromBlockIndex: *ev.AbandonedFrom}
	}
}

// toolProgress is output. It is sent as what it is, or not at all.
func (c *Converter) toolProgress(ev *event.ToolProgress) {
	if !c.outputDelta {
		return
	}
	c.out = append(c.out, &ToolProgress{
		ToolUseID: ev.ToolUseID, ToolName: ev.ToolName, ElapsedTimeSeconds: ev.ElapsedSeconds, TaskID: ev.TaskID,
		Heartbeat: ev.Heartbeat, OutputDelta: ev.Output, ParentToolUseID: ev.ParentToolUseID, SessionID: ev.SessionID, Provider: ev.Provider,
	})
}
