package event_test

import (
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
)

// FuzzDecode decodes arbitrary input. Decoded events can be folded, and a message that is not part
// of a stream has the same bytes when it is encoded, decoded and encoded again.
func FuzzDecode(f *testing.F) {
	for _, ev := range goldenEvents {
		line, err := event.Marshal(ev)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line)
	}
	for _, line := range []string{
		`{"type":"assistant","message":{"content":[{"type":"image","source":{}},{"type":"x"},{"type":"server_tool_use"}],"z":1},"indexes":[3,1],"y":[1, 2]}`,
		`{"type":"unknown","originalType":"a","data": [ 1 ] }`, `{"type":"task_updated","is_backgrounded":null}`,
		`{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"\ud800","q":0}}}`,
		`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":[1]},{"type":"text","text":"x"}]},"tool_use_result":{"a":1}}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var d event.Decoder
		events, err := d.Decode(line)
		if err != nil {
			return
		}
		var conv event.Conversation
		for _, ev := range events {
			conv.Apply(ev)
			checkStable(t, ev)
		}
	})
}

// checkStable checks that an event has the same messages after encoding and decoding.
func checkStable(t *testing.T, ev event.Event) {
	t.Helper()
	once := send(t, event.NewEncoder("00000000", 0, event.CapabilityOutputDelta), ev)
	if len(once) != 1 {
		return // the end of an answer has two, its delta none
	}
	back, err := new(event.Decoder).Decode([]byte(once[0]))
	if err != nil || len(back) != 1 {
		t.Fatalf("%s decodes to %d events, %v", once[0], len(back), err)
	}
	if again := send(t, event.NewEncoder("00000000", 0, event.CapabilityOutputDelta), back[0]); len(again) != 1 || again[0] != once[0] {
		t.Errorf("encoded\n%s\ndecoded and encoded\n%s", once[0], again)
	}
}
