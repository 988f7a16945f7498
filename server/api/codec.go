package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// typed is what has a type on the wire.
type typed interface{ Type() string }

// field is one member of an object.
type field struct {
	index     int
	name      string
	omitEmpty bool
}

var fieldCache sync.Map // of []field by reflect.Type

// fieldsOf are the members of a struct type, in order.
func fieldsOf(t reflect.Type) []field {
	if f, ok := fieldCache.Load(t); ok {
		return f.([]field)
	}
	var all []field
	for i := range t.NumField() {
		name, options, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name != "-" {
			all = append(all, field{i, name, options == "omitempty"})
		}
	}
	fieldCache.Store(t, all)
	return all
}

// marshal writes an object: its type if it has one, its members in the order of the
// struct, then what is extra.
func marshal(v any, extra Extra) ([]byte, error) { return appendObject(nil, v, extra) }

func appendObject(dst []byte, v any, extra Extra) ([]byte, error) {
	rv := reflect.ValueOf(v).Elem()
	fields := fieldsOf(rv.Type())
	dst = append(dst, '{')
	empty := true
	key := func(name string) {
		if !empty {
			dst = append(dst, ',')
		}
		empty = false
		dst = append(jsonwire.AppendString(dst, name), ':')
	}
	t, isTyped := v.(typed)
	if isTyped {
		key("type")
		dst = jsonwire.AppendString(dst, t.Type())
	}
	for _, f := range fields {
		fv := rv.Field(f.index)
		if f.omitEmpty && isEmpty(fv) {
			continue
		}
		key(f.name)
		var err error
		if dst, err = appendValue(dst, fv); err != nil {
			return nil, fmt.Errorf("rpc: %s: %w", f.name, err)
		}
	}
	for _, name := range extra.names() {
		// What the object says itself counts.
		if isTyped && name == "type" || slices.ContainsFunc(fields, func(f field) bool { return f.name == name }) {
			continue
		}
		key(name)
		var err error
		if dst, err = appendCompact(dst, extra[name]); err != nil {
			return nil, fmt.Errorf("rpc: %s: %w", name, err)
		}
	}
	return append(dst, '}'), nil
}

// names returns the names of the members in their order.
func (e Extra) names() []string {
	if len(e) == 0 {
		return nil // most objects have none: nothing is allocated for them
	}
	return slices.Sorted(maps.Keys(e))
}

// appendCompact appends a JSON text without space between its tokens, so that a
// message stays in one line.
func appendCompact(dst, text []byte) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	err := json.Compact(b, text)
	return b.Bytes(), err
}

func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice: // an empty list is not an absent one
		return v.IsNil()
	case reflect.Map:
		return v.Len() == 0
	}
	return v.IsZero()
}

func appendBlocks(dst []byte, blocks []ContentBlock) ([]byte, error) {
	dst = append(dst, '[')
	for i, b := range blocks {
		if i > 0 {
			dst = append(dst, ',')
		}
		if b == nil {
			dst = append(dst, "null"...)
			continue
		}
		var err error
		if dst, err = appendMarshaled(dst, b); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), nil
}

func appendMarshaled(dst []byte, m json.Marshaler) ([]byte, error) {
	text, err := m.MarshalJSON()
	return append(dst, text...), err
}

var stringType = reflect.TypeFor[string]()

func appendValue(dst []byte, v reflect.Value) ([]byte, error) {
	if v.Type() == stringType { // without the copy that an interface holds
		return jsonwire.AppendString(dst, v.String()), nil
	}
	switch x := v.Interface().(type) {
	case Content:
		return appendObject(dst, &x, x.Extra)
	case StreamMessage:
		return appendObject(dst, &x, x.Extra)
	case []ContentBlock:
		if x != nil {
			return appendBlocks(dst, x)
		}
	case ContentBlock: // what this package marshals has no space to be taken out
		return appendMarshaled(dst, x)
	case Event:
		return appendMarshaled(dst, x)
	case Delta:
		return appendMarshaled(dst, x)
	}
	if v.Kind() == reflect.Slice && v.IsNil() {
		return append(dst, "[]"...), nil
	}
	if v.Kind() == reflect.Interface && v.IsNil() {
		return append(dst, "null"...), nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v.Interface()); err != nil {
		return nil, err
	}
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...), nil
}

// unmarshal reads an object into a struct and returns the members that it has no
// field for.
func unmarshal(data []byte, v any) (Extra, error) {
	members, err := membersOf(data)
	if err != nil {
		return nil, err
	}
	if _, ok := v.(typed); ok {
		delete(members, "type")
	}
	rv := reflect.ValueOf(v).Elem()
	for _, f := range fieldsOf(rv.Type()) {
		raw, ok := members[f.name]
		delete(members, f.name)
		if !ok || string(raw) == "null" {
			continue
		}
		fv := rv.Field(f.index)
		if err := setValue(fv, raw); err != nil {
			return nil, fmt.Errorf("rpc: %s: %w", f.name, err)
		}
		if !f.omitEmpty && fv.Kind() == reflect.Slice && fv.Len() == 0 {
			fv.SetZero() // a list that is always there is nil when it is empty
		}
	}
	if len(members) == 0 {
		return nil, nil
	}
	for name, raw := range members {
		members[name] = bytes.Clone(raw) // what is kept does not keep the message
	}
	return members, nil
}

// membersOf finds the members of an object that was checked to be JSON. They are parts of
// data; null has none.
func membersOf(data []byte) (map[string]json.RawMessage, error) {
	d := jsonwire.NewDecoder(string(data))
	switch d.Kind() {
	case '{':
	case 'n':
		return nil, nil
	default:
		return nil, errNoObject
	}
	members := map[string]json.RawMessage{}
	for m := d.Members(); m.Next(); {
		from := d.Offset()
		to := from + len(d.Text())
		members[m.Key] = data[from:to:to]
	}
	if err := d.End(); err != nil {
		return nil, fmt.Errorf("rpc: %w", err)
	}
	return members, nil
}

// checked decodes a text that need not be JSON.
func checked[T any](text event.JSON, decode func([]byte) (T, error)) (T, error) {
	data := []byte(text)
	if err := valid(data); err != nil {
		var none T
		return none, err
	}
	return decode(data)
}

// valid returns an error if data is not JSON.
func valid(data []byte) error {
	d := jsonwire.NewDecoder(string(data))
	d.Skip()
	if err := d.End(); err != nil {
		return fmt.Errorf("rpc: %w", err)
	}
	return nil
}

// setValue decodes a member. The unions have tables of their own.
func setValue(dst reflect.Value, raw []byte) error {
	var err error
	switch p := dst.Addr().Interface().(type) {
	case *Event:
		*p, err = decodeEvent(raw)
	case *Delta:
		*p, err = decodeDelta(raw)
	case *ContentBlock:
		*p, err = decodeBlock(raw)
	case *[]ContentBlock:
		*p, err = decodeBlocks(raw)
	case *Content:
		p.Extra, err = unmarshal(raw, p)
	case *StreamMessage:
		p.Extra, err = unmarshal(raw, p)
	default:
		err = json.Unmarshal(raw, p)
	}
	return err
}
