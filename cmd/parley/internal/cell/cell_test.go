package cell

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestWidth(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "日本": 4, "e\u0301": 1, "🎉": 2, "✓ ●": 3, "ﾊ": 1, "한글": 4, "✅": 2} {
		if got := Width(s); got != want {
			t.Errorf("Width(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestRows(t *testing.T) {
	tests := []struct {
		line    string
		columns int
		want    []string
	}{
		{"", 5, []string{""}},
		{"abcdef", 3, []string{"abc", "def"}},
		{"日本語", 5, []string{"日本", "語"}},
		{Look("2") + "abcd" + Plainly, 3, []string{Look("2") + "abc" + Plainly, Look("2") + "d" + Plainly}},
		{"abc", 0, []string{"abc"}},
	}
	for _, tt := range tests {
		if got := Rows(tt.line, tt.columns); !slices.Equal(got, tt.want) {
			t.Errorf("Rows(%q, %d) = %q, want %q", tt.line, tt.columns, got, tt.want)
		}
	}
	if got := Plain(Look("1") + "bold" + Plainly); got != "bold" {
		t.Errorf("Plain = %q", got)
	}
}

func TestSanitizeDirection(t *testing.T) {
	const unseen = "\u061c\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069\ufeff\U000e0001\U000e0041\U000e007f"
	if got := Sanitize("a" + unseen + "b"); got != "ab" {
		t.Errorf("Sanitize left %q; want ab", got)
	}
	if got := Sanitize("a\u202eb\u2066c"); got != "abc" {
		t.Errorf("got %q", got)
	}
}

func TestTerminal(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\n":                             "plain\ttext\n",
		Look("31") + "red" + Plainly:                "\x1b[31mred\x1b[0m",
		Look("1;4") + "x" + Plainly:                 "\x1b[1;4mx\x1b[0m",
		Look("8") + "hidden" + Plainly:              "8hidden\x1b[0m",
		Look("31m\x1b[2J") + "x":                    "31m[2Jx",
		string(lookOpen) + "31":                     "31",
		"a\x1b[31mb\u009b2J\u202ec\x7f\r\xff":       "a[31mb2Jc\uFFFD",
		Sanitize(Look("31")) + "x":                  "31x",
		TerminalJSON("\"\u009b" + Look("31") + "é"): `"\u009b\ufdd031\ufdd1é`,
	} {
		if got := Terminal(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// A text that consists only of marks of looks is scanned once.
func TestTerminal_marks(t *testing.T) {
	marks := strings.Repeat(string(lookOpen), 2<<20)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if got := Terminal(marks + string(lookClose)); got != "" {
			t.Errorf("got %d bytes", len(got))
		}
		if got := Plain(marks + "x"); got != "x" {
			t.Errorf("plain: %d bytes", len(got))
		}
	}()
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		t.Fatal("it takes more than two minutes")
	}
}
