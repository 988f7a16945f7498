package simagent_test

import (
	"context"
	"fmt"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/agent/simagent"
)

// Run a session without a model: it asks for permission like a real agent.
func Example() {
	provider := &simagent.Provider{Pace: -1}
	session, err := provider.Open(context.Background(), agent.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer session.Close()
	if err := session.Send(context.Background(), agent.Input{Text: "tool Bash"}); err != nil {
		fmt.Println(err)
		return
	}
	for ev, err := range session.Events(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		switch ev := ev.(type) {
		case *event.PermissionRequest:
			fmt.Println("asked for", ev.ToolName)
			if err := session.Answer(context.Background(), ev.RequestID, &agent.PermissionAnswer{}); err != nil {
				fmt.Println(err)
			}
		case *event.PermissionResolved:
			fmt.Println("answered with", ev.Behavior)
		case *event.ResultMessage:
			return
		}
	}
	// Output:
	// asked for Bash
	// answered with deny
}
