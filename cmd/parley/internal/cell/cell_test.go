package cell

import (
	"slices"
	"testing"
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
		{"\x1b[2mabcd\x1b[0m", 3, []string{"\x1b[2mabc\x1b[0m", "\x1b[2md\x1b[0m"}},
		{"abc", 0, []string{"abc"}},
	}
	for _, tt := range tests {
		if got := Rows(tt.line, tt.columns); !slices.Equal(got, tt.want) {
			t.Errorf("Rows(%q, %d) = %q, want %q", tt.line, tt.columns, got, tt.want)
		}
	}
	if got := Plain("\x1b[1mbold\x1b[0m"); got != "bold" {
		t.Errorf("Plain = %q", got)
	}
}

func TestSanitizeDirection(t *testing.T) {
	if got := Sanitize("a\u202eb\u2066c"); got != "abc" {
		t.Errorf("got %q", got)
	}
}
