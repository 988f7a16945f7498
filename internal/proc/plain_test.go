package proc

import "testing"

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"":     "",
		"text": "text",
		"\x1b[31merror\x1b[0m: \x1b[1;38;5;9mno\x1b[m\n":    "error: no\n",
		"\x1b[2K\x1b[1Gline":                                "line",
		"\x1b]8;;https://example.com\x1b\\link\x1b]8;;\x07": "link",
		"\x1b[?25lhidden\x1b[?25h \x1bM":                    "hidden ",
	} {
		if got := plain(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
