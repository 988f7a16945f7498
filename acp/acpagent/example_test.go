package acpagent_test

import (
	"context"
	"fmt"
	"io"

	"github.com/seed7221b0f9/parley/acp/acpagent"
	"github.com/seed7221b0f9/parley/acp/editor"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/agent/simagent"
)

// Use an agent of the protocol like any other agent. Here it runs in this process; Command names a
// program, as in []string{"gemini", "--acp"}.
func Example() {
	ended := make(chan struct{})
	provider := &acpagent.Provider{As: "example", Dial: func(context.Context, agent.Options) (io.ReadCloser, io.WriteCloser, error) {
		fromClient, toAgent := io.Pipe()
		fromAgent, toClient := io.Pipe()
		go func() {
			defer close(ended)
			// The error reports that the client has disconnected.
			_ = editor.Serve(context.Background(), fromClient, toClient, editor.Options{Provider: &simagent.Provider{Pace: -1}})
			toClient.Close()
		}()
		return fromAgent, toAgent, nil
	}}
	session, err := provider.Open(context.Background(), agent.Options{Dir: "/"})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := session.Send(context.Background(), agent.Input{Text: "tool Bash"}); err != nil {
		fmt.Println(err)
		return
	}
	for ev, err := range session.Events(context.Background()) {
		if err != nil {
			fmt.Println(err)
			break
		}
		if ask, ok := ev.(*event.PermissionRequest); ok {
			fmt.Println(provider.Name(), "asked to run a tool")
			if err := session.Answer(context.Background(), ask.RequestID, &agent.PermissionAnswer{}); err != nil {
				fmt.Println(err)
			}
		}
		if _, ok := ev.(*event.ResultMessage); ok {
			break
		}
	}
	if err := session.Close(); err != nil {
		fmt.Println(err)
	}
	<-ended
	// Output:
	// acp:example asked to run a tool
}
