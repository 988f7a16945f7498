package proc

import (
	"slices"
	"strings"
	"testing"
)

func TestSplitter(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	wide := strings.Repeat("x", maxLine-1) + "é"
	tests := map[string]struct {
		in   string
		want []string
	}{
		"nothing":     {"", nil},
		"lines":       {"a\nb\n", []string{"a", "b"}},
		"partial":     {"a\nb", []string{"a", "b"}},
		"blank":       {"\n \t\n\r\na\n\n", []string{"a"}},
		"trimmed":     {"  a \t\r\n", []string{"  a"}},
		"just fits":   {long + "\nb\n", []string{long, "b"}},
		"too long":    {long + long + "yz\n", []string{long, long, "yz"}},
		"character":   {wide + "\n", []string{wide[:maxLine-1], "é"}},
		"not a rune":  {strings.Repeat("\x80", maxLine+1), []string{strings.Repeat("\x80", maxLine), "\x80"}},
		"only spaces": {strings.Repeat(" ", maxLine+5) + "x", []string{"     x"}},
	}
	for name, test := range tests {
		for _, step := range []int{1, 7, 1 << 20} {
			var got []string
			s := splitter{emit: func(b []byte) { got = append(got, string(b)) }}
			for part := range slices.Chunk([]byte(test.in), step) {
				s.write(part)
			}
			if s.flush(); !slices.Equal(got, test.want) {
				t.Errorf("%s in steps of %d: %.80q, want %.80q", name, step, got, test.want)
			}
		}
	}
}

func TestTail(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", ""},
		{"12345678", "12345678"},
		{"123456789", "23456789"},   // no line start in it
		{"1\n3456789", "3456789"},   // begins inside a line
		{"a\n12345678", "12345678"}, // happens to begin a line
		{"ab\n1234\n678", "1234\n678"},
		{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaa\nb\n", "b\n"},
		{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaabbbbbbb\n", "abbbbbbb\n"[1:]},
	}
	for _, test := range tests {
		for _, step := range []int{1, 3, 100} {
			tl := tail{max: 8}
			for part := range slices.Chunk([]byte(test.in), step) {
				tl.write(part)
			}
			if got := tl.String(); got != test.want {
				t.Errorf("tail of %q in steps of %d: %q, want %q", test.in, step, got, test.want)
			}
		}
	}
}

func TestLineQueue(t *testing.T) {
	q := newLineQueue()
	q.push("first")
	big := strings.Repeat("x", maxQueue) // more than the limit: it alone is kept
	q.push(big)
	q.close()
	q.push("late")
	var got []string
	for line, ok := q.next(); ok; line, ok = q.next() {
		got = append(got, line)
	}
	if want := []string{"[1 lines of stderr dropped: the callback is slow]", big}; !slices.Equal(got, want) {
		t.Errorf("lines %.80q", got)
	}
}
