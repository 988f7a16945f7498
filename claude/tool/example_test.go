package tool_test

import (
	"fmt"
	"iter"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/claude/tool"
)

// Decode gives each tool call its Go type.
func ExampleDecode() {
	calls := []*message.ToolUse{
		{Name: "Bash", Input: `{"command":"go test ./...","timeout":60000}`},
		{Name: "Edit", Input: `{"file_path":"a.go","old_string":"foo","new_string":"bar"}`},
		{Name: "mcp__calc__add", Input: `{"a":2,"b":3}`},
	}
	for _, call := range calls {
		input, err := tool.Decode(call)
		if err != nil {
			log.Fatal(err)
		}
		switch in := input.(type) {
		case *tool.BashInput:
			fmt.Println("runs", in.Command)
		case *tool.EditInput:
			fmt.Printf("changes %q to %q in %s\n", in.OldString, in.NewString, in.FilePath)
		case *tool.UnknownInput:
			fmt.Println("calls", in.Name, "with", in.Input)
		}
	}
	// Output:
	// runs go test ./...
	// changes "foo" to "bar" in a.go
	// calls mcp__calc__add with {"a":2,"b":3}
}

// The input of a custom tool, decoded into a caller's type.
func ExampleDecodeAs() {
	call := &message.ToolUse{Name: "mcp__calc__add", Input: `{"a":2,"b":3}`}
	in, err := tool.DecodeAs[struct{ A, B int }](call)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(in.A + in.B)
	// Output: 5
}

// A result does not name its tool, so the program keeps the names of the calls.
func ExampleDecodeResultOf() {
	tools := map[string]string{} // the tool of each call
	for msg, err := range recorded("ask-user-question") {
		if err != nil {
			log.Fatal(err)
		}
		switch msg := msg.(type) {
		case *message.Assistant:
			for _, b := range msg.Message.Content {
				if call, ok := b.(*message.ToolUse); ok {
					tools[call.ID] = call.Name
				}
			}
		case *message.User:
			for _, b := range msg.Message.Content.Blocks() {
				if r, ok := b.(*message.ToolResult); ok {
					printResult(msg, tools[r.ToolUseID])
				}
			}
		}
	}
	// Output: Which colour? Blue
}

func printResult(msg *message.User, called string) {
	result, err := tool.DecodeResultOf(msg, called)
	if err != nil {
		log.Fatal(err)
	}
	switch r := result.(type) {
	case *tool.AskUserQuestionResult:
		for _, q := range r.Questions {
			fmt.Println(q.Question, r.Answers[q.Question])
		}
	case *tool.BashResult:
		fmt.Print(r.Stdout)
	case *tool.ErrorResult:
		fmt.Println("failed:", r.Text)
	}
}

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

// An old matcher may use a former name of a tool.
func ExampleNamesOf() {
	fmt.Println(tool.NamesOf("TaskStop"), tool.NamesOf("KillBash"), tool.NamesOf("mcp__db__query"))
	// Output: [TaskStop KillBash KillShell] [TaskStop KillBash KillShell] [mcp__db__query]
}
