package event_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/agent/event"
)

// TestDecode_bufferReused checks that members without a field do not change when the reader reuses
// the buffer of the message.
func TestDecode_bufferReused(t *testing.T) {
	for _, line := range []string{
		`{"type":"notice","severity":"info","text":"x","provider":"claude","future":"kept"}`,
		`{"type":"plan","entries":[],"provider":"claude","future":"kept"}`,
		`{"type":"stream_event","uuid":"u","session_id":"s","event":{"type":"message_start","message":{}},"provider":"claude","future":"kept"}`,
	} {
		buf := []byte(line)
		events, err := new(event.Decoder).Decode(buf)
		if err != nil || len(events) != 1 {
			t.Fatalf("%s: %d events, %v", line, len(events), err)
		}
		for i := range buf {
			buf[i] = '#'
		}
		if got, want := string(event.Members(events[0])["future"]), `"kept"`; got != want {
			t.Errorf("%s: the member future is %s after the buffer was used again, want %s", line, got, want)
		}
	}
}

// TestMarshal_extraBeforeData checks that a member in Extra takes precedence over the provider's
// message.
func TestMarshal_extraBeforeData(t *testing.T) {
	ev := &event.Notice{Header: event.Header{Extra: event.Extra{"both": json.RawMessage(`"extra"`)}}, Data: `{"both":"data","own":"data"}`}
	line, err := event.Marshal(ev)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(line, &got); err != nil {
		t.Fatal(err)
	}
	if got["both"] != "extra" || got["own"] != "data" {
		t.Errorf("both is %v and own %v, want extra and data: %s", got["both"], got["own"], line)
	}
}

// TestEncode_readOnly checks that the encoder does not modify an event, which others read
// concurrently.
func TestEncode_readOnly(t *testing.T) {
	spaced := event.JSON(`{ "a": 1 }`)
	makers := map[string]func() event.Event{
		"permission": func() event.Event {
			return &event.PermissionRequest{Input: spaced, Suggestions: []event.Suggestion{{Update: spaced}}, Choices: []event.Choice{{Data: spaced}}}
		},
		"question": func() event.Event {
			return &event.QuestionRequest{Schema: spaced, Questions: []event.Question{{Data: spaced}}}
		},
		"change of the queue": func() event.Event { return &event.QueueUpdated{Items: []event.QueueItem{{Content: spaced}}} },
		"queue":               func() event.Event { return &event.QueueChanged{Items: []event.QueueItem{{Content: spaced}}} },
	}
	for name, create := range makers {
		ev := create()
		if _, err := event.NewEncoder("00000000", 0).Messages(ev); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(create(), ev); diff != "" {
			t.Errorf("%s: the encoder changed the event (-before +after):\n%s", name, diff)
		}
	}
}
