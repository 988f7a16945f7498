package event_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/agent/event"
)

var cost = 0.015

// compacted returns a golden file in one line.
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

// TestGolden_live creates the examples from events. A live stream adds the API's names; only these
// are removed before the comparison.
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
		want := []string{compacted(t, name)}
		if name == "message_delta" {
			want = append(want, compacted(t, "message_stop"))
		}
		got := send(t, event.NewEncoder("abc12345", numbers[name]), ev)
		for i := range got {
			got[i] = strings.Replace(got[i], `,"name":"Read"`, "", 1)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
