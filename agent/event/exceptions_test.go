package event_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/agent/event"
)

// TestExceptions covers the events that are not encoded as exactly one message with the event's
// members. It compares the messages of each event, and the events decoded from them, with a golden
// file.
func TestExceptions(t *testing.T) {
	h := event.Header{Provider: "claude", SessionID: "s", MessageID: "m", ParentToolUseID: "p", UUID: "u"}
	one := int64(1)
	var b strings.Builder
	for _, ev := range []event.Event{
		&event.MessageStart{Header: h, Model: "x", Message: `{"id":"m","type":"message","model":"x","content":[],"usage":{"input_tokens":1}}`},
		&event.TextStart{Header: h, Index: 1},
		&event.ThinkingStart{Header: h, Index: 2, Summary: true},
		&event.ToolStart{Header: h, Index: 3, ToolUseID: "t", Name: "Bash", BlockType: "tool_use", Title: "List", Kind: "execute"},
		&event.BlockStart{Header: h, Index: 4, BlockType: "redacted_thinking", Block: `{"type":"redacted_thinking","data":"x"}`},
		&event.BlockStart{Header: h, Index: 5, BlockType: "future", Block: `{"type":"future"}`},
		&event.TextDelta{Header: h, Index: 1, Text: "text"},
		&event.ThinkingDelta{Header: h, Index: 2, Thinking: "thought"},
		&event.ToolInputDelta{Header: h, Index: 3, ToolUseID: "t", PartialJSON: `{"command`},
		&event.ToolInputComplete{Header: h, Index: 3, ToolUseID: "t", Input: `{"command":"ls"}`},
		&event.BlockDelta{Header: h, Index: 2, DeltaType: "signature_delta", Delta: `{"type":"signature_delta","signature":"s"}`},
		&event.BlockDelta{Header: h, Index: 2, DeltaType: "future_delta", Delta: `{"type":"future_delta"}`},
		&event.BlockStop{Header: h, Index: 1, Incomplete: true},
		&event.MessageDelta{Header: h, StopReason: "end_turn", Usage: `{"output_tokens":1}`},
		&event.MessageComplete{Header: h, StopReason: "end_turn", Usage: `{"output_tokens":1}`},
		&event.MessageComplete{Header: h, Incomplete: true, AbandonedFrom: &one},
		&event.UnknownStream{Header: h, OriginalType: "future_event", Data: `{"type":"future_event"}`},
		&event.AssistantMessage{Header: h, Model: "x", StopReason: "tool_use", Blocks: []event.IndexedBlock{
			{Index: 1, Block: event.TextContent("text")},
			{Index: 3, Block: event.Content{Type: "tool_use", ToolUseID: "t", Name: "Bash", Input: `{"command":"ls"}`}},
		}},
		&event.UserMessage{Header: h, IsPrompt: true, Blocks: []event.Content{event.TextContent("hello")}},
		&event.ToolComplete{Header: h, ToolUseID: "t", Content: `"out"`, ToolUseResult: `{"stdout":"out"}`},
		&event.ToolProgress{Header: h, ToolUseID: "t", ToolName: "Bash", ElapsedSeconds: 1, Output: "out"},
	} {
		fmt.Fprintf(&b, "%T\n", ev)
		plain := send(t, event.NewEncoder("00000000", 0), ev)
		lines := send(t, event.NewEncoder("00000000", 0, event.CapabilityOutputDelta), ev)
		if len(plain) != len(lines) {
			b.WriteString("  with " + event.CapabilityOutputDelta + ":\n")
		}
		show(t, &b, lines)
	}
	b.WriteString("a user message with two results and a text\n")
	show(t, &b, []string{`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"a","is_error":false},` +
		`{"type":"tool_result","tool_use_id":"t2","is_error":true},{"type":"text","text":"x"}]},"tool_use_result":{"a":1},"provider":"claude"}`})
	file := filepath.Join("testdata", "exceptions.golden")
	want, err := os.ReadFile(file)
	if os.Getenv("UPDATE") != "" {
		err = os.WriteFile(file, []byte(b.String()), 0o644)
	} else if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// show writes messages and the types of the events that they decode to.
func show(t *testing.T, b *strings.Builder, lines []string) {
	t.Helper()
	var d event.Decoder
	for _, line := range lines {
		fmt.Fprintf(b, "  %s\n", line)
		events, err := d.Decode([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		for _, ev := range events {
			fmt.Fprintf(b, "    → %T\n", ev)
		}
	}
}
