package rollout

import (
	"encoding/json"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed7221b0f9/parley/codex/item"
)

// TestScan checks that scan finds the lines of a simple split, wherever reads and buffers end.
func TestScan(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for round := range 60 {
		var text strings.Builder
		var want []string
		for range rnd.IntN(12) {
			size := []int{0, 1, headLen - 1, headLen, headLen + 1, 5000, scanBuffer - 1, scanBuffer, scanBuffer + 1, 3 * scanBuffer}[rnd.IntN(10)]
			line := strings.Repeat(string(rune('a'+rnd.IntN(3))), size)
			if strings.HasPrefix(line, "b") {
				want = append(want, line)
			}
			text.WriteString(line + "\n")
		}
		all := text.String()
		if round%2 == 0 {
			all = strings.TrimSuffix(all, "\n") // the last line lacks its line feed
		}
		for name, r := range map[string]io.Reader{
			"whole": strings.NewReader(all), "half": iotest.HalfReader(strings.NewReader(all)), "data with error": iotest.DataErrReader(strings.NewReader(all)),
		} {
			var got []string
			err := scan(r, func(head []byte) bool { return head[0] == 'b' }, func(line []byte) bool {
				got = append(got, string(line))
				return true
			})
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("round %d, %s: %d lines, want %d, %v", round, name, len(got), len(want), err)
			}
		}
	}
	broken := io.MultiReader(strings.NewReader("b1\nb2\n"), iotest.ErrReader(io.ErrUnexpectedEOF))
	n := 0
	if err := scan(broken, func([]byte) bool { return true }, func([]byte) bool { n++; return true }); err != io.ErrUnexpectedEOF || n != 2 {
		t.Errorf("%d lines, %v", n, err)
	}
}

// TestScan_bound checks that an oversized line is skipped without keeping it in memory, and that the following lines are found.
func TestScan_bound(t *testing.T) {
	defer func(n int) { maxLine = n }(maxLine)
	maxLine = 2 * scanBuffer
	for size, found := range map[int]bool{maxLine / 2: true, maxLine - 1: true, 4 * maxLine: false, 40 * maxLine: false} {
		for name, last := range map[string]string{"then another": "\nb2\n", "at the end": ""} {
			var got []int
			err := scan(strings.NewReader("b"+strings.Repeat("x", size-1)+last), func(head []byte) bool { return head[0] == 'b' }, func(line []byte) bool {
				got = append(got, len(line))
				return true
			})
			var want []int
			if found {
				want = append(want, size)
			}
			if last != "" {
				want = append(want, len("b2"))
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("a line of %d bytes, %s: lines of %v bytes are found, %v, want %v", size, name, got, err, want)
			}
		}
	}
	s := &scanner{buf: make([]byte, scanBuffer)}
	for range 10 { // enough for 256 MB
		s.room(func([]byte) bool { return true })
		s.end = len(s.buf)
	}
	if len(s.buf) > 2*maxLine+scanBuffer {
		t.Errorf("%d bytes are kept of a line without an end, at most %d are wanted", len(s.buf), maxLine)
	}
}

// FuzzKindOf checks that kindOf agrees with decoding, or reports false.
func FuzzKindOf(f *testing.F) {
	for _, s := range []string{
		`{"timestamp":"2026","ordinal":1,"type":"event_msg","payload":{"type":"token_count","info":null}}`,
		`{"type":"response_item","payload":{"type":"event_msg"}}`, `{"payload":{"type":"a"},"type":"event_msg"}`, `{"a":"\"type\":\"x\"","type":"y"}`,
		`{"a":["type"],"type":"y"}`, `{"type":"event_msg","x":1,"payload":{"turn_id":"t","type":"task_started"}}`, `{"type":"event_msg","payload":[]}`,
		"{\"type\":\"\xff\xff0\"}", `{"type":"a\u0062"}`, `{"type":"event_msg","type":"x"}`, `{"type":"event_msg","y":{"payload":{"type":"z"}},"payload":{"type":"token_count"}}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		typ, payload, ok := kindOf([]byte(s))
		var r record
		if !ok || item.DecodeValue(item.JSON(s), &r) != nil || twice(s) || twice(string(r.Payload)) {
			return
		}
		var p struct {
			Type string `json:"type"`
		}
		_ = item.DecodeValue(r.Payload, &p)
		if string(typ) != r.Type || string(typ) == "event_msg" && p.Type != "" && string(payload) != p.Type {
			t.Errorf("%s: %s, %s; decoded %s, %s", s, typ, payload, r.Type, p.Type)
		}
	})
}

// twice reports whether an object has a duplicate member, or is not an object: kindOf does not
// decide which member counts.
func twice(s string) bool {
	d := json.NewDecoder(strings.NewReader(s))
	if first, err := d.Token(); err != nil || first != json.Delim('{') {
		return s != ""
	}
	seen := map[string]bool{}
	for d.More() {
		key, err := d.Token()
		var value json.RawMessage
		name, _ := key.(string)
		if err != nil || d.Decode(&value) != nil || seen[name] {
			return true
		}
		seen[name] = true
	}
	return false
}

// TestScan_mark checks that a byte order mark is not part of the first line, for any size of reads.
func TestScan_mark(t *testing.T) {
	for text, want := range map[string]string{"\ufeffa\nb": "a b", "\ufeff": "", "a": "a", "": "", "ab\n\ufeffc": "ab \ufeffc"} {
		for _, r := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text))} {
			var got []string
			err := scan(r, func([]byte) bool { return true }, func(line []byte) bool { got = append(got, string(line)); return true })
			if err != nil || strings.Join(got, " ") != want {
				t.Errorf("%q: %q (%v), want %q", text, got, err, want)
			}
		}
	}
}
