package acptest_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed7221b0f9/parley/acp/acptest"
)

// A scripted client talks to a scripted agent, which asks for permission.
func Example() {
	agent := &acptest.Agent{Exchanges: []acptest.Exchange{
		acptest.On("initialize", acptest.Reply(map[string]any{"protocolVersion": 1})),
		acptest.On("session/new", acptest.Reply(map[string]string{"sessionId": "s"})),
		acptest.On("session/prompt",
			acptest.Call(1, "session/request_permission", map[string]any{"sessionId": "s", "toolCall": map[string]string{"toolCallId": "t", "title": "rm -rf build"}}),
			acptest.Answered(1),
			acptest.Say("s", "Done."),
			acptest.Reply(map[string]string{"stopReason": "end_turn"}),
		),
	}}
	client := &acptest.Client{Answer: func(_ context.Context, method string, params json.RawMessage) (any, error) {
		fmt.Println(method, string(params))
		return map[string]any{"outcome": map[string]string{"outcome": "cancelled"}}, nil
	}}
	client.Connect(agent.Dial())
	ctx := context.Background()
	for _, method := range []string{"initialize", "session/new", "session/prompt"} {
		var result json.RawMessage
		if err := client.Call(ctx, method, map[string]any{}, &result); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(method, string(result))
	}
	fmt.Println(len(client.Updates()), "update")
	if err := client.Close(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// initialize {"protocolVersion":1}
	// session/new {"sessionId":"s"}
	// session/request_permission {"sessionId":"s","toolCall":{"title":"rm -rf build","toolCallId":"t"}}
	// session/prompt {"stopReason":"end_turn"}
	// 1 update
}
