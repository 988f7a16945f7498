package item

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// Item is one piece of a conversation. The set of types is closed; an item of a type that
// this package does not know is an *[UnknownItem].
//
//sumtype:decl
type Item interface {
	// Head returns the common fields of items.
	Head() *ItemHead
	// Raw returns a copy of the item's text, nil for an item that was not decoded.
	Raw() json.RawMessage

	item()
}

// ItemHead holds the common fields of items. The two times are on the wire although the schema of
// version 0.144 does not have them; they are nil where the wire has null.
type ItemHead struct {
	ID            string `json:"id"`
	StartedAtMs   *int64 `json:"startedAtMs,omitempty"`
	CompletedAtMs *int64 `json:"completedAtMs,omitempty"`

	text string
}

// Head returns h. It implements [Item] for all types that embed an ItemHead.
func (h *ItemHead) Head() *ItemHead { return h }

// Raw returns a copy of the item's text, nil for an item that was not decoded.
func (h *ItemHead) Raw() json.RawMessage { return JSON(h.text).Bytes() }

func (*ItemHead) item() {}

// UnknownItem is an item of an unknown type. Raw returns all of it.
type UnknownItem struct {
	ItemHead
	Type string `json:"type"`
}

// itemTypes is the decode table of items.
var itemTypes = jsonwire.Table[Item]{
	"userMessage":         func() Item { return new(UserMessage) },
	"hookPrompt":          func() Item { return new(HookPrompt) },
	"agentMessage":        func() Item { return new(AgentMessage) },
	"functionCallOutput":  func() Item { return new(FunctionCallOutput) },
	"plan":                func() Item { return new(Plan) },
	"reasoning":           func() Item { return new(Reasoning) },
	"commandExecution":    func() Item { return new(CommandExecution) },
	"fileChange":          func() Item { return new(FileChange) },
	"mcpToolCall":         func() Item { return new(MCPToolCall) },
	"dynamicToolCall":     func() Item { return new(DynamicToolCall) },
	"collabAgentToolCall": func() Item { return new(CollabAgentToolCall) },
	"subAgentActivity":    func() Item { return new(SubAgentActivity) },
	"webSearch":           func() Item { return new(WebSearch) },
	"imageView":           func() Item { return new(ImageView) },
	"sleep":               func() Item { return new(Sleep) },
	"imageGeneration":     func() Item { return new(ImageGeneration) },
	"enteredReviewMode":   func() Item { return new(EnteredReviewMode) },
	"exitedReviewMode":    func() Item { return new(ExitedReviewMode) },
	"contextCompaction":   func() Item { return new(ContextCompaction) },
}

var itemNames = itemTypes.Names()

// Kind returns the name of an item's type on the wire, such as "commandExecution", including
// unknown types.
func Kind(i Item) string {
	if u, ok := i.(*UnknownItem); ok {
		return u.Type
	}
	return itemNames[reflect.TypeOf(i)]
}

// Kinds returns the names of all item types that this package knows, in no order.
func Kinds() []string { return slices.Collect(maps.Keys(itemTypes)) }

var _ = jsonwire.Register(decodeItem)

// decodeItem decodes the next value, of any type, into an item; null is nil.
func decodeItem(d *jsonwire.Decoder) Item {
	if d.Null() {
		return nil
	}
	i, text := itemTypes.Decode(d, func() Item { return new(UnknownItem) })
	i.Head().text = text
	return i
}

// Decode decodes one item. Only text that is not a JSON object is an error.
func Decode(text []byte) (Item, error) {
	d := jsonwire.NewDecoder(string(text))
	if d.Kind() != '{' {
		return nil, notObject(string(text), d.Err())
	}
	i := decodeItem(d)
	if err := d.End(); err != nil {
		return nil, &DecodeError{Text: clip(string(text)), Err: err}
	}
	return i, nil
}
