package ui_test

import (
	"fmt"

	"github.com/seed7221b0f9/parley/ui"
)

// Events of any provider fold to what a screen shows.
func ExampleConversation() {
	h := ui.Header{Provider: "codex", MessageID: "msg_1"}
	var conv ui.Conversation
	for _, ev := range []ui.Event{
		&ui.TurnStart{Header: ui.Header{Provider: "codex"}, TurnID: "turn-1", By: ui.ByUser},
		&ui.MessageStart{Header: h},
		&ui.TextStart{Header: h},
		&ui.TextDelta{Header: h, Text: "Hello, "},
		&ui.TextDelta{Header: h, Text: "world"},
		&ui.BlockStop{Header: h},
		&ui.MessageComplete{Header: h, StopReason: "end_turn"},
		&ui.Notice{Header: ui.Header{Provider: "codex"}, Severity: ui.NoticeWarning, Text: "no sandbox"},
		&ui.ResultMessage{Header: ui.Header{Provider: "codex"}, Subtype: "success"},
	} {
		conv.Apply(ev)
	}
	for _, it := range conv.Thread("").Items {
		fmt.Println(it.Kind, it.TurnID)
	}
	fmt.Println(conv.Thread("").Items[0].Message.Block(0).Text)
	fmt.Println(conv.Turns[0].Done, conv.Notices[0].Text)
	// Output:
	// message turn-1
	// result turn-1
	// Hello, world
	// true no sandbox
}

// A rewind takes a message and all after it back.
func ExampleTruncate() {
	var conv ui.Conversation
	for _, text := range []string{"one", "two", "three"} {
		conv.Apply(&ui.UserMessage{Header: ui.Header{UUID: text}, Blocks: []ui.Content{ui.TextContent(text)}})
	}
	conv.Apply(&ui.Truncate{Reason: "rewind", From: "two"})
	for _, it := range conv.Thread("").Items {
		fmt.Println(it.Message.Blocks[0].Text)
	}
	// Output: one
}
