package claudeagent

import (
	"slices"
	"testing"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/claude/message"
)

// TestMeter checks that each answer is reported once: a streamed one at its end with its
// output, one of a subagent with its first line.
func TestMeter(t *testing.T) {
	lines := []string{
		`{"type":"stream_event","event":{"type":"message_start","message":{"id":"m1","model":"big","usage":{"input_tokens":10,"cache_creation_input_tokens":7,"cache_creation":{"ephemeral_1h_input_tokens":5,"ephemeral_5m_input_tokens":2},"output_tokens":1}}}}`,
		`{"type":"assistant","message":{"id":"m1","model":"big","usage":{"input_tokens":10,"output_tokens":1},"content":[]}}`,
		`{"type":"stream_event","event":{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":50}}}`,
		`{"type":"stream_event","event":{"type":"message_stop"}}`,
		`{"type":"assistant","parent_tool_use_id":"t1","message":{"id":"m2","model":"small","usage":{"input_tokens":20,"cache_read_input_tokens":3,"output_tokens":2},"content":[]}}`,
		`{"type":"assistant","parent_tool_use_id":"t1","message":{"id":"m2","model":"small","usage":{"input_tokens":20,"cache_read_input_tokens":3,"output_tokens":2},"content":[]}}`,
		`{"type":"assistant","message":{"id":"m1","model":"big","usage":{"input_tokens":10,"output_tokens":1},"content":[]}}`,
		`{"type":"assistant","error":"rate_limit","message":{"id":"m3","model":"<synthetic>","usage":{"input_tokens":0,"output_tokens":0},"content":[]}}`,
	}
	var got []agent.Used
	m := meter{report: func(u agent.Used) { got = append(got, u) }}
	for _, line := range lines {
		msg, err := message.Decode([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		m.add(msg)
	}
	want := []agent.Used{
		{MessageID: "m1", Model: "big", Tokens: agent.Tokens{Input: 10, Output: 50, CacheWrite5m: 2, CacheWrite1h: 5}},
		{MessageID: "m2", ParentToolUseID: "t1", Model: "small", Tokens: agent.Tokens{Input: 20, Output: 2, CacheRead: 3}},
	}
	if !slices.Equal(got, want) {
		t.Errorf("reported %+v, want %+v", got, want)
	}
	if n := want[0].Total(); n != 67 {
		t.Errorf("the sum is %d", n)
	}
}
