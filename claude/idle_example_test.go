package claude_test

import (
	"context"
	"fmt"
	"log"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
)

// working returns a client with a task in the background.
func working(ctx context.Context) *claude.Client {
	client, err := claude.Connect(ctx, claudetest.FakeCLI("worker"))
	if err != nil {
		log.Fatal(err)
	}
	for _, err := range client.Query(ctx, "run the tests behind") {
		if err != nil {
			log.Fatal(err)
		}
	}
	return client
}

// A task may still run after a result. The CLI reports its outcome in a turn that it begins by
// itself.
func ExampleClient_WaitIdle() {
	ctx := context.Background()
	client := working(ctx)
	defer client.Close()

	ended := make(chan error, 1)
	go func() { ended <- client.Control(ctx, "go_on", nil, nil) }() // the task ends some time later
	if err := client.WaitIdle(ctx); err != nil {
		log.Fatal(err)
	}
	if err := <-ended; err != nil {
		log.Fatal(err)
	}
	fmt.Println(client.View().Phase)
	// Output: idle
}

// List the tasks of a session and their subtasks.
func ExampleClient_Tasks() {
	client := working(context.Background())
	defer client.Close()

	for _, task := range client.Tasks() {
		fmt.Println(task.ID, task.Type, task.Description, task.Status, len(task.Children))
	}
	// Output: b1 local_bash make test running 0
}

// The current activity of a client, without a request to the CLI.
func ExampleClient_View() {
	client := working(context.Background())
	defer client.Close()

	view := client.View()
	fmt.Println(view.Phase, view.LiveTasks, view.Queued, len(view.Tools), view.PID > 0)
	// Output: background 1 0 0 true
}
