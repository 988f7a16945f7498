package agent_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/agent/event"
)

// Drive any agent through the interfaces. The scripted one replaces Claude or Codex here.
func Example() {
	var provider agent.Provider = &agenttest.Provider{}
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
			if err := session.Answer(context.Background(), ev.RequestID, &agent.PermissionAnswer{Allow: true}); err != nil {
				fmt.Println(err)
			}
		case *event.ToolComplete:
			fmt.Println("the tool said", ev.Content)
		case *event.ResultMessage:
			fmt.Println("error:", ev.IsError)
			return
		}
	}
	// Output:
	// asked for Bash
	// the tool said "done"
	// error: false
}

// An agent without a field for notes gets them as a part of the answer.
func ExampleQuestionAnswer_Joined() {
	answer := &agent.QuestionAnswer{
		Answers: json.RawMessage(`{"Which colour?":"Red"}`),
		Notes:   map[string]string{"Which colour?": "but pale"},
	}
	fmt.Println(string(answer.Joined()))
	// Output: {"Which colour?":"Red, but pale"}
}
