package cell

import (
	"fmt"
	"strings"
	"testing"
)

// TestReveal: each kind of character that cannot be seen is written as its number; visible text of any script stays.
func TestReveal(t *testing.T) {
	for _, r := range "\u202a\u202e\u2066\u2069\u200e\u200f\u061c\u200b\u200c\u200d\u2060\ufeff\u00ad\u034f\u3164\u2800\u00a0\u2003\u3000\ufe0f\u180e\u2028\u2029\U000e0041\U000e007f\U000e0101\x1b\x07\u009b\x7f\r\ufdd0" {
		got := Reveal("rm" + string(r) + "x")
		if want := fmt.Sprintf("rmU+%04Xx", r); got != want {
			t.Errorf("Reveal of U+%04X is %q, want %q", r, got, want)
		}
	}
	for _, s := range []string{"", "git commit -m 'x'\n\tfoo", "日本語 и привет, مرحبا שלום é e\u0301 😀"} {
		if got := Reveal(s); got != s {
			t.Errorf("Reveal(%q) = %q, want it unchanged", s, got)
		}
	}
	if got := Sanitize(Reveal("a\u202eb")); !strings.Contains(got, "U+202E") {
		t.Errorf("after Sanitize: %q", got)
	}
}
