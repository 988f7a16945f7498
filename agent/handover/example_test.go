package handover_test

import (
	"fmt"

	"github.com/seed7221b0f9/parley/agent/handover"
	"github.com/seed7221b0f9/parley/ui"
)

// A conversation with one agent becomes the first prompt of a session with another.
func Example() {
	c := &ui.Conversation{}
	c.Apply(&ui.UserMessage{Header: ui.Header{Provider: "codex", UUID: "1"}, IsPrompt: true, Blocks: []ui.Content{{Type: "text", Text: "Fix the race in pool.go."}}})
	c.Apply(&ui.AssistantMessage{Header: ui.Header{Provider: "codex", MessageID: "m"}, Blocks: []ui.IndexedBlock{{Block: ui.Content{Type: "text", Text: "The map needs a lock."}}}})
	h := handover.Make(c, handover.Options{Ask: "Add the lock."})
	fmt.Println(h.Included, "of", h.Entries)
	fmt.Println(h.Prompt[len(h.Prompt)-13:])
	// Output:
	// 2 of 2
	// Add the lock.
}
