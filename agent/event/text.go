package event

import (
	"encoding/json"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// Text is a text that grows: adding to it costs what is added. The zero value is
// empty. A copy shares what was there before, and only one of the two may grow.
type Text struct{ b []byte }

// NewText returns a text that holds a copy of s and that can grow with [Text.Append].
func NewText(s string) Text { return Text{b: []byte(s)} }

// Append adds s at the end of the text. It takes constant time for each byte, amortized over
// many calls.
func (t *Text) Append(s string) { t.b = append(t.b, s...) }

// String returns a copy of the text as it is now. Later calls of Append do not change it.
func (t Text) String() string { return string(t.b) }

// Len returns the length of the text in bytes, not in characters, without making a copy of it.
func (t Text) Len() int { return len(t.b) }

// IsZero reports whether the text is empty. It makes the option omitzero of package json leave
// it out.
func (t Text) IsZero() bool { return len(t.b) == 0 }

// MarshalJSON writes the text as a JSON string, so that a Text looks like a string in JSON.
func (t Text) MarshalJSON() ([]byte, error) { return jsonwire.AppendString(nil, string(t.b)), nil }

// UnmarshalJSON reads a JSON string into the text and drops what it held. Other values are an
// error.
func (t *Text) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	*t = NewText(s)
	return nil
}

// valid reports whether the text is JSON.
func (t Text) valid() bool { return jsonwire.Valid(string(t.b)) }
