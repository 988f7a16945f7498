package jsonwire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"unicode/utf8"
)

// member is a field of a struct that is part of its JSON.
type member struct {
	index               []int
	key                 []byte // quoted, with the colon
	omitEmpty, omitZero bool
}

var memberLists sync.Map // reflect.Type → []member

// AppendMembers appends the members of the struct that v points to, each after a comma
// unless dst ends with a brace. They equal the output of encoding/json for a type with
// the same fields and without methods, except for HTML escapes, so a MarshalJSON can use
// it for its receiver. It supports only the options omitempty and omitzero, and ignores
// embedded pointers.
func AppendMembers(dst []byte, v any) ([]byte, error) {
	s := reflect.ValueOf(v).Elem()
	for _, m := range membersOf(s.Type()) {
		f := s.FieldByIndex(m.index)
		if m.omitEmpty && isEmpty(f) || m.omitZero && isZero(f) {
			continue
		}
		if len(dst) > 0 && dst[len(dst)-1] != '{' {
			dst = append(dst, ',')
		}
		dst = append(dst, m.key...)
		if f.Kind() == reflect.String && isPlain(f.String()) && f.Type() == reflect.TypeFor[string]() {
			dst = AppendString(dst, f.String()) // it may be large
			continue
		}
		var err error
		if dst, err = AppendJSON(dst, f.Addr().Interface()); err != nil {
			return nil, fmt.Errorf("%s%w", m.key, err)
		}
	}
	return dst, nil
}

// isPlain reports whether AppendString writes a string as encoding/json does.
func isPlain(s string) bool {
	return utf8.ValidString(s) && !strings.Contains(s, "\u2028") && !strings.Contains(s, "\u2029")
}

// AppendJSON appends v as json.Marshal writes it, without the escapes for HTML.
func AppendJSON(dst []byte, v any) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func membersOf(t reflect.Type) []member {
	if list, ok := memberLists.Load(t); ok {
		return list.([]member)
	}
	depth := map[string]int{} // depth of the field with a name
	fields := reflect.VisibleFields(t)
	for _, f := range fields {
		if name, _ := memberName(t, f); name != "" {
			if d, known := depth[name]; !known || len(f.Index) < d {
				depth[name] = len(f.Index)
			}
		}
	}
	var list []member
	for _, f := range fields {
		name, options := memberName(t, f)
		if name == "" || depth[name] != len(f.Index) {
			continue
		}
		list = append(list, member{index: f.Index, key: append(AppendString(nil, name), ':'),
			omitEmpty: strings.Contains(options, "omitempty"), omitZero: strings.Contains(options, "omitzero")})
	}
	memberLists.Store(t, list)
	return list
}

// memberName returns the name of a field in the JSON of a struct, or "" for a field that
// is unexported, ignored, or embedded without a name.
func memberName(t reflect.Type, f reflect.StructField) (name, options string) {
	tag := f.Tag.Get("json")
	name, options, _ = strings.Cut(tag, ",")
	if !f.IsExported() || tag == "-" || f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct {
		return "", ""
	}
	for n := 1; n < len(f.Index); n++ {
		parent := t.FieldByIndex(f.Index[:n])
		if tag := parent.Tag.Get("json"); tag != "" || parent.Type.Kind() != reflect.Struct {
			return "", "" // a regular member, or ignored with its fields
		}
	}
	name = cmp.Or(name, f.Name)
	return name, options
}

// isEmpty reports whether omitempty omits a value.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

// isZero reports whether omitzero omits a value.
func isZero(v reflect.Value) bool {
	if z, ok := v.Addr().Interface().(interface{ IsZero() bool }); ok {
		return z.IsZero()
	}
	return v.IsZero()
}
