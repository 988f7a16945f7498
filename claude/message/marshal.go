package message

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// A message, block, event or delta writes the text that it was decoded from, or its
// type and its fields when it was built. MarshalJSON must be a method of the type
// itself: one that is promoted from an embedded type sees the embedded fields only.
// So each type has one of one line; TestMarshal compares them with the decode
// tables.

// marshalMessage writes the line of a message, or its type and its fields.
func marshalMessage(m Message) ([]byte, error) {
	if raw := m.Raw(); raw != nil {
		return raw, nil
	}
	typ, subtype, _ := strings.Cut(Kind(m), "/")
	text, err := marshalFields(typ, m)
	if s, ok := m.(interface{ AsSystem() *System }); ok && s.AsSystem().Subtype == "" && subtype != "" {
		text = bytes.Replace(text, []byte(`"subtype":""`), fmt.Appendf(nil, `"subtype":%q`, subtype), 1)
	}
	return text, err
}

// marshalPart writes the text of a block, an event or a delta, or its type and its
// fields.
func marshalPart(text string, part any) ([]byte, error) {
	if text != "" {
		return []byte(text), nil
	}
	return marshalFields(partKinds[reflect.TypeOf(part)], part)
}

// marshalFields writes the type, unless v has a field for it, and then the fields of the struct
// that v points to.
func marshalFields(typ string, v any) ([]byte, error) { return appendFields(nil, typ, v) }

func appendFields(out []byte, typ string, v any) ([]byte, error) {
	out = append(out, '{')
	if _, own := reflect.TypeOf(v).Elem().FieldByName("Type"); !own {
		out = jsonwire.AppendString(append(out, `"type":`...), typ)
	}
	out, err := jsonwire.AppendMembers(out, v)
	if err != nil {
		return nil, err
	}
	return append(out, '}'), nil
}

// partKinds maps the Go types of blocks, events and deltas to their wire names.
var partKinds = func() map[reflect.Type]string {
	kinds := blockTypes.Names()
	maps.Copy(kinds, eventTypes.Names())
	maps.Copy(kinds, deltaTypes.Names())
	return kinds
}()

var errNoBlock = errors.New("claude: an UnknownBlock without its JSON")

// MarshalJSON writes the block byte for byte as it was read, or the member JSON if the block was
// built by the program. It fails if both are empty.
func (b *UnknownBlock) MarshalJSON() ([]byte, error) {
	if b.text == "" && b.JSON == "" {
		return nil, errNoBlock
	}
	return []byte(cmp.Or(b.text, string(b.JSON))), nil
}

// MarshalJSON writes the event byte for byte as it was read, including the members that this
// package does not know.
func (e *UnknownEvent) MarshalJSON() ([]byte, error) { return JSON(e.text).MarshalJSON() }

// MarshalJSON writes the delta byte for byte as it was read, including the members that this
// package does not know.
func (d *UnknownDelta) MarshalJSON() ([]byte, error) { return JSON(d.text).MarshalJSON() }
