package claude_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
)

// One prompt, all messages.
func ExampleQuery() {
	opts := recorded("simple-string")
	for msg, err := range claude.Query(context.Background(), "Say hello", opts) {
		if err != nil {
			log.Fatal(err)
		}
		switch msg := msg.(type) {
		case *message.Assistant:
			fmt.Println(msg.Message.Model, "says:", msg.Text())
		case *message.Result:
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

// A failed turn has a result message. If the CLI then exits with an error, the range ends
// with a ResultError.
func ExampleResultError() {
	_, err := claude.Run(context.Background(), "go", recorded("max-turns"))
	if failed, ok := errors.AsType[*message.ResultError](err); ok {
		fmt.Println(failed.Result.Subtype)
		fmt.Println(failed)
	}
	// Output:
	// error_max_turns
	// claude: error result: Reached maximum number of turns (1)
}

// Several prompts, sent one by one.
func ExampleQueryStream() {
	ask := func(ctx context.Context, send func(message.UserInput) error) error {
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
		if msg, ok := msg.(*message.Result); ok {
			fmt.Println(msg.Result)
		}
	}
	// Output:
	// A1
	// A2
}

// A conversation: connect, ask, ask again, change the model in between.
func ExampleClient() {
	ctx := context.Background()
	client, err := claude.Connect(ctx, recorded("set-model"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	fmt.Println("CLI", client.ServerInfo().ClaudeCodeVersion, "with", len(client.ServerInfo().Models), "models")
	for msg, err := range client.Query(ctx, "first") {
		if err != nil {
			log.Fatal(err)
		}
		if msg, ok := msg.(*message.Assistant); ok {
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

// All messages of a client, whichever call sent the prompt.
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
		if _, ok := msg.(*message.Result); ok {
			break
		}
		fmt.Println(message.Kind(msg))
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

// Interrupt stops the running turn; its result reports the interrupt.
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
	result, err := turn.Wait(ctx) // an interrupted turn returns its result and ErrInterrupted
	if !errors.Is(err, claude.ErrInterrupted) {
		log.Fatal(err)
	}
	fmt.Println(result.Subtype, result.TerminalReason)
	// Output:
	// still queued: 0
	// error_during_execution aborted_streaming
}

// Any control request, including those without a method.
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

// The CLI is missing: the error lists the searched places.
func ExampleCLINotFoundError() {
	_, err := claude.Run(context.Background(), "hello", &claude.Options{CLIPath: "/no/such/claude"})
	var missing *claude.CLINotFoundError
	fmt.Println(errors.Is(err, claude.ErrNotFound), errors.As(err, &missing))
	// Output: true true
}

// The answer as a Go value; the schema is derived from the type.
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

// A session that sees only its directory and the API key.
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

// Trace the events inside a session.
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
