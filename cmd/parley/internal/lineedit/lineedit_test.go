package lineedit

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/cell"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

func TestKeys(t *testing.T) {
	tests := []struct {
		in   string
		want []Key
	}{
		{"aé日", []Key{{Rune: 'a'}, {Rune: 'é'}, {Rune: '日'}}},
		{"\r\n\t\x7f\x08", []Key{{Code: Enter}, {Code: Enter}, {Code: Tab}, {Code: Backspace}, {Code: Backspace}}},
		{"\x03\x04\x0c\x01\x05", []Key{{Code: Interrupt}, {Code: CtrlD}, {Code: Redraw}, {Code: Home}, {Code: End}}},
		{"\x1b[A\x1b[B\x1bOC\x1b[D", []Key{{Code: Up}, {Code: Down}, {Code: Right}, {Code: Left}}},
		{"\x1b[1;5C\x1bb\x1b[3~\x1b[H\x1b[4~", []Key{{Code: WordRight}, {Code: WordLeft}, {Code: Delete}, {Code: Home}, {Code: End}}},
		{"\x1b\r", []Key{{Code: NewLine}}},
		{"\x1b[200~two\nlines\x1b[A\x1b[201~x", []Key{{Code: Paste, Text: "two\nlines\x1b[A"}, {Rune: 'x'}}},
		{"\x1b[99~\x1b[?1;2c\x00", []Key{{Code: Ignored}, {Code: Ignored}, {Code: Ignored}}},
	}
	for _, tt := range tests {
		for _, n := range []int{1, 2, 3, 100} { // for any split of the bytes
			var k Keys
			var got []Key
			for piece := range slices.Chunk([]byte(tt.in), n) {
				got = append(got, k.Feed(piece)...)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%q in pieces of %d:\n%s", tt.in, n, diff)
			}
		}
	}
}

// typing sends terminal input to an editor and returns the last event.
func typing(e *Editor, in string) (last Event) {
	var k Keys
	for _, key := range k.Feed([]byte(in)) {
		last = e.Handle(key)
	}
	return last
}

func TestEditor(t *testing.T) {
	tests := []struct{ in, want string }{
		{"hello", "hello"},
		{"helo\x1b[Dl", "hello"},
		{"hello world\x17there", "hello there"},
		{"one two\x01\x0b\x19\x19", "one twoone two"},
		{"abc\x1b[D\x1b[D\x04", "ac"},
		{"日本語\x7f", "日本"},
		{"e\u0301\x7f", ""},
		{"abc\x15", ""},
		{"one two\x1bb\x1bbx\x05y", "xone twoy"},
		{"first\\\rsecond", "first\nsecond"},
		{"a\x1b\rb\x1b[Ac", "ac\nb"},
		{"\x1b[200~a\r\nb\x1b[31m\x1b[201~", "a\nb[31m"},
	}
	for _, tt := range tests {
		e := &Editor{History: &History{}}
		typing(e, tt.in)
		if got := e.String(); got != tt.want {
			t.Errorf("%q gives %q, want %q", tt.in, got, tt.want)
		}
	}
	e := &Editor{History: &History{}}
	for in, want := range map[string]Event{"\x03": Cancelled, "\x04": Ended, "\r": Submitted, "\x0c": Refresh} {
		if got := typing(e, in); got != want {
			t.Errorf("%q is the event %d, want %d", in, got, want)
		}
	}
}

func TestEditorCompletes(t *testing.T) {
	words := []string{"/mode", "/model", "/quit"}
	e := &Editor{History: &History{}, Complete: func(text string) []string {
		return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !strings.HasPrefix(w, text) })
	}}
	if typing(e, "/m\t") != Listed || e.String() != "/mode" || len(e.Candidates()) != 2 {
		t.Errorf("%q, %q; want typing(e, \"/m\\t\") == Listed and e.String() == \"/mode\" and len(e.Candidates()) == 2", e.String(), e.Candidates())
	}
	e.Set("")
	if typing(e, "/q\t"); e.String() != "/quit " {
		t.Errorf("%q; want e.String() == \"/quit \"", e.String())
	}
	if typing(e, "x\t"); e.String() != "/quit x" {
		t.Errorf("%q; want e.String() == \"/quit x\"", e.String())
	}
}

func TestHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "history")
	e := &Editor{}
	open := func() {
		h, err := OpenHistory(path)
		if err != nil {
			t.Fatal(err)
		}
		e.History = h
	}
	open()
	for _, line := range []string{"one", "two\nlines", "two\nlines", " secret", "", strings.Repeat("x", maxEntry+1)} {
		if err := e.History.Add(line); err != nil {
			t.Fatal(err)
		}
	}
	open()
	e.Set("draft")
	steps := []struct{ in, want string }{
		{"\x1b[A", "two\nlines"}, {"\x1b[A\x1b[A", "one"}, {"\x1b[A", "one"}, {"\x1b[B", "two\nlines"}, {"\x1b[B", "draft"}, {"\x1b[B", "draft"},
	}
	for _, step := range steps {
		if typing(e, step.in); e.String() != step.want {
			t.Errorf("%q shows %q, want %q", step.in, e.String(), step.want)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v; want err == nil and info.Mode().Perm() == 0o600", info.Mode(), err)
	}
	for i := range 2*maxEntries + 10 {
		if err := e.History.Add(fmt.Sprint("line ", i)); err != nil {
			t.Fatal(err)
		}
	}
	open() // cuts the file
	data, err := os.ReadFile(path)
	if n := strings.Count(string(data), "\n"); err != nil || n != maxEntries || len(e.History.entries) != maxEntries {
		t.Errorf("%d lines, %v", n, err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".history-*")); len(left) > 0 {
		t.Errorf("left is %v; want len(left) <= 0", left)
	}
}

