package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"unicode/utf8"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// JSON is a JSON text that passes through as it is. The empty string is a value that
// was absent; it is written as null where a member is always there.
type JSON string

// errAbsent is the error of decoding a value that was absent.
var errAbsent = errors.New("ui: there is no value to decode")

// MaxDepth is how deep the JSON of an event nests at most. Deeper values are carried as
// strings; see [NewJSON].
const MaxDepth = 1000

// NewJSON returns a text as JSON that is safe to put into other JSON. A text that is
// not valid JSON, or that nests deeper than [MaxDepth], becomes a JSON string; an empty
// one is absent.
func NewJSON(text string) JSON {
	if text == "" {
		return ""
	}
	if !utf8.ValidString(text) {
		text = string([]rune(text)) // U+FFFD for each bad byte, as decoding gives
	}
	if !Deeper(text, MaxDepth) && jsonwire.Valid(text) {
		return JSON(text)
	}
	return Quote(text)
}

// Deeper reports whether a JSON text nests deeper than a number of levels. It counts brackets
// and does not check the text.
func Deeper(text string, levels int) bool {
	if len(text) <= 2*levels {
		return false // each level needs two brackets
	}
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '[', '{':
			if depth++; depth > levels {
				return true
			}
		case ']', '}':
			depth--
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		}
	}
	return false
}

// Present returns a text as [NewJSON] does, but treats the text null like an absent value.
func Present(text string) JSON {
	if text == "null" {
		return ""
	}
	return NewJSON(text)
}

// Quote returns a string as the text of a JSON string, with <, > and & left as they are.
func Quote(s string) JSON { return JSON(jsonwire.AppendString(nil, s)) }

// Encoded returns v as JSON without escapes for HTML. A value that cannot be encoded
// is absent.
func Encoded(v any) JSON {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return ""
	}
	return JSON(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// Decode decodes the value into what dst points to, as [json.Unmarshal] does. A value
// that was absent is an error.
func (j JSON) Decode(dst any) error {
	if j == "" {
		return errAbsent
	}
	return json.Unmarshal([]byte(j), dst)
}

// Value decodes the value into the usual Go types: map[string]any, []any, string,
// float64, bool, nil. It is nil for a value that was absent.
func (j JSON) Value() any {
	var v any
	if j == "" || json.Unmarshal([]byte(j), &v) != nil {
		return nil
	}
	return v
}

// MarshalJSON writes the text as it is, or null for a value that was absent. The text is not
// checked here.
func (j JSON) MarshalJSON() ([]byte, error) {
	if j == "" {
		return []byte("null"), nil
	}
	return []byte(j), nil
}

// UnmarshalJSON keeps a copy of the text. It does not decode it, which callers do on demand.
func (j *JSON) UnmarshalJSON(text []byte) error {
	*j = JSON(text)
	return nil
}

// Member returns a member of a JSON object as it stands, and whether it is there. Of
// several with the same name the last counts.
func (j JSON) Member(key string) (JSON, bool) {
	d := jsonwire.NewDecoder(string(j))
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

// Elements returns the elements of a JSON array as they stand, nil for anything else.
func (j JSON) Elements() []JSON {
	d := jsonwire.NewDecoder(string(j))
	if d.Kind() != '[' {
		return nil
	}
	all := []JSON{}
	for e := d.Elements(); e.Next(); {
		all = append(all, JSON(d.Text()))
	}
	return all
}

// Text returns the value of a JSON string, or "" for any other value and for one that was
// absent.
func (j JSON) Text() string {
	s, _ := jsonwire.NewDecoder(string(j)).String()
	return s
}

// Number returns the member with this name if it is a number, or 0 if it is anything else or
// absent.
func (j JSON) Number(key string) float64 {
	member, _ := j.Member(key)
	f, _ := jsonwire.NewDecoder(string(member)).Float()
	return finite(f)
}

// finite returns a number that JSON can hold, 0 for any other.
func finite(f float64) float64 {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return 0
	}
	return f
}
