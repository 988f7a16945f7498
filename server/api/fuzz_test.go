package api_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
)

// api.FuzzDecode decodes anything. What decodes comes back from its own encoding, and can
// be read and folded.
func FuzzDecode(f *testing.F) {
	for _, m := range golden {
		line, err := api.Encode(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line)
	}
	for _, line := range []string{
		`{"type":"assistant","message":{"content":[{"type":"image","source":{}},{"type":"x"},{"type":"server_tool_use"}],"z":1},"indexes":[3,1],"y":[1, 2]}`,
		`{"type":"unknown","originalType":"a","data": [ 1 ] }`, `{"type":"task_updated","is_backgrounded":null}`,
		`{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"\ud800","q":0}}}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		m, err := api.Decode(line)
		if err != nil {
			return
		}
		text, err := api.Encode(m)
		if err != nil {
			t.Fatalf("%s does not encode: %v", line, err)
		}
		back, err := api.Decode(text)
		if err != nil {
			t.Fatalf("%s does not decode: %v", text, err)
		}
		again, err := api.Encode(back)
		if err != nil || string(again) != string(text) {
			t.Errorf("encoded %s, decoded and encoded %s, %v: %s", text, again, err, cmp.Diff(m, back))
		}
		var r api.Reader
		var conv event.Conversation
		for _, ev := range r.Events(m) {
			conv.Apply(ev)
		}
	})
}
