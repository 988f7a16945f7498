package claudeagent_test

import (
	"context"
	"fmt"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudeagent"
	"github.com/seed7221b0f9/parley/claude/claudetest"
)

// A prompt and its answer as events. The CLI is scripted here; without a Spawner it is
// the installed one.
func Example() {
	cli := claudetest.InProcess(func(cli *claudetest.CLI) int {
		if _, err := cli.Handshake(); err != nil {
			return 1
		}
		for {
			if _, err := cli.Prompt(); err != nil {
				return 0
			}
			cli.Turn("Hello!")
		}
	})
	provider := &claudeagent.Provider{Options: claude.Options{Spawner: cli, CLIPath: "scripted"}}
	session, err := provider.Open(context.Background(), agent.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer session.Close()
	if err := session.Send(context.Background(), agent.Input{Text: "Say hello."}); err != nil {
		fmt.Println(err)
		return
	}
	for ev, err := range session.Events(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		switch ev := ev.(type) {
		case *event.UserMessage:
			fmt.Println("you:", ev.Blocks[0].Text)
		case *event.AssistantMessage:
			fmt.Println("agent:", ev.Blocks[0].Block.Text)
		case *event.ResultMessage:
			return
		}
	}
	// Output:
	// you: Say hello.
	// agent: Hello!
}
