package hook_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"github.com/seed7221b0f9/parley/claude/hook"
	"github.com/seed7221b0f9/parley/claude/message"
)

// FuzzCall calls a hook with arbitrary input from a CLI. Every JSON object reaches the hook, and the answer is
// JSON.
func FuzzCall(f *testing.F) {
	for _, text := range []string{
		`{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t"}`,
		`{"hook_event_name":"PreToolUse","tool_name":7,"new":[1]}`, `{}`, `null`, `[]`, `{`, ``, `7`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		called := false
		table := hook.NewTable(&hook.Hooks{PreToolUse: hook.On("", func(_ context.Context, in *hook.PreToolUseInput) (*hook.PreToolUseOutput, error) {
			called = true
			return &hook.PreToolUseOutput{}, nil
		})}, 0)
		var id string
		for _, r := range table.Events[hook.PreToolUse] {
			id = r.HookCallbackIDs[0]
		}
		var work sync.WaitGroup
		answer, found, err := table.Call(t.Context(), id, hook.Invocation{Input: message.JSON(text), Start: work.Go,
			Panicked: func(v any, _ []byte) { t.Errorf("panic: %v", v) }})
		work.Wait()
		if !found {
			t.Fatal("the hook was not found")
		}
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(text), &object) == nil && object != nil && !called {
			t.Fatalf("%q: not called: %v", text, err)
		}
		if err == nil && !json.Valid(answer) {
			t.Fatalf("%q: the answer is %q", text, answer)
		}
	})
}
