package event

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"unicode/utf16"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// Canonical returns the canonical form of a JSON text (RFC 8785), which is equal for all texts of
// the same value: members sorted by UTF-16 units, numbers as JavaScript prints them, no unnecessary
// escapes. Numbers are doubles; a number that is too large becomes null, as in JavaScript.
func Canonical(data []byte) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	return appendCanonical(make([]byte, 0, len(data)), v), nil
}

func appendCanonical(dst []byte, v any) []byte {
	switch v := v.(type) {
	case string:
		return jsonwire.AppendString(dst, v)
	case json.Number:
		return appendNumber(dst, v)
	case bool:
		return strconv.AppendBool(dst, v)
	case []any:
		dst = append(dst, '[')
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendCanonical(dst, e)
		}
		return append(dst, ']')
	case map[string]any:
		return appendObject(dst, v)
	}
	return append(dst, "null"...)
}

func appendObject(dst []byte, v map[string]any) []byte {
	keys := make([]string, 0, len(v))
	for k := range v {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int {
		return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
	})
	dst = append(dst, '{')
	for i, k := range keys {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(jsonwire.AppendString(dst, k), ':')
		dst = appendCanonical(dst, v[k])
	}
	return append(dst, '}')
}

func appendNumber(dst []byte, n json.Number) []byte {
	f, err := strconv.ParseFloat(string(n), 64)
	switch {
	case err != nil && math.IsInf(f, 0):
		return append(dst, "null"...)
	case f == 0:
		return append(dst, '0') // also for -0
	}
	text, err := json.Marshal(f) // the format of JavaScript
	if err != nil {
		return append(dst, "null"...)
	}
	return append(dst, text...)
}
