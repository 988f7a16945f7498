package claudeevent_test

import (
	"fmt"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudeevent"
	"github.com/seed7221b0f9/parley/claude/message"
)

// A streamed answer is shown while it arrives; its whole line adds no text.
func ExampleConverter() {
	lines := []string{
		`{"type":"stream_event","event":{"type":"message_start","message":{"id":"msg_1","model":"m"}}}`,
		`{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}}`,
		`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello, "}}}`,
		`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"world"}}}`,
		`{"type":"assistant","message":{"id":"msg_1","content":[{"type":"text","text":"Hello, world"}]}}`,
		`{"type":"stream_event","event":{"type":"content_block_stop","index":0}}`,
		`{"type":"stream_event","event":{"type":"message_stop"}}`,
	}
	var c claudeevent.Converter
	var conv event.Conversation
	for _, ev := range c.Prompt(claude.Text("Say hello")) {
		conv.Apply(ev)
	}
	for _, line := range lines {
		m, err := message.Decode([]byte(line))
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, ev := range c.Add(m) {
			conv.Apply(ev)
		}
	}
	for _, it := range conv.Thread("").Items {
		for _, b := range it.Message.Blocks {
			fmt.Printf("%s: %s (%s)\n", it.Message.Role, b.Text, b.State)
		}
	}
	// Output:
	// user: Say hello (complete)
	// assistant: Hello, world (complete)
}
