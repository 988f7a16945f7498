package claude_test

import (
	"context"
	"fmt"
	"log"

	"github.com/seed7221b0f9/parley/claude"
)

// What the agent is about to do, in the types of its tools.
func ExampleToolUseBlock_DecodeInput() {
	calls := []*claude.ToolUseBlock{
		{Name: "Bash", Input: `{"command":"go test ./...","timeout":60000}`},
		{Name: "Edit", Input: `{"file_path":"a.go","old_string":"foo","new_string":"bar"}`},
		{Name: "mcp__calc__add", Input: `{"a":2,"b":3}`},
	}
	for _, call := range calls {
		input, err := call.DecodeInput()
		if err != nil {
			log.Fatal(err)
		}
		switch in := input.(type) {
		case *claude.BashInput:
			fmt.Println("runs", in.Command)
		case *claude.EditInput:
			fmt.Printf("changes %q to %q in %s\n", in.OldString, in.NewString, in.FilePath)
		case *claude.UnknownToolInput:
			fmt.Println("calls", in.Name, "with", in.Input)
		}
	}
	// Output:
	// runs go test ./...
	// changes "foo" to "bar" in a.go
	// calls mcp__calc__add with {"a":2,"b":3}
}

// The input of a tool of one's own, in a type of one's own.
func ExampleDecodeInputAs() {
	call := &claude.ToolUseBlock{Name: "mcp__calc__add", Input: `{"a":2,"b":3}`}
	in, err := claude.DecodeInputAs[struct{ A, B int }](call)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(in.A + in.B)
	// Output: 5
}

// What the tools gave back. The result does not name its tool; the call does.
func ExampleUserMessage_DecodeToolResult() {
	tools := map[string]string{} // the tool of each call
	for msg, err := range claude.Query(context.Background(), "ask me", recorded("ask-user-question")) {
		if err != nil {
			log.Fatal(err)
		}
		switch msg := msg.(type) {
		case *claude.AssistantMessage:
			for _, b := range msg.Message.Content {
				if call, ok := b.(*claude.ToolUseBlock); ok {
					tools[call.ID] = call.Name
				}
			}
		case *claude.UserMessage:
			for _, b := range msg.Message.Content.Blocks() {
				if r, ok := b.(*claude.ToolResultBlock); ok {
					printResult(msg, tools[r.ToolUseID])
				}
			}
		}
	}
	// Output: Which colour? Blue
}

func printResult(msg *claude.UserMessage, tool string) {
	result, err := msg.DecodeToolResult(tool)
	if err != nil {
		log.Fatal(err)
	}
	switch r := result.(type) {
	case *claude.AskUserQuestionResult:
		for _, q := range r.Questions {
			fmt.Println(q.Question, r.Answers[q.Question])
		}
	case *claude.BashResult:
		fmt.Print(r.Stdout)
	case *claude.ToolErrorResult:
		fmt.Println("failed:", r.Text)
	}
}
