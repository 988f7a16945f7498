package claude_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
)

// connected returns a client that plays a recording and has had its first turn.
func connected(ctx context.Context, scenario string, prompt message.UserInput) *claude.Client {
	client, err := claude.Connect(ctx, recorded(scenario))
	if err != nil {
		log.Fatal(err)
	}
	turn, err := client.Send(ctx, prompt)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := turn.Wait(ctx); err != nil {
		log.Fatal(err)
	}
	return client
}

// Preview a rewind, then do it.
func ExampleClient_RewindFiles() {
	ctx := context.Background()
	prompt := claude.Text("go")
	prompt.UUID = "55555555-5555-4555-8555-555555555555"
	client := connected(ctx, "rewind-files", prompt)
	defer client.Close()

	plan, err := client.PreviewRewind(ctx, prompt.UUID)
	if err != nil {
		log.Fatal(err)
	}
	for _, file := range plan.FilesChanged {
		fmt.Println("changes", file)
	}
	done, err := client.RewindFiles(ctx, prompt.UUID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("rewound:", done.CanRewind)
	_, err = client.RewindFiles(ctx, "66666666-6666-4666-8666-666666666666")
	fmt.Println(err)
	// Output:
	// changes /home/dev/project/a.txt
	// changes /home/dev/project/new.txt
	// rewound: true
	// claude: control request rewind_files: No file checkpoint found for this message.
}

// Read a file as text, and with its exact bytes.
func ExampleClient_ReadFile() {
	ctx := context.Background()
	client := connected(ctx, "control-misc", claude.Text("go"))
	defer client.Close()

	file, err := client.ReadFile(ctx, "a.txt", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %q\n", file.AbsPath, file.Contents)
	file, err = client.ReadFile(ctx, "a.txt", &claude.ReadFileOptions{MaxBytes: 3, Encoding: "base64"})
	if err != nil {
		log.Fatal(err)
	}
	data, err := file.Bytes()
	fmt.Printf("%q %v, truncated: %t\n", data, err, file.Truncated)
	_, err = client.ReadFile(ctx, "nope.txt", nil)
	refused, ok := errors.AsType[*claude.ControlError](err)
	fmt.Println(ok, refused.Message)
	// Output:
	// /home/dev/project/a.txt: "file a\n"
	// "fil" <nil>, truncated: true
	// true read denied: nope.txt
}

// Disable an MCP server.
func ExampleClient_ListMCPServers() {
	ctx := context.Background()
	client := connected(ctx, "mcp-control", claude.Text("go"))
	defer client.Close()

	show := func() {
		servers, err := client.ListMCPServers(ctx)
		if err != nil {
			log.Fatal(err)
		}
		for _, s := range servers {
			fmt.Println(s.Name, s.Source, s.Status, len(s.Tools))
		}
	}
	show()
	if err := client.DisableMCPServer(ctx, "ext"); err != nil {
		log.Fatal(err)
	}
	show()
	// Output:
	// ext dynamic connected 2
	// calc sdk connected 1
	// ext dynamic disabled 0
	// calc sdk connected 1
}

// List the contents of the context window.
func ExampleClient_FetchContextUsage() {
	ctx := context.Background()
	client := connected(ctx, "introspection", claude.Text("go"))
	defer client.Close()

	if _, err := client.ListMCPServers(ctx); err != nil { // as in the recording
		log.Fatal(err)
	}
	usage, err := client.FetchContextUsage(ctx, claude.ContextDetailFull)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range usage.Categories {
		fmt.Println(c.ID, c.Kind, c.Tokens)
	}
	fmt.Printf("%d of %d\n", usage.TotalTokens, usage.MaxTokens)
	// Output:
	// skills used 2064
	// autocompact_buffer buffer 33000
	// free_space free 964936
	// 2064 of 1000000
}

// Stopping an unknown task is not an error.
func ExampleClient_StopTask() {
	ctx := context.Background()
	client := connected(ctx, "agent-stop-task", claude.Text("go"))
	defer client.Close()

	fmt.Println(client.StopTask(ctx, "a3c148fcb677ca612"))
	// Output: <nil>
}

// An unknown request returns ErrUnsupported.
func ExampleErrUnsupported() {
	ctx := context.Background()
	client := connected(ctx, "unknown-control", claude.Text("go"))
	defer client.Close()

	if _, err := client.FetchSettings(ctx); errors.Is(err, claude.ErrUnsupported) {
		fmt.Println("this CLI is too old")
	}
	// Output: this CLI is too old
}
