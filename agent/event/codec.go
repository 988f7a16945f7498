package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// Extra holds the members of a JSON object without a field, by name. It is nil if there are none.
// They are written after the known members, sorted by name.
type Extra map[string]json.RawMessage

// layout describes the JSON object of a struct type.
type layout struct {
	wireType string // the constant member "type"; empty for a type without one or with a computed one
	subtype  string // a constant member after it
	fields   []field
	extra    []int // the field of type Extra
	rest     []int // the provider's message, from which members without a field are copied; nil if the type has none
}

// field is one member of an object.
type field struct {
	index     []int
	name      string
	omitEmpty bool
}

var layouts sync.Map // of *layout by reflect.Type

// layoutOf returns the layout of a struct type: its fields in order, with the members of an
// embedded Header at the positions of its tag "wire".
func layoutOf(t reflect.Type) *layout {
	if l, ok := layouts.Load(t); ok {
		return l.(*layout)
	}
	l := &layout{wireType: wireTypes[reflect.PointerTo(t)]}
	if t == reflect.TypeFor[Status]() {
		l.subtype = "status"
	}
	var head []field
	before := map[string]field{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Type == reflect.TypeFor[Header]():
			head = headFields(f.Tag.Get("wire"), before)
			l.extra = []int{i, headerField("Extra").Index[0]}
		case f.Type == reflect.TypeFor[object]():
			l.extra = []int{i, 0}
		case f.Tag.Get("wire") == "rest":
			l.rest = []int{i}
		case name != "-":
			if h, ok := before[name]; ok {
				l.fields = append(l.fields, h)
			}
			l.fields = append(l.fields, field{[]int{i}, name, options == "omitempty"})
		}
	}
	l.fields = append(l.fields, head...)
	layouts.Store(t, l)
	return l
}

func headerField(name string) reflect.StructField {
	f, _ := reflect.TypeFor[Header]().FieldByName(name)
	return f
}

// headFields returns the members of a Header that follow those of the message. A tag is a list of
// parent, session and uuid; "session<cwd" puts the member before another one. The provider is the
// last member of every message, and "provider?" omits it if it is empty.
func headFields(tag string, before map[string]field) []field {
	var all []field
	provider := field{append([]int{0}, headerField("Provider").Index...), "provider", false}
	for name := range strings.SplitSeq(tag, ",") {
		name, next, placed := strings.Cut(name, "<")
		f := field{omitEmpty: true}
		switch name {
		case "parent":
			f.name, f.index = "parent_tool_use_id", headerField("ParentToolUseID").Index
		case "session":
			f.name, f.index = "session_id", headerField("SessionID").Index
		case "uuid":
			f.name, f.index = "uuid", headerField("UUID").Index
		case "provider?":
			provider.omitEmpty = true
			continue
		}
		f.index = append([]int{0}, f.index...)
		if placed {
			before[next] = f
			continue
		}
		all = append(all, f)
	}
	return append(all, provider)
}

// appendWire appends a struct, which v points to, as a JSON object: its type if it has one,
// its members in the order of the layout, then the members of Extra.
func appendWire(dst []byte, v any) ([]byte, error) {
	rv := reflect.ValueOf(v).Elem()
	l := layoutOf(rv.Type())
	w := writer{dst: append(dst, '{')}
	wireType := l.wireType
	if t, ok := v.(interface{ typeOnWire() string }); ok {
		wireType = t.typeOnWire()
	}
	if wireType != "" {
		w.key("type")
		w.dst = jsonwire.AppendString(w.dst, wireType)
	}
	if l.subtype != "" {
		w.key("subtype")
		w.dst = jsonwire.AppendString(w.dst, l.subtype)
	}
	for _, f := range l.fields {
		fv := rv.FieldByIndex(f.index)
		if f.omitEmpty && isEmpty(fv) {
			continue
		}
		w.key(f.name)
		var err error
		if w.dst, err = appendValue(w.dst, fv); err != nil {
			return nil, fmt.Errorf("event: %s: %w", f.name, err)
		}
	}
	extra := l.extraOf(rv)
	if len(extra) == 0 { // avoids the allocation of sorting
		return append(w.dst, '}'), nil
	}
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		if name == "type" && wireType != "" || l.has(name) {
			continue
		}
		w.key(name)
		var err error
		if w.dst, err = appendCompact(w.dst, extra[name]); err != nil {
			return nil, fmt.Errorf("event: %s: %w", name, err)
		}
	}
	return append(w.dst, '}'), nil
}

