package acp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// member is a member of an object and where its value goes.
type member struct {
	name     string
	to       any
	required bool
}

// errNotObject is why a value cannot be read.
var errNotObject = errors.New("is not an object")

// decode reads the members of an object. One that is optional and of a wrong type counts
// as absent, as the schema asks for, and is kept with those that are not known.
func decode(b []byte, extra *map[string]json.RawMessage, members ...member) error {
	all, err := object(b)
	if err != nil {
		return err
	}
	if err := take(all, members); err != nil {
		return err
	}
	*extra = rest(all)
	return nil
}

func object(b []byte) (map[string]json.RawMessage, error) {
	if b = bytes.TrimSpace(b); len(b) == 0 || b[0] != '{' {
		return nil, errNotObject
	}
	all := map[string]json.RawMessage{}
	return all, json.Unmarshal(b, &all)
}

// take moves members out of all.
func take(all map[string]json.RawMessage, members []member) error {
	for _, m := range members {
		text, ok := all[m.name]
		if !ok {
			if m.required {
				return &MemberError{Path: m.name, Err: errors.New("is missing")}
			}
			continue
		}
		err := json.Unmarshal(text, m.to)
		switch {
		case err != nil && m.required:
			return inside(m.name, err)
		case err == nil:
			delete(all, m.name)
		}
	}
	return nil
}

func rest(all map[string]json.RawMessage) map[string]json.RawMessage {
	if len(all) == 0 {
		return nil
	}
	return all
}

// MemberError is returned when a member of an object cannot be read, and names it by its path.
type MemberError struct {
	Path string // the names from the outside in, with dots
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

// decodeUnion reads an object whose variant the member tag names. It returns the value of
// the variant, nil if the variant is not known.
func decodeUnion(b []byte, tag string, kind *string, make func(string) any, extra *map[string]json.RawMessage, members ...member) (any, error) {
	all, err := object(b)
	if err != nil {
		return nil, err
	}
	if err := take(all, append(members, member{tag, kind, false})); err != nil {
		return nil, err
	}
	if _, wrong := all[tag]; wrong { // a tag that is not a text: keep it as it is
		*extra = all
		return nil, nil
	}
	value := make(*kind)
	if value == nil {
		*extra = rest(all)
		return nil, nil
	}
	text, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	return value, json.Unmarshal(text, value)
}

// encode writes an object: a tag, the members of a struct and those that are not known.
func encode(plain any, value any, extra map[string]json.RawMessage) ([]byte, error) {
	return join(nil, plain, value, extra)
}

func encodeUnion(tag, kind string, plain, value any, extra map[string]json.RawMessage) ([]byte, error) {
	var first any
	if kind != "" {
		first = map[string]string{tag: kind}
	}
	return join(first, plain, value, extra)
}

// join writes several objects as one. The first that has a member wins by being the only
// one: extra members never have the name of a known one.
func join(parts ...any) ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for _, p := range parts {
		if p == nil {
			continue
		}
		text, err := jsonwire.Marshal(p)
		if err != nil {
			return nil, err
		}
		if len(text) <= 2 || text[0] != '{' {
			continue
		}
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		out.Write(text[1 : len(text)-1])
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}
