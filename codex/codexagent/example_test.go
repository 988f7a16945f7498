package codexagent_test

import (
	"context"
	"fmt"
	"os"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/codex"
	"github.com/seed7221b0f9/parley/codex/codexagent"
	"github.com/seed7221b0f9/parley/codex/codextest"
)

// Send a prompt and read the answer as events. This example uses a scripted program; without a
// Spawner the installed one is used.
func Example() {
	self, err := os.Executable() // an existing path
	if err != nil {
		fmt.Println(err)
		return
	}
	scripted := &codextest.Server{Turn: func(t *codextest.ServerTurn) { t.Say("Hello!") }}
	provider := &codexagent.Provider{Options: codex.Options{Path: self, Spawner: scripted}}
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
		case *event.AssistantMessage:
			fmt.Println("agent:", ev.Blocks[0].Block.Text)
		case *event.ResultMessage:
			return
		}
	}
	// Output:
	// agent: Hello!
}