// writer appends the keys of an object.
type writer struct {
	dst  []byte
	next bool
}

func (w *writer) key(name string) {
	if w.next {
		w.dst = append(w.dst, ',')
	}
	w.next = true
	w.dst = append(jsonwire.AppendString(w.dst, name), ':')
}

func (l *layout) has(name string) bool {
	return slices.ContainsFunc(l.fields, func(f field) bool { return f.name == name })
}

// extraOf returns the members of a value without a field: decoded ones, and those of the provider's
// message.
func (l *layout) extraOf(rv reflect.Value) Extra {
	var extra Extra
	if l.extra != nil {
		extra = rv.FieldByIndex(l.extra).Interface().(Extra)
	}
	if l.rest == nil {
		return extra
	}
	rest := l.leftover(JSON(rv.FieldByIndex(l.rest).String()))
	delete(rest, "subtype")
	if len(extra) == 0 {
		return rest
	}
	if rest == nil {
		rest = Extra{}
	}
	maps.Copy(rest, extra)
	return rest
}

// leftover returns the members of a JSON object without a field in the layout.
func (l *layout) leftover(data JSON) Extra {
	var members map[string]json.RawMessage
	if data == "" || json.Unmarshal([]byte(data), &members) != nil {
		return nil
	}
	if l.wireType != "" {
		delete(members, "type")
	}
	for _, f := range l.fields {
		delete(members, f.name)
	}
	return members
}

// appendCompact appends a JSON text without white space between its tokens, so that a message is one line.
func appendCompact(dst, text []byte) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	err := json.Compact(b, text)
	return b.Bytes(), err
}

// compact returns a JSON text without white space between its tokens, and null for an invalid one.
func compact(data []byte) JSON {
	var b bytes.Buffer
	if json.Compact(&b, data) != nil {
		return "null"
	}
	return JSON(b.String())
}

// clean returns a JSON text in the form of messages: compact, and absent for null.
func clean(j JSON) JSON {
	if j == "" || j == "null" {
		return ""
	}
	if isCompact(j) { // the usual case; the text may be large
		return j
	}
	return compact([]byte(j))
}

// isCompact reports whether a text is JSON without white space between its tokens.
func isCompact(j JSON) bool {
	for i := 0; i < len(j); i++ {
		switch j[i] {
		case ' ', '\t', '\r', '\n':
			return false
		case '"':
			for i++; i < len(j) && j[i] != '"'; i++ {
				if j[i] == '\\' {
					i++
				}
			}
		}
	}
	return jsonwire.Valid(string(j))
}

var (
	stringType = reflect.TypeFor[string]()
	jsonType   = reflect.TypeFor[JSON]()
)

func isEmpty(v reflect.Value) bool {
	switch {
	case v.Type() == jsonType:
		return v.String() == "" || v.String() == "null"
	case v.Kind() == reflect.Slice: // an empty list is not an absent one
		return v.IsNil()
	}
	return v.IsZero()
}

func appendValue(dst []byte, v reflect.Value) ([]byte, error) {
	switch {
	case v.Type() == stringType: // avoids the copy of a conversion to an interface
		return jsonwire.AppendString(dst, v.String()), nil
	case v.Type() == jsonType:
		if j := clean(JSON(v.String())); j != "" {
			return append(dst, j...), nil
		}
		return append(dst, "null"...), nil
	case v.Kind() == reflect.Slice && v.IsNil():
		return append(dst, "[]"...), nil
	}
	switch x := v.Interface().(type) {
	case wireObject:
		return appendWire(dst, x)
	case []wireBlock:
		return appendBlocks(dst, x)
	case []QueueItem:
		return appendQueue(dst, x), nil
	}
	if v.Kind() == reflect.Struct && v.CanAddr() {
		if x, ok := v.Addr().Interface().(wireObject); ok {
			return appendWire(dst, x)
		}
	}
	if v.Kind() == reflect.Interface && v.IsNil() {
		return append(dst, "null"...), nil
	}
	return jsonwire.AppendJSON(dst, tidied(v).Interface())
}

// tidied returns a list of structs with their JSON texts in the form of messages, and any other
// value unchanged.
func tidied(v reflect.Value) reflect.Value {
	if v.Kind() != reflect.Slice || v.Type().Elem().Kind() != reflect.Struct {
		return v
	}
	all := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
	reflect.Copy(all, v)
	for i := range all.Len() {
		for j := range all.Index(i).NumField() {
			if f := all.Index(i).Field(j); f.Type() == jsonType {
				f.SetString(string(clean(JSON(f.String()))))
			}
		}
	}
	return all
}

