package event

import (
	"math"
	"unicode/utf8"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// JSON is the text of one JSON value that is decoded on demand. The zero value means that the
// member was absent; it is encoded as null where a member is required.
type JSON = jsonwire.JSON

// MaxDepth is the nesting limit of the JSON of an event. Deeper values are carried as strings; see
// [NewJSON].
const MaxDepth = 1000

// NewJSON returns a text as JSON that is safe to embed in other JSON. A text that is not valid
// JSON, or exceeds [MaxDepth], becomes a JSON string; an empty text is absent.
func NewJSON(text string) JSON {
	if text == "" {
		return ""
	}
	if !utf8.ValidString(text) {
		text = string([]rune(text)) // U+FFFD for each invalid byte, as in decoding
	}
	if !Deeper(text, MaxDepth) && jsonwire.Valid(text) {
		return JSON(text)
	}
	return Quote(text)
}

// Deeper reports whether a JSON text is nested deeper than a number of levels. It counts brackets
// and does not validate the text.
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

// Quote returns a string as a JSON string, without escaping <, > and &.
func Quote(s string) JSON { return JSON(jsonwire.Quote(s)) }

// Encoded returns v as JSON without escapes for HTML. A value that cannot be encoded is absent.
func Encoded(v any) JSON {
	text, err := jsonwire.Marshal(v)
	if err != nil {
		return ""
	}
	return JSON(text)
}

// finite returns a number that JSON can represent, and 0 for any other.
func finite(f float64) float64 {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return 0
	}
	return f
}
