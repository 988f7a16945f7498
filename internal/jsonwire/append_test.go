package jsonwire_test

import (
	"encoding/json"
	"strings"
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

// TestQuoted checks that the pieces of a string add up to the result of AppendString, wherever it is cut, and that they
// are short.
func TestQuoted(t *testing.T) {
	for _, unit := range []string{"a", "é", "漢", "😀", "\"\n\\", "\xff", "\x80\x80\x80\x80\x80", "a\xc3", "\u2028"} {
		for _, head := range []string{"", "x", "xy", "xyz"} {
			s := head + strings.Repeat(unit, 70_000/len(unit))
			var got []byte
			for part := range jsonwire.Quoted(s) {
				if len(part) > 200_000 {
					t.Errorf("a part of %q… has %d bytes", s[:8], len(part))
				}
				got = append(got, part...)
			}
			if want := jsonwire.Quote(s); `"`+string(got)+`"` != want {
				t.Errorf("the parts of %q… have %d bytes, want those %d of Quote", s[:8], len(got)+2, len(want))
			}
		}
	}
	for range jsonwire.Quoted("") {
		t.Error("an empty string has a part")
	}
	n := 0
	for range jsonwire.Quoted(strings.Repeat("a", 1<<20)) {
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("%d parts came before the break, want 2", n)
	}
}
