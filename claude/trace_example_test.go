package claude_test

import (
	"context"
	"fmt"
	"log"

	"github.com/seed7221b0f9/parley/claude"
)

// The functions of a Trace are called in a separate goroutine, in the order of the events,
// and all before the iterator ends.
func ExampleTrace_turns() {
	opts := recorded("agent-forward-text")
	opts.Trace = &claude.Trace{
		TurnBegin: func(t claude.TurnBeginTrace) { fmt.Println("turn of", t.Model) },
		ToolBegin: func(t claude.ToolBeginTrace) { fmt.Println("calls", t.Name) },
		TaskBegin: func(t claude.TaskBeginTrace) { fmt.Println("subagent", t.Task.SubagentType, "begins") },
		TaskEnd:   func(t claude.TaskEndTrace) { fmt.Println("subagent", t.Task.SubagentType, t.Status) },
		TurnEnd:   func(t claude.TurnEndTrace) { fmt.Printf("the turn cost $%.5f\n", t.CostUSD) },
	}
	if _, err := claude.Run(context.Background(), "Ask the helper.", opts); err != nil {
		log.Fatal(err)
	}
	// Output:
	// turn of claude-opus-5-5
	// calls Agent
	// subagent helper begins
	// calls Bash
	// subagent helper completed
	// the turn cost $0.00056
}
