package codex_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/seed7221b0f9/parley/codex"
	"github.com/seed7221b0f9/parley/codex/codextest"
	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/mcptool"
)

// simulated returns options with a scripted server, so that the examples run anywhere. Real
// programs omit Path and Spawner.
func simulated(turn func(t *codextest.ServerTurn)) *codex.Options {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return &codex.Options{Path: self, Spawner: &codextest.Server{Turn: turn}}
}

func Example() {
	ctx := context.Background()
	client, err := codex.Connect(ctx, simulated(func(t *codextest.ServerTurn) { t.Say("Hello.") }))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	thread, err := client.StartThread(ctx, &codex.ThreadOptions{Sandbox: "read-only"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for n, err := range thread.Query(ctx, "Say hello") {
		if err != nil {
			fmt.Println(err)
			return
		}
		switch n := n.(type) {
		case *item.AgentMessageDelta:
			fmt.Println(n.Delta)
		case *item.TurnCompleted:
			fmt.Println(n.Turn.Status)
		}
	}
	// Output:
	// Hello.
	// completed
}

// Approve is called before a command runs outside of the sandbox, a patch is applied or a tool of
// an MCP server writes.
func ExampleOptions_approve() {
	ctx := context.Background()
	opts := simulated(func(t *codextest.ServerTurn) {
		answer, err := t.Ask(ctx, "item/commandExecution/requestApproval", map[string]any{
			"threadId": t.ThreadID, "turnId": t.TurnID, "itemId": "call_1", "command": "rm -rf build", "reason": "Clean up?",
		})
		t.Say(fmt.Sprint(string(answer), err))
	})
	opts.Approve = func(_ context.Context, a *codex.Approval) (codex.Decision, error) {
		fmt.Println(a.Kind, a.Command, a.Reason)
		return codex.AcceptForSession, nil
	}
	client, err := codex.Connect(ctx, opts)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	thread, err := client.StartThread(ctx, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := thread.Run(ctx, "Clean up")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Text)
	// Output:
	// command rm -rf build Clean up?
	// {"decision":"acceptForSession"}<nil>
}

// This example defines a tool of this process that the agent calls. It needs the experimental API.
func ExampleThreadOptions_tools() {
	ctx := context.Background()
	opts := simulated(func(t *codextest.ServerTurn) {
		answer, err := t.Ask(ctx, "item/tool/call", map[string]any{
			"threadId": t.ThreadID, "turnId": t.TurnID, "callId": "call_1", "tool": "lookup", "arguments": map[string]any{"id": "A-1"},
		})
		t.Say(fmt.Sprint(string(answer), err))
	})
	opts.Experimental = true
	client, err := codex.Connect(ctx, opts)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	type ticket struct {
		ID string `json:"id" jsonschema:"the ticket's id"`
	}
	lookup := mcptool.NewTool("lookup", "Looks a ticket up.", func(_ context.Context, t ticket) (string, error) {
		return t.ID + " is open", nil
	})
	thread, err := client.StartThread(ctx, &codex.ThreadOptions{Tools: []mcptool.Tool{lookup}})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := thread.Run(ctx, "Look")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Text)
	// Output: {"contentItems":[{"type":"inputText","text":"A-1 is open"}],"success":true}<nil>
}

// Prompts that are sent during a turn wait for its end; an interrupt stops the turn.
func ExampleThread_Send() {
	ctx := context.Background()
	client, err := codex.Connect(ctx, simulated(func(t *codextest.ServerTurn) {
		if t.Prompt == "Work" {
			<-t.Interrupted
			t.End(item.StatusInterrupted, nil)
			return
		}
		t.Say("Done with " + t.Prompt)
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	thread, err := client.StartThread(ctx, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	first, err := thread.Send(ctx, codex.Text("Work"))
	if err != nil {
		fmt.Println(err)
		return
	}
	second, err := thread.Send(ctx, codex.Text("the rest"))
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := first.Interrupt(ctx); err != nil {
		fmt.Println(err)
	}
	_, err = first.Wait(ctx)
	fmt.Println(errors.Is(err, codex.ErrInterrupted))
	result, err := second.Wait(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Text)
	// Output:
	// true
	// Done with the rest
}
