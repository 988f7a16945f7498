package message_test

import (
	"fmt"
	"iter"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed7221b0f9/parley/claude/message"
)

// recorded yields the messages of a recording of the real CLI. A program gets them from
// claude.Query or a claude.Client.
func recorded(scenario string) iter.Seq2[message.Message, error] {
	return func(yield func(message.Message, error) bool) {
		data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "wire", scenario, "stdout.jsonl"))
		if err != nil {
			yield(nil, err)
			return
		}
		for line := range strings.Lines(string(data)) {
			if !yield(message.Decode([]byte(strings.TrimSpace(line)))) {
				return
			}
		}
	}
}

// A type switch over all kinds of blocks in a conversation.
func ExampleContentBlock() {
	for msg, err := range recorded("parallel-tools") {
		if err != nil {
			log.Fatal(err)
		}
		for _, block := range blocks(msg) {
			switch block := block.(type) {
			case *message.Text:
				fmt.Println("text:", block.Text)
			case *message.Thinking:
				fmt.Println("thinking:", block.Thinking)
			case *message.ToolUse:
				fmt.Println("using tool:", block.Name, block.Input)
			case *message.ToolResult:
				status := "success"
				if block.IsError {
					status = "error"
				}
				fmt.Printf("tool result (%s): %s\n", status, strings.TrimSpace(block.Content.String()))
			case *message.UnknownBlock:
				fmt.Println("something newer:", block.Type)
			}
		}
	}
	// Output:
	// text: both
	// using tool: Bash {"command":"echo one","description":"a"}
	// using tool: Bash {"command":"echo two","description":"b"}
	// tool result (success): one
	// tool result (success): two
	// text: Done.
}

// blocks returns the content blocks of a message, or nil for a message without content.
func blocks(msg message.Message) []message.ContentBlock {
	switch msg := msg.(type) {
	case *message.Assistant:
		return msg.Message.Content
	case *message.User:
		return msg.Message.Content.Blocks()
	}
	return nil
}

// A tool's input is decoded on demand.
func ExampleToolUse() {
	for msg, err := range recorded("tool-error") {
		if err != nil {
			log.Fatal(err)
		}
		for _, block := range blocks(msg) {
			if use, ok := block.(*message.ToolUse); ok {
				var input struct {
					Command string `json:"command"`
				}
				if err := use.Input.Decode(&input); err != nil {
					log.Fatal(err)
				}
				fmt.Println(use.Name, "runs", input.Command)
			}
		}
	}
	// Output: Bash runs echo out; echo err >&2; exit 3
}

// Thinking blocks arrive if the options enable thinking.
func ExampleThinking() {
	for msg, err := range recorded("partial-thinking") {
		if err != nil {
			log.Fatal(err)
		}
		for _, block := range blocks(msg) {
			if t, ok := block.(*message.Thinking); ok {
				fmt.Println("Claude's thinking:", t.Thinking)
			}
		}
	}
	// Output: Claude's thinking: Let me think about it.
}

// Text deltas arrive while the model writes, with partial messages enabled.
func ExampleStreamEvent() {
	for msg, err := range recorded("partial-tool") {
		if err != nil {
			log.Fatal(err)
		}
		event, ok := msg.(*message.StreamEvent)
		if !ok {
			continue
		}
		switch e := event.Event.(type) {
		case *message.ContentBlockDelta:
			if d, ok := e.Delta.(*message.TextDelta); ok {
				fmt.Print(d.Text)
			}
		case *message.ContentBlockStop:
			fmt.Println()
		}
	}
	// Output:
	// I will look.
	//
	// Done.
}

// The blocks of an answer while it is being written.
func ExampleAccumulator() {
	var acc message.Accumulator
	for msg, err := range recorded("partial-tool") {
		if err != nil {
			log.Fatal(err)
		}
		event, ok := msg.(*message.StreamEvent)
		if !ok || !acc.Add(msg) {
			continue
		}
		if d, ok := event.Event.(*message.ContentBlockDelta); ok {
			if _, ok := d.Delta.(*message.InputJSONDelta); ok {
				fmt.Println(strings.TrimSpace(acc.PartialInput(event.ParentToolUseID, d.Index)))
			}
		}
	}
	// Output:
	// {"command"
	// {"command":"echo hi"
	// {"command":"echo hi","descript
	// {"command":"echo hi","description":"say
	// {"command":"echo hi","description":"say hi"}
}

// Messages about the session have specific types that share the subtype and the raw line.
func ExampleSystem() {
	for msg, err := range recorded("agent-forward-text") {
		if err != nil {
			log.Fatal(err)
		}
		switch msg := msg.(type) {
		case *message.Init:
			fmt.Println("model", msg.Model, "in", msg.CWD)
		case *message.TaskStarted:
			fmt.Println("task started:", msg.Description)
		case *message.TaskProgress:
			fmt.Println("progress:", msg.Usage.ToolUses, "tool uses")
		case *message.TaskNotification:
			fmt.Printf("task %s: %s\n", msg.Status, msg.Summary)
		case interface{ AsSystem() *message.System }:
			data := msg.AsSystem().Data()
			fmt.Println("system", msg.AsSystem().Subtype, "with", len(data), "members")
		}
	}
	// Output:
	// system session_state_changed with 6 members
	// model claude-opus-5-5 in /home/dev/project
	// system status with 5 members
	// task started: do sub
	// progress: 1 tool uses
	// system task_updated with 7 members
	// task completed: sub result
	// system status with 5 members
	// system session_state_changed with 6 members
}

// The CLI can repeat prompts with their uuid.
func ExampleUser() {
	for msg, err := range recorded("replay-user-messages") {
		if err != nil {
			log.Fatal(err)
		}
		if msg, ok := msg.(*message.User); ok && msg.IsReplay {
			fmt.Println("user said:", msg.Text(), "id:", msg.UUID)
		}
	}
	// Output:
	// user said: one id: dea967d0-f8cf-41cd-ac43-8032ef6bdad4
	// user said: two id: 33333333-3333-4333-8333-333333333333
}

// The result holds the outcome, cost and usage of a turn.
func ExampleResult() {
	for msg, err := range recorded("simple-string") {
		if err != nil {
			log.Fatal(err)
		}
		result, ok := msg.(*message.Result)
		if !ok {
			continue
		}
		switch {
		case !result.IsError:
			fmt.Printf("cost: $%.4f, turns: %d, stop reason: %s\n", result.TotalCostUSD, result.NumTurns, result.StopReason)
			fmt.Println("tokens:", result.Usage.InputTokens, "in,", result.Usage.OutputTokens, "out")
		case result.Subtype == message.ResultMaxBudget:
			fmt.Println("budget exceeded!")
		default:
			fmt.Println("failed:", result.Text())
		}
	}
	// Output:
	// cost: $0.0001, turns: 1, stop reason: end_turn
	// tokens: 10 in, 5 out
}

// A message type of a newer CLI decodes into Unknown, with its whole line.
func ExampleUnknown() {
	msg, err := message.Decode([]byte(`{"type":"from_the_future","mood":"good"}`))
	if err != nil {
		log.Fatal(err)
	}
	if unknown, ok := msg.(*message.Unknown); ok {
		fmt.Println(unknown.Type)
		fmt.Println(string(unknown.Raw()))
	}
	// Output:
	// from_the_future
	// {"type":"from_the_future","mood":"good"}
}
