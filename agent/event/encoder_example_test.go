package event_test

import (
	"fmt"

	"github.com/seed7221b0f9/parley/agent/event"
)

// The end of an answer is two messages.
func ExampleEncoder() {
	c := event.NewEncoder("0a1b2c3d", 0)
	end := &event.MessageComplete{Header: event.Header{Provider: "claude", SessionID: "s", MessageID: "msg_1"}, StopReason: "end_turn", Usage: `{"output_tokens":7}`}
	lines, err := c.AppendLines(nil, end)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(lines))
	// Output:
	// {"type":"stream_event","uuid":"evt-0a1b2c3d-1","session_id":"s","event":{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}},"api_message_id":"msg_1","provider":"claude"}
	// {"type":"stream_event","uuid":"evt-0a1b2c3d-2","session_id":"s","event":{"type":"message_stop"},"api_message_id":"msg_1","provider":"claude"}
}
