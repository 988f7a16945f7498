package jsonwire

import (
	"encoding/json"
	"errors"
	"math"
)

// JSON is the text of one JSON value that is decoded on demand. The zero value means that the
// member was absent; null is the text "null". A value that was decoded is a substring of its line
// and keeps that line in memory; a copy by [strings.Clone] does not.
type JSON string

var _ = RegisterText[JSON]()

// errAbsent is the error of decoding a member that was absent.
var errAbsent = errors.New("no JSON value to decode")

// Decode decodes the value into dst, as [json.Unmarshal] does. It returns an error for an absent
// value.
func (j JSON) Decode(dst any) error {
	if j == "" {
		return errAbsent
	}
	return json.Unmarshal([]byte(j), dst)
}

// Value decodes the value into the types that [json.Unmarshal] uses for an any: map[string]any,
// []any, string, float64, bool and nil. It returns nil for a value that is absent or invalid.
func (j JSON) Value() any {
	var v any
	if j == "" || json.Unmarshal([]byte(j), &v) != nil {
		return nil
	}
	return v
}

// IsNull reports whether the value is null or was absent.
func (j JSON) IsNull() bool { return j == "" || j == "null" }

// Bytes returns a copy of the text for use with package json, or nil for an absent value.
func (j JSON) Bytes() json.RawMessage {
	if j == "" {
		return nil
	}
	return json.RawMessage(j)
}

// MarshalJSON returns the text unchanged and unchecked, or null for an absent value.
func (j JSON) MarshalJSON() ([]byte, error) {
	if j == "" {
		return []byte("null"), nil
	}
	return []byte(j), nil
}

// UnmarshalJSON keeps a copy of the text and does not decode it.
func (j *JSON) UnmarshalJSON(text []byte) error {
	*j = JSON(text)
	return nil
}

// Member returns the text of a member of a JSON object, and whether the object has it. Of several
// members with the same name the last counts.
func (j JSON) Member(key string) (JSON, bool) {
	d := NewDecoder(string(j))
	if d.Kind() != '{' {
		return "", false
	}
	found, ok := "", false
	for m := d.Members(); m.Next(); {
		if m.Key == key {
			found, ok = d.Text(), true
			continue
		}
		d.Skip()
	}
	return JSON(found), ok && d.Err() == nil
}

// Elements returns the texts of the elements of a JSON array, or nil for any other value.
func (j JSON) Elements() []JSON {
	d := NewDecoder(string(j))
	if d.Kind() != '[' {
		return nil
	}
	all := []JSON{}
	for e := d.Elements(); e.Next(); {
		all = append(all, JSON(d.Text()))
	}
	return all
}

// Text returns the value of a JSON string, or "" for any other or absent value.
func (j JSON) Text() string {
	s, _ := NewDecoder(string(j)).String()
	return s
}

// Number returns the value of the member key if it is a finite number, otherwise 0.
func (j JSON) Number(key string) float64 {
	member, _ := j.Member(key)
	f, _ := NewDecoder(string(member)).Float()
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return 0
	}
	return f
}
