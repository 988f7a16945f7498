package parts_test

import (
	"fmt"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/parts"
)

// A block that was streamed and sent complete is shown once, also by a stream that was resumed in
// the middle of it.
func ExampleReducer() {
	h := event.Header{MessageID: "msg_1"}
	show := func(all []parts.Part) {
		for _, p := range all {
			fmt.Printf("%s %s %q\n", p.Kind, p.ID, p.Text)
		}
	}
	first := parts.New(parts.Place{})
	show(first.Apply(&event.TextStart{Header: h, Text: "Hello, "}))

	at, err := parts.ParsePlace(first.Place("epoch", 7).String())
	if err != nil {
		fmt.Println(err)
		return
	}
	second := parts.New(at)
	show(second.Apply(&event.AssistantMessage{Header: h, Blocks: []event.IndexedBlock{{Block: event.Content{Type: "text", Text: "Hello, world"}}}}))
	// Output:
	// text-start msg_1:0 ""
	// text-delta msg_1:0 "Hello, "
	// text-start msg_1:0 ""
	// text-delta msg_1:0 "world"
	// text-end msg_1:0 "Hello, world"
}
