package event_test

import (
	"fmt"

	"github.com/seed7221b0f9/parley/agent/event"
)

// Fold events of any provider to the state of a screen.
func ExampleConversation() {
	h := event.Header{Provider: "codex", MessageID: "msg_1"}
	var conv event.Conversation
	for _, ev := range []event.Event{
		&event.TurnStart{Header: event.Header{Provider: "codex"}, TurnID: "turn-1", By: event.ByUser},
		&event.MessageStart{Header: h},
		&event.TextStart{Header: h},
		&event.TextDelta{Header: h, Text: "Hello, "},
		&event.TextDelta{Header: h, Text: "world"},
		&event.BlockStop{Header: h},
		&event.MessageComplete{Header: h, StopReason: "end_turn"},
		&event.Notice{Header: event.Header{Provider: "codex"}, Severity: event.NoticeWarning, Text: "no sandbox"},
		&event.ResultMessage{Header: event.Header{Provider: "codex"}, Subtype: "success"},
	} {
		conv.Apply(ev)
	}
	for _, it := range conv.Thread("").Items {
		fmt.Println(it.Kind, it.TurnID)
	}
	fmt.Println(conv.Thread("").Items[0].Message.Block(0).Text)
	fmt.Println(conv.Turns[0].Done, conv.Notices[0].Notice.Text)
	// Output:
	// message turn-1
	// result turn-1
	// Hello, world
	// true no sandbox
}

// A rewind removes a message and all after it.
func ExampleTruncate() {
	var conv event.Conversation
	for _, text := range []string{"one", "two", "three"} {
		conv.Apply(&event.UserMessage{Header: event.Header{UUID: text}, Blocks: []event.Content{event.TextContent(text)}})
	}
	conv.Apply(&event.Truncate{Reason: "rewind", From: "two"})
	for _, it := range conv.Thread("").Items {
		fmt.Println(it.Message.Blocks[0].Text)
	}
	// Output: one
}

// A client with CapabilityQueueUpdated updates its queue by changes.
func ExampleQueueUpdated_Apply() {
	queue := []event.QueueItem{{ID: "a", Content: `"first"`}, {ID: "b", Content: `"second"`}}
	change := event.QueueUpdated{Removed: []string{"a"}, Items: []event.QueueItem{{ID: "c", Content: `"third"`}}}
	for _, item := range change.Apply(queue) {
		fmt.Println(item.ID, item.Content.Text())
	}
	// Output:
	// b second
	// c third
}
