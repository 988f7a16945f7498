package claude_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/seed7221b0f9/parley/internal/tape"
)

// playAnswered plays a recording to a call with its callbacks.
func playAnswered(t *testing.T, rec *recording, call *recordedCall) (input, unexpected []string, run *callRun) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		answers := newCallAnswers(call)
		opts, err := call.ClaudeOptions(callSetup{Environ: map[string]string{}, Answers: answers})
		if err != nil {
			t.Fatal(err)
		}
		player := tape.NewPlayer(rec.Processes["."], call.Hints())
		opts.Spawner = player
		run = call.Run(t.Context(), opts, answers)
		input, unexpected = player.Input(), answers.Unexpected()
	})
	return input, unexpected, run
}

// TestAnswers: the callbacks repeat the recording, also for an event without a type, and
// report which answers were not requested.
func TestAnswers(t *testing.T) {
	rec := ownRecording(t, "hook-pre-deny")
	call := &rec.Caller.Calls[0]
	call.Options["hooks"] = json.RawMessage(`{"Newer":[{"callbacks":["hook_9"],"timeout":2}],` + strings.TrimPrefix(string(call.Options["hooks"]), "{"))
	input, unexpected, run := playAnswered(t, rec, call)
	if run.Err != nil || len(unexpected) > 0 {
		t.Errorf("error %v, unexpected %q", run.Err, unexpected)
	}
	if !slices.ContainsFunc(input, func(l string) bool {
		return strings.Contains(l, `"Newer":[{"hookCallbackIds":["hook_1"],"timeout":2}]`)
	}) {
		t.Errorf("the newer hook is not registered: %q", input[0])
	}
	if !slices.ContainsFunc(input, func(l string) bool { return strings.Contains(l, `"permissionDecisionReason":"forbidden"`) }) {
		t.Errorf("the hook did not answer: %q", input)
	}
}

// TestAnswersUnexpected: an invocation that the recording does not have fails.
func TestAnswersUnexpected(t *testing.T) {
	rec := ownRecording(t, "can-deny")
	call := &rec.Caller.Calls[0]
	call.Answers[0].ToolUseID = "toolu_other"
	input, unexpected, _ := playAnswered(t, rec, call)
	if !slices.Equal(unexpected, []string{"can_use_tool Bash"}) {
		t.Errorf("unexpected: %q", unexpected)
	}
	if !slices.ContainsFunc(input, func(l string) bool { return strings.Contains(l, `"subtype":"error"`) }) {
		t.Errorf("no error answer: %q", input)
	}
}

// TestAddTool: a tool that is added while the call runs is announced.
func TestAddTool(t *testing.T) {
	rec := ownRecording(t, "mcp-text")
	call := &rec.Caller.Calls[0]
	call.Answers[0].DelayMS = 1000 // the MCP SDK gathers changes for a moment
	call.Steps = append(call.Steps, recordedStep{Do: "add_tool", When: recordedWhen{Event: "callback", Nth: 1},
		Tool: json.RawMessage(`{"name":"late","description":"d","inputSchema":{"type":"object"}}`)})
	input, _, run := playAnswered(t, rec, call)
	if run.Err != nil || len(run.NotDone) > 0 {
		t.Errorf("error %v, not done %v", run.Err, run.NotDone)
	}
	if !slices.ContainsFunc(input, func(l string) bool { return strings.Contains(l, "notifications/tools/list_changed") }) {
		t.Errorf("nothing was told: %q", input)
	}
}
