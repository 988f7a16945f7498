package claudetest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/message"
)

// A fake CLI is a function. In the tests of a package, TestMain registers it:
//
//	func claudetest.TestMain(m *testing.M) {
//		claudetest.Main(m, map[string]claudetest.Program{"echo": echo})
//	}
func ExampleFakeCLI() {
	// func echo(cli *claudetest.CLI) int {
	// 	cli.Handshake()
	// 	for {
	// 		prompt, err := cli.Prompt()
	// 		if err != nil {
	// 			return 0
	// 		}
	// 		cli.Turn(cli.Env("PREFIX") + prompt.Text())
	// 	}
	// }
	opts := claudetest.FakeCLI("echo")
	opts.Env["PREFIX"] = "You said: "
	result, err := claude.Run(context.Background(), "hello", opts)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Result)
	// Output: You said: hello
}

// The CLI dies in the middle of a turn: the program under test receives the messages up to this point, and then the
// exit error.
func ExampleInProcess() {
	program := func(cli *claudetest.CLI) int {
		cli.Handshake()
		cli.Prompt()
		cli.BeginTurn()
		id := cli.ToolUseID()
		cli.Emit(
			cli.AssistantText("I will look."),
			cli.AssistantToolUse(id, "Bash", map[string]any{"command": "ls"}),
			cli.UserToolError(id, "command not found"),
		)
		cli.Stderr("out of memory\n")
		return 3
	}
	opts := &claude.Options{Spawner: claudetest.InProcess(program)}
	for m, err := range claude.Query(context.Background(), "list the files", opts) {
		if exit, ok := errors.AsType[*claude.ExitError](err); ok {
			fmt.Println("exit", exit.Code, strings.TrimSpace(exit.Stderr))
			break
		}
		fmt.Println(message.Kind(m))
	}
	// Output:
	// system/init
	// assistant
	// assistant
	// user
	// exit 3 out of memory
}

// A function answers a control request of the program under test; an unknown request is
// refused as the real CLI does.
func ExampleCLI_OnControl() {
	program := func(cli *claudetest.CLI) int {
		cli.OnControl("rewind_files", func(req claudetest.ControlRequest) (any, error) {
			return map[string]any{"canRewind": true}, nil
		})
		return echo(cli)
	}
	client, err := claude.Connect(context.Background(), &claude.Options{Spawner: claudetest.InProcess(program)})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	var answer message.JSON
	err = client.Control(context.Background(), "rewind_files", map[string]any{"dry_run": true}, &answer)
	fmt.Println(answer, err)
	err = client.Control(context.Background(), "make_coffee", nil, nil)
	fmt.Println(errors.Is(err, claude.ErrUnsupported))
	// Output:
	// {"canRewind":true} <nil>
	// true
}

// A session is recorded once with the real CLI and then replayed.
func ExampleRecorder() {
	var cassette bytes.Buffer // a file in a real test
	program := func(cli *claudetest.CLI) int { return echo(cli) }
	opts := &claude.Options{Spawner: claudetest.InProcess(program)}

	opts.Transport = claudetest.NewRecorder(claude.ProcessTransport(opts), &cassette)
	if _, err := claude.Run(context.Background(), "my key is sk-ant-api03-made-up-value", opts); err != nil {
		log.Fatal(err)
	}

	replay, err := claudetest.NewReplayer(&cassette)
	if err != nil {
		log.Fatal(err)
	}
	opts.Transport = replay
	result, err := claude.Run(context.Background(), "my key is sk-ant-api03-made-up-value", opts)
	fmt.Println(result.Result, err)
	_, err = claude.Run(context.Background(), "something else", opts)
	fmt.Println(errors.As(err, new(*claudetest.ReplayError)))
	// Output:
	// my key is [redacted] <nil>
	// true
}

func ExampleBuilder() {
	b := claudetest.NewBuilder()
	id := b.ToolUseID()
	for _, m := range []message.Message{
		b.AssistantToolUse(id, "Read", map[string]any{"file_path": "a.txt"}),
		b.UserToolResult(id, "hello"),
		b.Result("It says hello."),
	} {
		line, err := message.Encode(m)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %d bytes\n", message.Kind(m), min(len(line), 100))
	}
	// Output:
	// assistant: 100 bytes
	// user: 100 bytes
	// result: 100 bytes
}

// A redactor is also useful alone, for logs.
func ExampleRedactor() {
	r := claudetest.NewRedactor("hunter2")
	fmt.Fprintln(os.Stdout, r.Text(`curl -H "x-api-key: abc123" https://ada:hunter2@example.com`))
	fmt.Println(string(r.JSON([]byte(`{"env":{"GITHUB_TOKEN":"abc"},"note":"hunter2"}`))))
	// Output:
	// curl -H "x-api-key: [redacted]" https://[redacted]@example.com
	// {"env":{"GITHUB_TOKEN":"[redacted]"},"note":"[redacted]"}
}