// terminal simulates a terminal, as far as Screen needs it.
type terminal struct {
	columns, rows int
	cells         [][]rune // scrolled away and visible
	row, column   int      // of the cursor; row counts from the first row ever written
	wrapped       bool     // the last column is full
}

func newTerminal(columns, rows int) *terminal {
	return &terminal{columns: columns, rows: rows, cells: [][]rune{nil}}
}

func (v *terminal) Write(p []byte) (int, error) {
	s := string(p)
	for len(s) > 0 {
		if n := sequence(s); n > 0 {
			v.control(s[2:n-1], s[n-1])
			s = s[n:]
			continue
		}
		r := []rune(s)[0]
		s = s[len(string(r)):]
		switch r {
		case '\r':
			v.column, v.wrapped = 0, false
		case '\n':
			v.down()
		default:
			v.put(r)
		}
	}
	return len(p), nil
}

// sequence returns the length of the escape sequence that s begins with.
func sequence(s string) int {
	if !strings.HasPrefix(s, "\x1b[") {
		return 0
	}
	return 3 + strings.IndexFunc(s[2:], func(r rune) bool { return r >= 0x40 && r <= 0x7e })
}

func (v *terminal) down() {
	v.row++
	v.wrapped = false
	for v.row >= len(v.cells) {
		v.cells = append(v.cells, nil)
	}
}

func (v *terminal) put(r rune) {
	w := cell.RuneWidth(r)
	if v.wrapped || v.column+w > v.columns {
		v.column = 0
		v.down()
	}
	line := v.cells[v.row]
	for len(line) < v.column+w {
		line = append(line, ' ')
	}
	line[v.column] = r
	if w == 2 {
		line[v.column+1] = 0
	}
	v.cells[v.row] = line
	if v.column += w; v.column == v.columns {
		v.column, v.wrapped = v.columns-1, true
	}
}

func (v *terminal) control(parameters string, final byte) {
	n := 1
	fmt.Sscan(parameters, &n)
	switch final {
	case 'A':
		v.row = max(v.row-n, len(v.cells)-v.rows, 0)
	case 'C':
		v.column = min(v.column+n, v.columns-1)
	case 'J':
		v.cells = v.cells[:v.row+1]
		v.cells[v.row] = v.cells[v.row][:min(v.column, len(v.cells[v.row]))]
	}
}

func (v *terminal) lines() []string {
	var lines []string
	for _, line := range v.cells {
		text := strings.ReplaceAll(string(line), "\x00", "")
		lines = append(lines, strings.TrimRight(text, " "))
	}
	return lines
}

// Written text always stays above the drawn rows, complete and once.
func TestScreen(t *testing.T) {
	for seed := range uint64(short.Count(40, 200, 1000)) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		columns, rows := 8+rnd.IntN(40), 5+rnd.IntN(20)
		v := newTerminal(columns, rows)
		s := NewScreen(v, columns, rows)
		e := &Editor{History: &History{}}
		var written strings.Builder
		for range 60 {
			switch text := []string{"a", "word ", "日本語", "some longer text, ", "\n", "x\ny"}[rnd.IntN(6)]; rnd.IntN(5) {
			case 0, 1:
				written.WriteString(text)
				_, _ = s.Write([]byte(text))
			case 2:
				s.Tail(strings.Repeat(text, rnd.IntN(30)))
			case 3:
				s.Status([]string{"", cell.Look("2") + "working" + cell.Plainly}[rnd.IntN(2)])
			case 4:
				e.Insert(text)
				if rnd.IntN(6) == 0 {
					e.Take()
				}
				input, row, column := e.Rows("> ", "… ", columns-1)
				s.Input(input, row, column)
			}
		}
		e.Set("日本x")
		e.Handle(Key{Code: Left})
		s.Input(e.Rows("> ", "… ", columns-1))
		if line := v.cells[v.row]; v.column != 6 || string(line[:7]) != "> 日\x00本\x00x" {
			t.Fatalf("seed %d: the cursor is at %d in %q", seed, v.column, string(line))
		}
		s.Stop()
		if got, want := v.lines(), wrapped(written.String(), columns); !slices.Equal(got, want) {
			t.Fatalf("seed %d (%dx%d):\n%s", seed, columns, rows, cmp.Diff(want, got))
		}
		_, _ = s.Write([]byte("after\n"))
	}
}

// wrapped returns the lines of a text on a terminal, and the empty line below.
func wrapped(text string, columns int) []string {
	v := newTerminal(columns, 1000)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	_, _ = v.Write([]byte(strings.ReplaceAll(text, "\n", "\r\n")))
	return v.lines()
}

func TestScreenResize(t *testing.T) {
	v := newTerminal(20, 10)
	s := NewScreen(v, 20, 10)
	_, _ = s.Write([]byte("above\n"))
	s.Status("a status of 18 ch")
	s.Input([]string{"> typed text"}, 0, 12)
	// The terminal becomes narrower and wraps its rows.
	v.columns = 10
	v.cells = [][]rune{[]rune("above"), []rune("a status o"), []rune("f 18 ch"), []rune("> typed te"), []rune("xt")}
	v.row, v.column = 4, 2
	s.Resize(10, 10)
	if got := v.lines(); got[0] != "above" || !strings.HasPrefix(got[1], "a status") || strings.Count(strings.Join(got, "\n"), "status") != 1 {
		t.Errorf("%q; want got[0] == \"above\" and strings.HasPrefix(got[1], \"a status\") and strings.Count(strings.Join(got, \"\\n\"), \"status\") == 1", got)
	}
	s.Clear()
}
