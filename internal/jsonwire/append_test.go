package jsonwire_test

import (
	"encoding/json"
	"testing"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

func TestAppendString(t *testing.T) {
	tests := map[string]string{
		"":                       `""`,
		"plain":                  `"plain"`,
		"a\"b\\c":                `"a\"b\\c"`,
		"\b\f\n\r\t\x00\x1f\x7f": "\"\\b\\f\\n\\r\\t\\u0000\\u001f\x7f\"",
		"<&>\u2028é😀":            "\"<&>\u2028é😀\"",
		"a\xffb\xc3":             "\"a\uFFFDb\uFFFD\"",
	}
	for in, want := range tests {
		if got := string(jsonwire.AppendString(nil, in)); got != want {
			t.Errorf("AppendString(%q) = %s, want %s", in, got, want)
		}
	}
}

func FuzzAppendString(f *testing.F) {
	f.Add("a\"\\\n\x00\xff\u2028😀")
	f.Fuzz(func(t *testing.T, s string) {
		text := jsonwire.AppendString([]byte("x"), s)[1:]
		std, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var got, want string
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%q gives %s: %v", s, text, err)
		}
		if err := json.Unmarshal(std, &want); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%q comes back as %q, encoding/json has %q", s, got, want)
		}
	})
}
