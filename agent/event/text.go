package event

import (
	"encoding/json"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// Text is a growing text: appending costs only the appended bytes. The zero value is empty. A copy
// shares the earlier bytes, and only one of the two may be appended to.
type Text struct {
	b     []byte
	large string // the complete text, if it is large and has not grown; b is then empty
}

// largeText is the length from which a conversation shares a text with its event. Such a text is
// nearly all of its line.
const largeText = 1 << 20

// NewText returns a text that can grow with [Text.Append]. It holds a copy of s, except of a text of
// a megabyte or more.
func NewText(s string) Text {
	if len(s) >= largeText {
		return Text{large: s}
	}
	return Text{b: []byte(s)}
}

// Append adds s at the end of the text. It takes constant time for each byte, amortized over
// many calls.
func (t *Text) Append(s string) {
	if t.large != "" {
		t.b, t.large = append(t.b, t.large...), ""
	}
	t.b = append(t.b, s...)
}

// String returns the current text. Later calls of Append do not change it.
func (t Text) String() string {
	if t.large != "" {
		return t.large
	}
	return string(t.b)
}

// Len returns the length of the text in bytes, without copying it.
func (t Text) Len() int { return len(t.b) + len(t.large) }

// IsZero reports whether the text is empty, for the option omitzero of package json.
func (t Text) IsZero() bool { return t.Len() == 0 }

// MarshalJSON writes the text as a JSON string, so that a Text looks like a string in JSON.
func (t Text) MarshalJSON() ([]byte, error) { return jsonwire.AppendString(nil, t.String()), nil }

// UnmarshalJSON replaces the text by a JSON string. Other values are an error.
func (t *Text) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	*t = NewText(s)
	return nil
}

// valid reports whether the text is valid JSON.
func (t Text) valid() bool { return jsonwire.Valid(t.String()) }
