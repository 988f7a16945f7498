package acpevent_test

import (
	"encoding/json"
	"fmt"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/acp/acpevent"
	"github.com/seed7221b0f9/parley/agent/event"
)

// Fold the messages of an agent to a conversation.
func ExampleConverter() {
	c := acpevent.Converter{Provider: "acp:example", SessionID: "s1"}
	var conversation event.Conversation
	add := func(events []event.Event) {
		for _, ev := range events {
			conversation.Apply(ev)
		}
	}
	add(c.Turn("p1"))
	for _, line := range []string{
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hello "}}`,
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"there."}}`,
	} {
		var update acp.SessionUpdate
		if err := json.Unmarshal([]byte(line), &update); err != nil {
			fmt.Println(err)
			return
		}
		add(c.Update(&update))
	}
	add(c.End("end_turn", "", ""))
	for _, item := range conversation.Threads[0].Items {
		if item.Message != nil {
			fmt.Println(item.Message.Blocks[0].Text.String())
		}
	}
	// Output:
	// Hello there.
}
