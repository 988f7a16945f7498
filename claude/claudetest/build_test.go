package claudetest_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/message"
)

// built returns one message from each method of a builder.
func built() []message.Message {
	b := claudetest.NewBuilder()
	all := []message.Message{
		b.State(message.StateRunning), b.Lifecycle("u1", message.CommandQueued), b.Init(), b.Status("requesting"),
		b.AssistantText("a"), b.AssistantThinking("b"), b.AssistantToolUse(b.ToolUseID(), "Bash", map[string]any{"command": "ls"}),
		b.AssistantError(message.ErrorRateLimit, "c"), b.UserToolResult("toolu_0001", "d"), b.UserToolError("toolu_0001", "e"), b.UserText("f"),
		b.TaskStarted("t1", "local_bash", "g", "toolu_0001"), b.TaskProgress("t1", "h", message.TaskUsage{ToolUses: 1}),
		b.TaskUpdated("t1", message.TaskCompleted), b.TaskNotification("t1", message.TaskCompleted, "i"),
		b.BackgroundTasks(), b.BackgroundTasks(message.BackgroundTask{TaskID: "t1", TaskType: "local_bash"}),
		b.APIRetry(1, 529, message.ErrorOverloaded), b.CompactBoundary("auto", 1000), b.Unknown("of_2031", map[string]any{"n": 1}),
		b.Result(""), b.ResultFailed(message.ResultMaxTurns, "j"), b.ResultAPIError(500, "k"),
	}
	all = append(all, b.Assistant(&message.Thinking{Thinking: "l"}, &message.Text{Text: "m"})...)
	all = append(all, b.StreamText("n", "o")...)
	return append(all, b.StreamToolUse(b.ToolUseID(), "Read", map[string]any{"file_path": "p"}, 4)...)
}

// Built messages equal their decoded form, have unique ids, and are the same each time.
func TestBuilder(t *testing.T) {
	again, uuids := built(), map[string]bool{}
	for i, m := range built() {
		line, err := message.Encode(m)
		if err != nil {
			t.Fatalf("%s: %v", message.Kind(m), err)
		}
		decoded, err := message.Decode(line)
		if err != nil || message.Kind(decoded) != message.Kind(m) {
			t.Errorf("%s: decoded as %v, %v", message.Kind(m), decoded, err)
			continue
		}
		if id := decoded.Head().UUID; id == "" || uuids[id] || decoded.Head().SessionID == "" {
			t.Errorf("%s: uuid %q, session %q", message.Kind(m), id, decoded.Head().SessionID)
		}
		uuids[decoded.Head().UUID] = true
		if _, unknown := decoded.(*message.Unknown); unknown && message.Kind(m) != "of_2031" {
			t.Errorf("%s is not known", line)
		}
		if other, _ := message.Encode(again[i]); string(other) != string(line) {
			t.Errorf("a second time gives %s, not %s", other, line)
		}
	}
}

// The parts of a stream add up to its whole message.
func TestBuilderStream(t *testing.T) {
	input := map[string]any{"file_path": "ünï.txt", "n": 1.0}
	var whole, parts string
	for _, built := range claudetest.NewBuilder().StreamToolUse("toolu_0001", "Read", input, 3) {
		line, err := message.Encode(built)
		if err != nil {
			t.Fatal(err)
		}
		m, err := message.Decode(line)
		if err != nil {
			t.Fatal(err)
		}
		switch m := m.(type) {
		case *message.Assistant:
			whole = string(m.Message.Content[0].(*message.ToolUse).Input)
		case *message.StreamEvent:
			if e, ok := m.Event.(*message.ContentBlockDelta); ok {
				parts += e.Delta.(*message.InputJSONDelta).PartialJSON
			}
		}
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(parts), &got); err != nil || parts != whole {
		t.Errorf("parts %s, whole %s, %v", parts, whole, err)
	}
	if diff := cmp.Diff(input, got); diff != "" {
		t.Errorf("the values differ:\n%s", diff)
	}
}
