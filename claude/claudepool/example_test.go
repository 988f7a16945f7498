package claudepool_test

import (
	"context"
	"fmt"
	"log"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudepool"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/message"
)

// A service keeps CLIs ready and replaces those that have grown.
func ExamplePool() {
	ctx := context.Background()
	pool := claudepool.New(claudepool.Options{
		Min: 1, Max: 20,
		Recycle: claudepool.Recycle{Memory: 2 << 30},
	})
	defer pool.Close() // waits for everything

	opts := claudetest.FakeCLI("hello")
	opts.Tenant = "acme" // tenants never share a process
	if err := pool.Warm(ctx, opts); err != nil {
		log.Fatal(err)
	}
	conversation, err := pool.Connect(ctx, opts)
	if err != nil {
		log.Fatal(err)
	}
	defer conversation.Close()
	for msg, err := range conversation.Query(ctx, "hi") {
		if err != nil {
			log.Fatal(err)
		}
		if r, ok := msg.(*message.Result); ok {
			fmt.Println(r.Result, conversation.Warm())
		}
	}
	// Output: you said hi true
}

// At most four CLIs at once, shared fairly between tenants.
func ExampleAdmission() {
	admission := claudepool.NewAdmission(4)
	opts := claudetest.FakeCLI("hello")
	opts.Admission, opts.Tenant = admission, "acme"
	client, err := claude.Connect(context.Background(), opts) // waits for a place
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(admission.State().Held)
	client.Close()
	fmt.Println(admission.State().Held)
	// Output:
	// 1
	// 0
}
