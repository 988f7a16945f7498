package acp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// errNotObject is the error for a value that is not an object.
var errNotObject = errors.New("is not an object")

// Object has the members that most objects of the protocol have in common.
type Object struct {
	Meta  map[string]json.RawMessage `json:"_meta,omitzero"` // extensions
	Extra map[string]json.RawMessage `json:"-"`              // unknown members, and all those of an unknown variant
}

// UnmarshalJSON decodes an object without other members. Types with more members override it.
func (o *Object) UnmarshalJSON(b []byte) error { return decode(b, o) }

// MarshalJSON encodes an object without other members.
func (o Object) MarshalJSON() ([]byte, error) { return encode(&o) }

// Union is an object whose member type selects the type of its value.
type Union[Value any] struct {
	Type  string                     `json:"-" tag:"type"` // selects the variant
	Value Value                      `json:"-"`            // nil for a variant that is unknown or has no members
	Extra map[string]json.RawMessage `json:"-"`            // unknown members, and all those of an unknown variant
}

// UnmarshalJSON decodes the variant that the type selects.
func (u *Union[Value]) UnmarshalJSON(b []byte) error { return decode(b, u) }

// MarshalJSON encodes the type and the members of the value.
func (u Union[Value]) MarshalJSON() ([]byte, error) { return encode(&u) }

// decode decodes an object into the struct that v points to. It stores the remaining members in the
// field Extra: unknown ones, and optional ones with a wrong type, which count as absent, as the
// schema requires. The tag of a union selects the type of its field Value.
func decode(b []byte, v any) error {
	if b = bytes.TrimSpace(b); len(b) == 0 || b[0] != '{' {
		return errNotObject
	}
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	s := reflect.ValueOf(v).Elem()
	for _, f := range reflect.VisibleFields(s.Type()) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || f.Anonymous {
			continue
		}
		if err := take(all, name, s.FieldByIndex(f.Index), options == ""); err != nil {
			return err
		}
	}
	if of := unions[s.Type()]; of != nil {
		if err := decodeValue(all, s, of); err != nil {
			return err
		}
	}
	if len(all) > 0 {
		s.FieldByName("Extra").Set(reflect.ValueOf(all))
	}
	return nil
}

// take removes a member from all and returns it.
func take(all map[string]json.RawMessage, name string, to reflect.Value, required bool) error {
	text, ok := all[name]
	if !ok {
		if required {
			return &MemberError{Path: name, Err: errors.New("is missing")}
		}
		return nil
	}
	err := json.Unmarshal(text, to.Addr().Interface())
	switch {
	case err != nil && required:
		return inside(name, err)
	case err == nil:
		delete(all, name)
	}
	return nil
}

// tagOf returns the wire name of a union's tag, or "" for other structs. The tag is the first
// field.
func tagOf(t reflect.Type) string { return t.Field(0).Tag.Get("tag") }

// decodeValue decodes the tag of a union. If its variant is known, it moves all other members into
// its value. A tag that is not a string stays in all.
func decodeValue(all map[string]json.RawMessage, s reflect.Value, of map[string]any) error {
	tag := tagOf(s.Type())
	if err := take(all, tag, s.Field(0), false); err != nil {
		return err
	}
	if _, invalid := all[tag]; invalid {
		return nil
	}
	variant, ok := of[s.Field(0).String()]
	if !ok {
		return nil
	}
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	clear(all)
	value := reflect.New(reflect.TypeOf(variant).Elem())
	s.FieldByName("Value").Set(value)
	return json.Unmarshal(text, value.Interface())
}

// MemberError is returned when a member of an object cannot be read, and names it by its path.
type MemberError struct {
	Path string // the names of the members, outermost first, separated by dots
	Err  error
}

func (e *MemberError) Error() string { return fmt.Sprintf("%s: %v", e.Path, e.Err) }

// Unwrap returns the reason why the member cannot be read, such as a type that does not fit.
func (e *MemberError) Unwrap() error { return e.Err }

func inside(name string, err error) error {
	if m, ok := errors.AsType[*MemberError](err); ok {
		return &MemberError{Path: name + "." + m.Path, Err: m.Err}
	}
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		err = fmt.Errorf("is a %s", t.Value)
	}
	return &MemberError{Path: name, Err: err}
}

// encode encodes the struct that v points to as one object: the tag of a union, the struct's
// members, those of its value, and Extra, which never contains a known name.
func encode(v any) ([]byte, error) {
	s := reflect.ValueOf(v).Elem()
	out := []byte{'{'}
	tag := tagOf(s.Type())
	if tag != "" && s.Field(0).String() != "" {
		out = append(jsonwire.AppendString(out, tag), ':')
		out = jsonwire.AppendString(out, s.Field(0).String())
	}
	out, err := jsonwire.AppendMembers(out, v)
	if err != nil {
		return nil, err
	}
	parts := []reflect.Value{s.FieldByName("Extra")}
	if tag != "" {
		parts = []reflect.Value{s.FieldByName("Value"), parts[0]}
	}
	for _, part := range parts {
		if part.IsNil() {
			continue
		}
		text, err := jsonwire.Marshal(part.Interface())
		if err != nil {
			return nil, err
		}
		if len(text) > 2 && text[0] == '{' {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(out, text[1:len(text)-1]...)
		}
	}
	return append(out, '}'), nil
}
