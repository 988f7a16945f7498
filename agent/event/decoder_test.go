package event_test

import (
	"fmt"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
)

// TestDecoder_namesTheMessage checks that a stream event without a message id belongs to the last started message of its thread.
func TestDecoder_namesTheMessage(t *testing.T) {
	begin := func(parent, id string) string {
		return fmt.Sprintf(`{"type":"stream_event","event":{"type":"message_start","message":{"id":%q}},"parent_tool_use_id":%q}`, id, parent)
	}
	delta := func(parent, id string) string {
		return fmt.Sprintf(`{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"x"}},"parent_tool_use_id":%q,"api_message_id":%q}`, parent, id)
	}
	stop := func(parent string) string {
		return fmt.Sprintf(`{"type":"stream_event","event":{"type":"content_block_stop","index":0},"parent_tool_use_id":%q}`, parent)
	}
	var d event.Decoder
	for i, step := range []struct{ message, want string }{
		{delta("", ""), ""},
		{begin("", "one"), "one"},
		{delta("", ""), "one"},
		{begin("tool", "two"), "two"},
		{delta("", ""), "one"},
		{delta("tool", ""), "two"},
		{stop("tool"), "two"},
		{stop(""), "one"},
		{delta("tool", "three"), "three"},
		{begin("", "four"), "four"},
		{delta("", ""), "four"},
	} {
		events, err := d.Decode([]byte(step.message))
		if err != nil || len(events) != 1 || events[0].Head().MessageID != step.want {
			t.Errorf("step %d: %v, %v, want message %q", i, events, err, step.want)
		}
	}
}
