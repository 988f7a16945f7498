package claude_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/message"
)

// Start a CLI while a person is still typing the prompt.
func ExamplePrewarm() {
	ctx := context.Background()
	warm, err := claude.Prewarm(ctx, claudetest.FakeCLI("hello"))
	if err != nil {
		log.Fatal(err)
	}
	defer warm.Close() // ends it if it was not used

	result, err := warm.Run(ctx, "hi")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Result)
	_, err = warm.Run(ctx, "once more")
	fmt.Println(err)
	// Output:
	// you said hi
	// claude: already used: a warm CLI serves one conversation
}

// A conversation with a prewarmed CLI.
func ExampleWarm_Connect() {
	ctx := context.Background()
	warm, err := claude.Prewarm(ctx, claudetest.FakeCLI("hello"))
	if err != nil {
		log.Fatal(err)
	}
	client, err := warm.Connect(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	for msg, err := range client.Query(ctx, "hi") {
		if err != nil {
			log.Fatal(err)
		}
		if r, ok := msg.(*message.Result); ok {
			fmt.Println(r.Result)
		}
	}
	// Output: you said hi
}

// Opening the registry ends the processes that a crashed program has left.
func ExampleOpenRegistry() {
	dir, err := os.MkdirTemp("", "registry-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	registry, swept, err := claude.OpenRegistry(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer registry.Close()
	opts := claudetest.FakeCLI("hello")
	opts.Registry = registry
	client, err := claude.Connect(context.Background(), opts)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(swept), "left by others,", len(registry.Children()), "of ours")
	client.Close()
	fmt.Println(len(registry.Children()), "of ours")
	// Output:
	// 0 left by others, 1 of ours
	// 0 of ours
}

// The memory of the CLI and all its descendants, on Linux.
func ExampleClient_MeasureMemory() {
	client, err := claude.Connect(context.Background(), claudetest.FakeCLI("hello"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	if n, err := client.MeasureMemory(); err == nil && n > 500<<20 {
		fmt.Println("it has grown")
	}
	// Output:
}
