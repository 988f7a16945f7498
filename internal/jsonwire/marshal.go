package jsonwire

import (
	"encoding/json"
	"maps"
)

// Marshal is json.Marshal without the escapes for HTML.
func Marshal(v any) ([]byte, error) {
	return AppendJSON(nil, v)
}

// Prepend returns the object in fields with the members of head inserted first.
func Prepend(head map[string]any, fields []byte) ([]byte, error) {
	out, err := Marshal(head)
	if err != nil || string(fields) == "{}" {
		return out, err
	}
	return append(append(out[:len(out)-1], ','), fields[1:]...), nil
}

// Overlay returns the fields of a struct or map as an object, followed by the other
// members of the object raw. It ignores a raw text that is not an object.
func Overlay(raw string, fields any) ([]byte, error) {
	out, err := Marshal(fields)
	if err != nil || raw == "" {
		return out, err
	}
	var old, set map[string]json.RawMessage
	if err := json.Unmarshal(out, &set); err != nil {
		return nil, err
	}
	if json.Unmarshal([]byte(raw), &old) != nil || old == nil {
		return out, nil
	}
	maps.Copy(old, set)
	return Marshal(old)
}