func appendBlocks(dst []byte, blocks []wireBlock) ([]byte, error) {
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
		if dst, err = appendWire(dst, b); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), nil
}

var (
	errNoObject = errors.New("event: not a JSON object")
	errNoList   = errors.New("event: not a JSON list")
)

// fill decodes an object of valid JSON into the struct that v points to. Members without a field go
// to its Extra, and the whole text to a field for the provider's message.
func fill(data []byte, v any) error {
	members, err := membersOf(data)
	if err != nil {
		return err
	}
	rv := reflect.ValueOf(v).Elem()
	l := layoutOf(rv.Type())
	_, computed := v.(interface{ typeOnWire() string })
	if l.wireType != "" || computed {
		delete(members, "type")
	}
	if l.subtype != "" {
		delete(members, "subtype")
	}
	for _, f := range l.fields {
		raw, ok := members[f.name]
		delete(members, f.name)
		if !ok || string(raw) == "null" {
			continue
		}
		fv := rv.FieldByIndex(f.index)
		if err := setValue(fv, raw); err != nil {
			return fmt.Errorf("event: %s: %w", f.name, err)
		}
		if !f.omitEmpty && fv.Kind() == reflect.Slice && fv.Len() == 0 {
			fv.SetZero() // a list that is always present is nil when it is empty
		}
	}
	if len(members) == 0 || l.extra == nil {
		return nil
	}
	for name, raw := range members {
		members[name] = bytes.Clone(raw) // a copy does not keep the message in memory
	}
	rv.FieldByIndex(l.extra).Set(reflect.ValueOf(Extra(members)))
	return nil
}

// setValue decodes a member. The unions use decode tables.
func setValue(dst reflect.Value, raw []byte) error {
	var err error
	switch p := dst.Addr().Interface().(type) {
	case *wireEvent:
		*p, err = decodeUnion(raw, wireEvents, func(t string, data JSON) wireEvent { return &wireUnknownEvent{OriginalType: t, Data: data} })
	case *wireDelta:
		*p, err = decodeUnion(raw, wireDeltas, func(t string, data JSON) wireDelta { return &wireUnknownDelta{OriginalType: t, Data: data} })
	case *wireBlock:
		*p, err = decodeBlock(raw)
	case *[]wireBlock:
		*p, err = decodeBlocks(raw)
	case wireObject:
		err = fill(raw, p)
	default:
		err = json.Unmarshal(raw, p)
	}
	return err
}

// decodeUnion decodes an object by its type, and calls unknown for a type that is not in the table.
func decodeUnion[T any](data []byte, table jsonwire.Table[T], unknown func(string, JSON) T) (T, error) {
	var none T
	typ, err := typeOf(data)
	if err != nil {
		return none, err
	}
	create, ok := table[typ]
	if !ok {
		return unknown(typ, compact(data)), nil
	}
	v := create()
	return v, fill(data, v)
}

// typeOf returns the type of an object, or "".
func typeOf(data []byte) (string, error) {
	members, err := membersOf(data)
	if err != nil {
		return "", err
	}
	if members == nil { // null
		return "", errNoObject
	}
	return JSON(members["type"]).Text(), nil
}

// view returns data as a string without a copy, which may be large. It is valid as long as data is not changed.
func view(data []byte) string { return unsafe.String(unsafe.SliceData(data), len(data)) }

// membersOf returns the members of an object of valid JSON, as parts of data. Null has no members.
func membersOf(data []byte) (map[string]json.RawMessage, error) {
	d := jsonwire.NewDecoder(view(data))
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
		members[strings.Clone(m.Key)] = data[from:to:to]
	}
	if err := d.End(); err != nil {
		return nil, fmt.Errorf("event: %w", err)
	}
	return members, nil
}

// valid returns an error if data is not JSON.
func valid(data []byte) error {
	d := jsonwire.NewDecoder(view(data))
	d.Skip()
	if err := d.End(); err != nil {
		return fmt.Errorf("event: %w", err)
	}
	return nil
}

// Members returns the members of an event's message without a field.
func Members(ev Event) Extra {
	rv := reflect.ValueOf(ev).Elem()
	return layoutOf(rv.Type()).extraOf(rv)
}
