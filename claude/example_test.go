package claude_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/seed7221b0f9/parley/claude"
)

// One prompt, everything that the CLI says.
func ExampleQuery() {
	opts := recorded("simple-string")
	for msg, err := range claude.Query(context.Background(), "Say hello", opts) {
		if err != nil {
			log.Fatal(err)
		}
		switch msg := msg.(type) {
		case *claude.AssistantMessage:
			fmt.Println(msg.Message.Model, "says:", msg.Text())
		case *claude.ResultMessage:
			fmt.Printf("%d turn, $%.4f\n", msg.NumTurns, msg.TotalCostUSD)
		}
	}
	// Output:
	// claude-opus-5-5 says: Hello from fake
	// 1 turn, $0.0001
}

// One prompt, its answer.
func ExampleRun() {
	result, err := claude.Run(context.Background(), "Say hello", recorded("simple-string"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Result)
	// Output: Hello from fake
}

// A failed turn is a message first; when the CLI then exits with an error the
// range ends with one that names the result.
func ExampleResultError() {
	_, err := claude.Run(context.Background(), "go", recorded("max-turns"))
	if failed, ok := errors.AsType[*claude.ResultError](err); ok {
		fmt.Println(failed.Result.Subtype)
		fmt.Println(failed)
	}
	// Output:
	// error_max_turns
	// claude: error result: Reached maximum number of turns (1)
}

// Several prompts, sent as they come up.
func ExampleQueryStream() {
	ask := func(ctx context.Context, send func(claude.UserInput) error) error {
		for _, prompt := range []string{"one", "two"} {
			if err := send(claude.Text(prompt)); err != nil {
				return err
			}
		}
		return nil
	}
	for msg, err := range claude.QueryStream(context.Background(), ask, recorded("replay-user-messages")) {
		if err != nil {
			log.Fatal(err)
		}
		if msg, ok := msg.(*claude.ResultMessage); ok {
			fmt.Println(msg.Result)
		}
	}
	// Output:
	// A1
	// A2
}

// A conversation: connect, ask, ask again, change the model on the way.
func ExampleClient() {
	ctx := context.Background()
	client, err := claude.Connect(ctx, recorded("set-model"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	fmt.Println("CLI", client.ServerInfo().ClaudeCodeVersion, "with", len(client.Models()), "models")
	for msg, err := range client.Query(ctx, "first") {
		if err != nil {
			log.Fatal(err)
		}
		if msg, ok := msg.(*claude.AssistantMessage); ok {
			fmt.Println(msg.Text())
		}
	}
	model, err := client.SetModel(ctx, "sonnet")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("now on", model)
	// Output:
	// CLI 2.1.325 with 5 models
	// a1
	// now on claude-sonnet-5
}

// A turn as a value: send now, wait later.
func ExampleClient_Send() {
	ctx := context.Background()
	client, err := claude.Connect(ctx, recorded("simple-string"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	turn, err := client.Send(ctx, claude.Text("Say hello"))
	if err != nil {
		log.Fatal(err)
	}
	result, err := turn.Wait(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Result)
	// Output: Hello from fake
}

// All messages of a client, whoever sent the prompt.
func ExampleClient_Messages() {
	ctx := context.Background()
	client, err := claude.Connect(ctx, recorded("parallel-tools"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	messages := client.Messages(ctx)
	if _, err := client.Send(ctx, claude.Text("go")); err != nil {
		log.Fatal(err)
	}
	for msg, err := range messages {
		if err != nil {
			log.Fatal(err)
		}
		if _, ok := msg.(*claude.ResultMessage); ok {
			break
		}
		fmt.Println(claude.Kind(msg))
	}
	// Output:
	// system/init
	// assistant
	// assistant
	// assistant
	// user
	// user
	// assistant
}

// Interrupt stops the turn that is running; its result says so.
func ExampleClient_Interrupt() {
	ctx := context.Background()
	client, err := claude.Connect(ctx, recorded("interrupt-stream"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	turn, err := client.Send(ctx, claude.Text("a long story"))
	if err != nil {
		log.Fatal(err)
	}
	receipt, err := client.Interrupt(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("still queued:", len(receipt.StillQueued))
	result, err := turn.Wait(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Subtype, result.TerminalReason)
	// Output:
	// still queued: 0
	// error_during_execution aborted_streaming
}

// Any control request, also one that this package has no method for.
func ExampleClient_Control() {
	ctx := context.Background()
	client, err := claude.Connect(ctx, recorded("unknown-control"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	err = client.Control(ctx, "no_such_subtype", map[string]any{"x": 1}, nil)
	fmt.Println(errors.Is(err, claude.ErrUnsupported), err)
	// Output: true claude: control request no_such_subtype: Unsupported control request subtype: no_such_subtype
}

// Every kind of block that a conversation has.
func ExampleContentBlock() {
	for msg, err := range claude.Query(context.Background(), "go", recorded("parallel-tools")) {
		if err != nil {
			log.Fatal(err)
		}
		for _, block := range blocks(msg) {
			switch block := block.(type) {
			case *claude.TextBlock:
				fmt.Println("text:", block.Text)
			case *claude.ThinkingBlock:
				fmt.Println("thinking:", block.Thinking)
			case *claude.ToolUseBlock:
				fmt.Println("using tool:", block.Name, block.Input)
			case *claude.ToolResultBlock:
				status := "success"
				if block.IsError {
					status = "error"
				}
				fmt.Printf("tool result (%s): %s\n", status, strings.TrimSpace(block.Content.String()))
			case *claude.UnknownBlock:
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

// blocks are the blocks of whatever has some.
func blocks(msg claude.Message) []claude.ContentBlock {
	switch msg := msg.(type) {
	case *claude.AssistantMessage:
		return msg.Message.Content
	case *claude.UserMessage:
		return msg.Message.Content.Blocks()
	}
	return nil
}

// A tool's input is decoded when it is asked for.
func ExampleToolUseBlock() {
	for msg, err := range claude.Query(context.Background(), "go", recorded("tool-error")) {
		if err != nil {
			log.Fatal(err)
		}
		for _, block := range blocks(msg) {
			if use, ok := block.(*claude.ToolUseBlock); ok {
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

// Thinking, when the model is asked for it.
func ExampleThinkingBlock() {
	opts := recorded("partial-thinking")
	opts.Thinking = &claude.Thinking{Type: claude.ThinkingAdaptive}
	for msg, err := range claude.Query(context.Background(), "think", opts) {
		if err != nil {
			log.Fatal(err)
		}
		for _, block := range blocks(msg) {
			if t, ok := block.(*claude.ThinkingBlock); ok {
				fmt.Println("Claude's thinking:", t.Thinking)
			}
		}
	}
	// Output: Claude's thinking: Let me think about it.
}

// Text as it is written, with partial messages.
func ExampleStreamEventMessage() {
	opts := recorded("partial-tool")
	opts.IncludePartialMessages = true
	for msg, err := range claude.Query(context.Background(), "go", opts) {
		if err != nil {
			log.Fatal(err)
		}
		event, ok := msg.(*claude.StreamEventMessage)
		if !ok {
			continue
		}
		switch e := event.Event.(type) {
		case *claude.ContentBlockDeltaEvent:
			if d, ok := e.Delta.(*claude.TextDelta); ok {
				fmt.Print(d.Text)
			}
		case *claude.ContentBlockStopEvent:
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
	opts := recorded("partial-tool")
	opts.IncludePartialMessages = true
	var acc claude.Accumulator
	for msg, err := range claude.Query(context.Background(), "go", opts) {
		if err != nil {
			log.Fatal(err)
		}
		event, ok := msg.(*claude.StreamEventMessage)
		if !ok || !acc.Add(msg) {
			continue
		}
		if d, ok := event.Event.(*claude.ContentBlockDeltaEvent); ok {
			if _, ok := d.Delta.(*claude.InputJSONDelta); ok {
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

// Messages about the session have types of their own, and all of them the
// subtype and the whole line.
func ExampleSystemMessage() {
	for msg, err := range claude.Query(context.Background(), "go", recorded("agent-forward-text")) {
		if err != nil {
			log.Fatal(err)
		}
		switch msg := msg.(type) {
		case *claude.InitMessage:
			fmt.Println("model", msg.Model, "in", msg.CWD)
		case *claude.TaskStartedMessage:
			fmt.Println("task started:", msg.Description)
		case *claude.TaskProgressMessage:
			fmt.Println("progress:", msg.Usage.ToolUses, "tool uses")
		case *claude.TaskNotificationMessage:
			fmt.Printf("task %s: %s\n", msg.Status, msg.Summary)
		case interface{ System() *claude.SystemMessage }:
			data := msg.System().Data()
			fmt.Println("system", msg.System().Subtype, "with", len(data), "members")
		}
	}
	// Output:
	// model claude-opus-5-5 in /home/dev/project
	// system status with 5 members
	// task started: do sub
	// progress: 1 tool uses
	// system task_updated with 7 members
	// task completed: sub result
	// system status with 5 members
}

// Prompts come back with their uuid when the CLI is asked to replay them.
func ExampleUserMessage() {
	opts := recorded("replay-user-messages")
	opts.ExtraArgs = map[string]*string{"replay-user-messages": nil}
	client, err := claude.Connect(context.Background(), opts)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	messages := client.Messages(context.Background())
	for _, prompt := range []string{"one", "two"} {
		if _, err := client.Send(context.Background(), claude.Text(prompt)); err != nil {
			log.Fatal(err)
		}
	}
	client.CloseInput()
	for msg, err := range messages {
		if err != nil {
			log.Fatal(err)
		}
		if msg, ok := msg.(*claude.UserMessage); ok && msg.IsReplay {
			fmt.Println("user said:", msg.Text(), "id:", msg.UUID)
		}
	}
	// Output:
	// user said: one id: dea967d0-f8cf-41cd-ac43-8032ef6bdad4
	// user said: two id: 33333333-3333-4333-8333-333333333333
}

// What a turn took and how it ended.
func ExampleResultMessage() {
	for msg, err := range claude.Query(context.Background(), "Say hello", recorded("simple-string")) {
		if err != nil {
			log.Fatal(err)
		}
		result, ok := msg.(*claude.ResultMessage)
		if !ok {
			continue
		}
		switch {
		case !result.IsError:
			fmt.Printf("cost: $%.4f, turns: %d, stop reason: %s\n", result.TotalCostUSD, result.NumTurns, result.StopReason)
			fmt.Println("tokens:", result.Usage.InputTokens, "in,", result.Usage.OutputTokens, "out")
		case result.Subtype == claude.ResultMaxBudget:
			fmt.Println("budget exceeded!")
		default:
			fmt.Println("failed:", result.Text())
		}
	}
	// Output:
	// cost: $0.0001, turns: 1, stop reason: end_turn
	// tokens: 10 in, 5 out
}

// A message of a newer CLI is data: nothing breaks and nothing is lost.
func ExampleUnknownMessage() {
	msg, err := claude.DecodeMessage([]byte(`{"type":"from_the_future","mood":"good"}`))
	if err != nil {
		log.Fatal(err)
	}
	if unknown, ok := msg.(*claude.UnknownMessage); ok {
		fmt.Println(unknown.Type)
		fmt.Println(string(unknown.Raw()))
	}
	// Output:
	// from_the_future
	// {"type":"from_the_future","mood":"good"}
}

// The CLI is missing: the error says where it was looked for.
func ExampleCLINotFoundError() {
	_, err := claude.Run(context.Background(), "hello", &claude.Options{CLIPath: "/no/such/claude"})
	var missing *claude.CLINotFoundError
	fmt.Println(errors.Is(err, claude.ErrNotFound), errors.As(err, &missing))
	// Output: true true
}

// The answer as a Go value; the schema follows from the type.
func ExampleRunJSON() {
	type answer struct {
		Answer int `json:"answer"`
	}
	value, _, err := claude.RunJSON[answer](context.Background(), "What is 6 times 7?", recorded("structured-ok"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(value.Answer)
	// Output: 42
}

// A session that sees nothing of the machine but its directory and the API key.
func ExampleIsolation() {
	opts := recorded("simple-string")
	opts.Isolation = &claude.Isolation{}
	result, err := claude.Run(context.Background(), "Say hello", opts)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Result)
	// Output: Hello from fake
}

// What happens inside a session, and when.
func ExampleTrace() {
	opts := recorded("simple-string")
	opts.Trace = &claude.Trace{
		Handshake:    func(t claude.HandshakeTrace) { fmt.Println("connected to CLI", t.Version) },
		FirstMessage: func(t claude.FirstMessageTrace) { fmt.Println("first message:", t.Kind) },
		Exit:         func(t claude.ExitTrace) { fmt.Println("ended:", t.Err) },
	}
	if _, err := claude.Run(context.Background(), "Say hello", opts); err != nil {
		log.Fatal(err)
	}
	// Unordered output:
	// connected to CLI 2.1.325
	// first message: system/init
	// ended: <nil>
}
