package claude_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/claude/message"
)

// FuzzDecodeMessage compares decoding with encoding/json: it returns a message exactly for a JSON object
// (apart from invalid texts that are left undecoded), keeps the bytes, has the typed fields of a plain decoding, and
// the fast path of text deltas gives the same result as the general one.
func FuzzDecodeMessage(f *testing.F) {
	for _, name := range []string{"simple-string", "partial-tool", "partial-thinking", "agent-forward-text", "api-truncated", "unknown-content-block", "cli-garbage-stdout"} {
		for _, line := range stdoutLines(f, name) {
			if len(line) < 4000 {
				f.Add([]byte(line))
			}
		}
	}
	for _, s := range []string{
		`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\\u00e9\\n"}},"uuid":"u","session_id":"s","parent_tool_use_id":"p"}`,
		`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}},"uuid":1}`,
		`{"type":"stream_event","event":{"type":"content_block_delta","index":0.5,"delta":{"type":"text_delta","text":"a"}}}`,
		`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}},"new":{}}`,
		`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}} x`,
		`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}},}`,
		`[]`, `null`, `{`, ``, `{"type":7}`, `{"subtype":"init","type":"system"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		m, err := message.Decode(line)
		object := json.Valid(line) && strings.HasPrefix(strings.TrimLeft(string(line), " \t\r\n"), "{")
		if object && err != nil {
			t.Fatalf("%q: %v; want not (object && err != nil)", line, err)
		}
		if err != nil {
			return
		}
		if !object && !brokenText(reflect.ValueOf(m)) {
			t.Fatalf("%q is not an object, and no text that was left undecoded is to blame", line)
		}
		if string(m.Raw()) != string(line) {
			t.Fatalf("Raw is %q", m.Raw())
		}
		// A leading space disables the fast path and has no other effect.
		slow, err := message.Decode([]byte(" " + string(line)))
		if err != nil {
			t.Fatal(err)
		}
		if !object {
			return // cannot be encoded again
		}
		if a, b := fields(t, m), fields(t, slow); !reflect.DeepEqual(a, b) {
			t.Fatalf("%q:\n%v\n%v; want reflect.DeepEqual(a, b)", line, a, b)
		}
	})
}

// brokenText reports whether a value contains an undecoded text that is not valid JSON.
func brokenText(v reflect.Value) bool {
	switch {
	case !v.IsValid():
		return false
	case v.Type() == jsonType:
		return v.String() != "" && !json.Valid([]byte(v.String()))
	case v.Type() == contentType:
		text, err := json.Marshal(v.Interface())
		return err != nil || !json.Valid(text)
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return !v.IsNil() && brokenText(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && brokenText(v.Field(i)) {
				return true
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			if brokenText(v.Index(i)) {
				return true
			}
		}
	}
	return false
}

// fields returns the typed fields of a message, as JSON makes them.
func fields(t *testing.T, m message.Message) (out map[string]any) {
	t.Helper()
	ev, ok := m.(*message.StreamEvent)
	if !ok {
		return map[string]any{"kind": message.Kind(m), "uuid": m.Head().UUID, "session": m.Head().SessionID}
	}
	text, err := message.Encode(message.Clone(ev))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	out["delta"] = ev.TextDelta()
	return out
}
