package api_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
)

var cost = 0.015

// golden are the examples of the message format, as values.
var golden = map[string]api.Message{
	"text_delta": &api.StreamEvent{UUID: "evt-abc12345-1", SessionID: "sess-xyz", Provider: "claude",
		Event: &api.ContentBlockDeltaEvent{Index: 0, Delta: &api.TextDelta{Text: "Hello"}}},
	"tool_start": &api.StreamEvent{UUID: "evt-abc12345-2", SessionID: "sess-xyz", Provider: "claude",
		Event: &api.ContentBlockStartEvent{Index: 1, ContentBlock: &api.ToolUseBlock{
			ID: "toolu_xxx", ToolName: "Read", ToolType: "CLAUDE_READ", Status: "in_progress"}}},
	"tool_result": &api.UserMessage{Provider: "claude", Message: api.Content{Content: []api.ContentBlock{
		&api.ToolResultBlock{ToolUseID: "toolu_xxx", Content: `"file contents here..."`}}}},
	"message_delta": &api.StreamEvent{UUID: "evt-abc12345-10", SessionID: "sess-xyz", Provider: "claude",
		Event: &api.MessageDeltaEvent{Delta: `{"stop_reason":"end_turn"}`, Usage: `{"output_tokens":150}`}},
	"message_stop": &api.StreamEvent{UUID: "evt-abc12345-11", SessionID: "sess-xyz", Provider: "claude",
		Event: &api.MessageStopEvent{}},
	"result": &api.ResultMessage{Subtype: "success", DurationMS: 1234, DurationAPIMS: 456, NumTurns: 2,
		SessionID: "sess-xyz", TotalCostUSD: &cost, Provider: "claude"},
}

// compacted is a golden file in one line.
func compacted(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "golden", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := json.Compact(&b, data); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "golden", "*.json"))
	if err != nil || len(files) != len(golden)+len(goldenEvents) {
		t.Fatalf("%d golden files for %d values and %d events, %v", len(files), len(golden), len(goldenEvents), err)
	}
	for name, value := range golden {
		t.Run(name, func(t *testing.T) {
			want := compacted(t, name)
			got, err := api.Encode(value)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != want {
				t.Errorf("encoded:\n%s\nwant:\n%s", got, want)
			}
			back, err := api.Decode([]byte(want))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(value, back); diff != "" {
				t.Errorf("decoded (-want +got):\n%s", diff)
			}
			again, err := json.Marshal(value)
			if err != nil || string(again) != want {
				t.Errorf("json.Marshal gives %s, %v", again, err)
			}
		})
	}
}

// api.TestGolden_live makes the examples from events. A live stream adds the API's names
// of things: they are taken off before the comparison, and nothing else is.
func TestGolden_live(t *testing.T) {
	h := event.Header{Provider: "claude", SessionID: "sess-xyz"}
	tests := map[string]event.Event{
		"text_delta":  &event.TextDelta{Header: h, Text: "Hello"},
		"tool_start":  &event.ToolStart{Header: h, Index: 1, ToolUseID: "toolu_xxx", Name: "Read", BlockType: "tool_use"},
		"tool_result": &event.ToolComplete{Header: event.Header{Provider: "claude"}, ToolUseID: "toolu_xxx", Content: `"file contents here..."`},
		"message_delta": &event.MessageComplete{Header: h, StopReason: "end_turn", Usage: `{"output_tokens":150}`,
			Delta: `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":150}}`},
		"result": &event.ResultMessage{Header: h, Subtype: "success", DurationMS: 1234, DurationAPIMS: 456, NumTurns: 2, TotalCostUSD: &cost},
	}
	numbers := map[string]uint64{"text_delta": 0, "tool_start": 1, "message_delta": 9}
	for name, ev := range tests {
		messages := api.NewConverter("abc12345", numbers[name]).Messages(ev)
		want := []string{compacted(t, name)}
		if name == "message_delta" {
			want = append(want, compacted(t, "message_stop"))
		}
		var got []string
		for _, m := range messages {
			if s, ok := m.(*api.StreamEvent); ok {
				if start, ok := s.Event.(*api.ContentBlockStartEvent); ok {
					start.ContentBlock.(*api.ToolUseBlock).Name = ""
				}
			}
			line, err := api.Encode(m)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(line))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
