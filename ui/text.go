package ui

import (
	"encoding/json"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// Text is a text that grows: adding to it costs what is added. The zero value is
// empty. A copy shares what was there before, and only one of the two may grow.
type Text struct{ b []byte }

// NewText is a text.
func NewText(s string) Text { return Text{b: []byte(s)} }

// Append adds to the text.
func (t *Text) Append(s string) { t.b = append(t.b, s...) }

// String returns a copy of the text.
func (t Text) String() string { return string(t.b) }

// Len is its length in bytes.
func (t Text) Len() int { return len(t.b) }

// IsZero reports whether the text is empty.
func (t Text) IsZero() bool { return len(t.b) == 0 }

// MarshalJSON writes the text as a JSON string.
func (t Text) MarshalJSON() ([]byte, error) { return jsonwire.AppendString(nil, string(t.b)), nil }

// UnmarshalJSON reads a JSON string.
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
