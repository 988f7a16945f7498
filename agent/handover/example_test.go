package handover_test

import (
	"fmt"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/agent/handover"
)

// Convert a conversation with one agent to the first prompt of a session with another.
func Example() {
	c := &event.Conversation{}
	c.Apply(&event.UserMessage{Header: event.Header{Provider: "codex", UUID: "1"}, IsPrompt: true, Blocks: []event.Content{{Type: "text", Text: "Fix the race in pool.go."}}})
	c.Apply(&event.AssistantMessage{Header: event.Header{Provider: "codex", MessageID: "m"}, Blocks: []event.IndexedBlock{{Block: event.Content{Type: "text", Text: "The map needs a lock."}}}})
	h := handover.Make(c, handover.Options{Ask: "Add the lock."})
	fmt.Println(h.Included, "of", h.Entries)
	fmt.Println(h.Prompt[len(h.Prompt)-13:])
	// Output:
	// 2 of 2
	// Add the lock.
}
