package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

// FuzzEntry decodes lines. encoding/json decides whether a line is an object, and Raw must equal
// the line.
func FuzzEntry(f *testing.F) {
	for _, line := range []string{
		`{"parentUuid":null,"type":"user","uuid":"u","message":{"role":"user","content":"hi"},"timestamp":"2026-11-15T01:48:25.304Z"}`,
		`{"parentUuid":"u","type":"assistant","uuid":"a","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}],"usage":{"input_tokens":1}}}`,
		`{"type":"system","subtype":"compact_boundary","uuid":"b","compactMetadata":{"preservedMessages":{"anchorUuid":"s","uuids":["u"]}}}`,
		`{"type":"attachment","uuid":"q","attachment":{"type":"queued_command","prompt":["x"],"source_uuid":"u"}}`,
		`{"type":"cost-state","totalCostUSD":0.1,"modelUsage":{"m":{"costUSD":1e-3}}}`,
		`{"type":7,"type":"tag","tag":["x"]}`, `{"type":"new","a":{}}`, `[{}]`, `{"a":1`, "\x00{}",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		e, err := ParseEntry(line)
		var object map[string]json.RawMessage
		isObject := json.Unmarshal([]byte(line), &object) == nil && object != nil
		if (err == nil) != isObject {
			t.Fatalf("%q: %v, but encoding/json says %v", line, err, isObject)
		}
		if err != nil {
			return
		}
		if string(e.Raw()) != line {
			t.Errorf("%q became %q", line, e.Raw())
		}
		var kind string
		if json.Unmarshal(object["type"], &kind) != nil {
			kind = ""
		}
		if e.Kind() != kind {
			t.Errorf("%q is a %q, want %q", line, e.Kind(), kind)
		}
		// No reader of entries may panic on it.
		conversation(newWork(t.Context()), []Entry{e, e}, true)
		pieces(e)
		if LinkOf(e) != nil {
			f := &forker{from: &Session{ID: "s"}, uuids: map[string]string{}}
			if copied := f.copy(e, "null", true); !json.Valid([]byte(copied)) {
				t.Errorf("%q is copied as %q", line, copied)
			}
		}
	})
}

// FuzzReader splits bytes into lines: no byte is lost, and the positions are right.
func FuzzReader(f *testing.F) {
	f.Add([]byte("{}\n\n {\"a\":1}\r\ntorn"), 3)
	f.Add([]byte("\x00\x00{}\n"), 1)
	f.Fuzz(func(t *testing.T, text []byte, step int) {
		r := newLineReader(&slowReader{text, max(1, step%7)}, 0)
		var want []string
		for line := range bytes.Lines(text) {
			if trimmed := trimLine(bytes.TrimSuffix(line, []byte("\n"))); len(trimmed) > 0 {
				want = append(want, string(trimmed))
			}
		}
		for i := 0; ; i++ {
			l, err := r.next()
			if err != nil {
				if i != len(want) {
					t.Fatalf("%q has %d lines, want %d", text, i, len(want))
				}
				return
			}
			at := text[l.pos.Offset : l.pos.Offset+int64(l.pos.Size)]
			if string(l.text) != want[i] || !bytes.Contains(at, l.text) || bytes.Contains(at, []byte("\n")) {
				t.Fatalf("line %d of %q is %q at %+v", i, text, l.text, l.pos)
			}
		}
	})
}

// slowReader returns a few bytes at a time.
type slowReader struct {
	rest []byte
	step int
}

func (r *slowReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.rest[:min(r.step, len(r.rest))])
	r.rest = r.rest[n:]
	return n, nil
}

// FuzzMatch searches a text for a query, in every JSON encoding of the text. A query that is in the
// text has to be found in its bytes.
func FuzzMatch(f *testing.F) {
	f.Add("Find the NEEDLE in the haystack", "needle")
	f.Add("日本語 and \"quoted\"", "本語 A")
	f.Add("K and ſ and ПРИВЕТ", "привет")
	f.Add("👩\u200d👩\u200d👧", "\u200d👧")
	f.Fuzz(func(t *testing.T, text, query string) {
		if query == "" || !utf8.ValidString(text) || !utf8.ValidString(query) {
			t.Skip("no text to search")
		}
		for _, exact := range []bool{false, true} {
			m := newMatcher(query, exact)
			start, end, ok := m.find(text)
			if exact && ok != strings.Contains(text, query) {
				t.Fatalf("%q in %q: %v", query, text, ok)
			}
			if !exact && !ok && strings.Contains(text, query) {
				t.Fatalf("%q in %q is not found", query, text)
			}
			if !ok {
				continue
			}
			s, from, to := snippet(text, start, end)
			if from > to || to > len(s) {
				t.Fatalf("the match is at %d:%d in %q", from, to, s)
			}
			for _, form := range writings(t, text) {
				if m.index(form) < 0 {
					t.Errorf("%q is in %q and not found in %q", query, text, form)
				}
			}
		}
	})
}

// writings returns JSON encodings of a text: plain, and with all characters escaped.
func writings(t *testing.T, text string) [][]byte {
	t.Helper()
	plain, err := encode(text)
	if err != nil {
		t.Fatal(err)
	}
	html, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	var lower, upper, mixed strings.Builder
	for _, r := range text {
		units := []uint16{uint16(r)}
		if r > 0xffff {
			high, low := utf16.EncodeRune(r)
			units = []uint16{uint16(high), uint16(low)}
		}
		for _, u := range units {
			fmt.Fprintf(&lower, `\u%04x`, u)
			fmt.Fprintf(&upper, `\u%04X`, u)
			fmt.Fprintf(&mixed, `\u%02x%02X`, u>>8, u&0xff)
		}
	}
	return [][]byte{plain, html, []byte(lower.String()), []byte(upper.String()), []byte(mixed.String())}
}
