package claudetest_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claudetest"
)

// built is one message of everything that a builder builds.
func built() []claude.Message {
	b := claudetest.NewBuilder()
	all := []claude.Message{
		b.State(claude.StateRunning), b.Lifecycle("u1", claude.CommandQueued), b.Init(), b.Status("requesting"),
		b.AssistantText("a"), b.AssistantThinking("b"), b.AssistantToolUse(b.ToolUseID(), "Bash", map[string]any{"command": "ls"}),
		b.AssistantError(claude.ErrorRateLimit, "c"), b.UserToolResult("toolu_0001", "d"), b.UserToolError("toolu_0001", "e"), b.UserText("f"),
		b.TaskStarted("t1", "local_bash", "g", "toolu_0001"), b.TaskProgress("t1", "h", claude.TaskUsage{ToolUses: 1}),
		b.TaskUpdated("t1", claude.TaskCompleted), b.TaskNotification("t1", claude.TaskCompleted, "i"),
		b.BackgroundTasks(), b.BackgroundTasks(claude.BackgroundTask{TaskID: "t1", TaskType: "local_bash"}),
		b.APIRetry(1, 529, claude.ErrorOverloaded), b.CompactBoundary("auto", 1000), b.Unknown("of_2031", map[string]any{"n": 1}),
		b.Result(""), b.ResultFailed(claude.ResultMaxTurns, "j"), b.ResultAPIError(500, "k"),
	}
	all = append(all, b.Assistant(&claude.ThinkingBlock{Thinking: "l"}, &claude.TextBlock{Text: "m"})...)
	all = append(all, b.StreamText("n", "o")...)
	return append(all, b.StreamToolUse(b.ToolUseID(), "Read", map[string]any{"file_path": "p"}, 4)...)
}

// What is built is what is decoded, has ids of its own, and is the same each time.
func TestBuilder(t *testing.T) {
	again, uuids := built(), map[string]bool{}
	for i, m := range built() {
		line, err := claude.Encode(m)
		if err != nil {
			t.Fatalf("%s: %v", claude.Kind(m), err)
		}
		decoded, err := claude.DecodeMessage(line)
		if err != nil || claude.Kind(decoded) != claude.Kind(m) {
			t.Errorf("%s: decoded as %v, %v", claude.Kind(m), decoded, err)
			continue
		}
		if id := decoded.Head().UUID; id == "" || uuids[id] || decoded.Head().SessionID == "" {
			t.Errorf("%s: uuid %q, session %q", claude.Kind(m), id, decoded.Head().SessionID)
		}
		uuids[decoded.Head().UUID] = true
		if _, unknown := decoded.(*claude.UnknownMessage); unknown && claude.Kind(m) != "of_2031" {
			t.Errorf("%s is not known", line)
		}
		if other, _ := claude.Encode(again[i]); string(other) != string(line) {
			t.Errorf("a second time gives %s, not %s", other, line)
		}
	}
}

// The parts of a stream put together are its whole message.
func TestBuilderStream(t *testing.T) {
	input := map[string]any{"file_path": "ünï.txt", "n": 1.0}
	var whole, parts string
	for _, built := range claudetest.NewBuilder().StreamToolUse("toolu_0001", "Read", input, 3) {
		line, err := claude.Encode(built)
		if err != nil {
			t.Fatal(err)
		}
		m, err := claude.DecodeMessage(line)
		if err != nil {
			t.Fatal(err)
		}
		switch m := m.(type) {
		case *claude.AssistantMessage:
			whole = string(m.Message.Content[0].(*claude.ToolUseBlock).Input)
		case *claude.StreamEventMessage:
			if e, ok := m.Event.(*claude.ContentBlockDeltaEvent); ok {
				parts += e.Delta.(*claude.InputJSONDelta).PartialJSON
			}
		}
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(parts), &got); err != nil || parts != whole {
		t.Errorf("parts %s, whole %s, %v", parts, whole, err)
	}
	if diff := cmp.Diff(input, got); diff != "" {
		t.Error(diff)
	}
}
