package event_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/claudeevent"
	"github.com/seed7221b0f9/parley/claude/message"
)

// send encodes events and returns the JSON of their messages.
func send(t *testing.T, c *event.Encoder, events ...event.Event) []string {
	t.Helper()
	var lines []string
	for _, ev := range events {
		messages, err := c.Messages(ev)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range messages {
			lines = append(lines, string(m))
		}
	}
	return lines
}

// TestToolProgress_isOutput checks that a tool's progress is sent as output, not as input or text.
func TestToolProgress_isOutput(t *testing.T) {
	progress := &event.ToolProgress{Header: event.Header{Provider: "claude"}, ToolUseID: "toolu_1", ToolName: "Bash", ElapsedSeconds: 2.5, Output: "42% done"}
	if got := send(t, event.NewEncoder("00000000", 0), progress); len(got) != 0 {
		t.Errorf("a client that did not ask for it gets %q", got)
	}
	got := send(t, event.NewEncoder("00000000", 0, event.CapabilityOutputDelta), progress)
	want := []string{`{"type":"tool_progress","tool_use_id":"toolu_1","tool_name":"Bash","elapsed_time_seconds":2.5,"output_delta":"42% done","provider":"claude"}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a client that asked for it (-want +got):\n%s", diff)
	}
}

// TestToolComplete_hasItsResult checks that a tool result is a user message with a complete
// tool_result block.
func TestToolComplete_hasItsResult(t *testing.T) {
	got := send(t, event.NewEncoder("00000000", 0), &event.ToolComplete{
		Header: event.Header{Provider: "claude", ParentToolUseID: "toolu_0", UUID: "u1", SessionID: "s"}, ToolUseID: "toolu_1", IsError: true,
		Content: `[{"type":"text","text":"no"},{"type":"image","source":{"type":"base64","data":"AAAA"}}]`, ToolUseResult: `"Error: no"`,
	})
	want := []string{`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"toolu_1",` +
		`"content":[{"type":"text","text":"no"},{"type":"image","source":{"type":"base64","data":"AAAA"}}],"is_error":true}]},` +
		`"parent_tool_use_id":"toolu_0","tool_use_result":"Error: no","uuid":"u1","session_id":"s","provider":"claude"}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestMessageComplete_isTwoEvents checks that the end of a message is two events, also if the wire had only one of them.
func TestMessageComplete_isTwoEvents(t *testing.T) {
	one := int64(1)
	for _, ev := range []*event.MessageComplete{
		{StopReason: "end_turn", Usage: `{"output_tokens":1}`},
		{Delta: `{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":2},"context_management":null}`, StopReason: "tool_use"},
		{Usage: `{"output_tokens":3}`},
		{},
		{Incomplete: true},
		{AbandonedFrom: &one},
	} {
		got := send(t, event.NewEncoder("00000000", 0), ev)
		if len(got) != 2 || !strings.Contains(got[0], `"event":{"type":"message_delta"`) || !strings.Contains(got[1], `"event":{"type":"message_stop"`) {
			t.Errorf("%+v gives %q", ev, got)
		}
		if ev.Usage != "" && !strings.Contains(got[0], `"usage":`+string(ev.Usage)) {
			t.Errorf("the usage is not in %s", got[0])
		}
		if ev.StopReason != "" && !strings.Contains(got[0], `"stop_reason":"`+ev.StopReason+`"`) {
			t.Errorf("the stop reason is not in %s", got[0])
		}
	}
}

// TestIndexes checks that indexes are those of the API: two tools and the text between them keep
// their indexes, and equal indexes of two threads stay separate.
func TestIndexes(t *testing.T) {
	lines := `{"type":"stream_event","event":{"type":"message_start","message":{"id":"m1","model":"x","content":[]}},"session_id":"s","parent_tool_use_id":null}
{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t0","name":"Read","input":{}}},"session_id":"s","parent_tool_use_id":null,"api_message_id":"m1"}
{"type":"stream_event","event":{"type":"message_start","message":{"id":"m2","model":"x","content":[]}},"session_id":"s","parent_tool_use_id":"t0"}
{"type":"stream_event","event":{"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}},"session_id":"s","parent_tool_use_id":null,"api_message_id":"m1"}
{"type":"stream_event","event":{"type":"content_block_start","index":2,"content_block":{"type":"thinking","thinking":""}},"session_id":"s","parent_tool_use_id":"t0"}
{"type":"stream_event","event":{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"main"}},"session_id":"s","parent_tool_use_id":null,"api_message_id":"m1"}
{"type":"stream_event","event":{"type":"content_block_delta","index":2,"delta":{"type":"thinking_delta","thinking":"sub"}},"session_id":"s","parent_tool_use_id":"t0"}
{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}},"session_id":"s","parent_tool_use_id":null,"api_message_id":"m1"}`
	var c claudeevent.Converter
	var conv event.Conversation
	to := event.NewEncoder("00000000", 0)
	index := regexp.MustCompile(`"index":(\d+).*?"(?:text|thinking|input_json)_delta"`)
	var indexes []string
	for line := range strings.Lines(lines) {
		m, err := message.Decode([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		for _, ev := range c.Add(m) {
			conv.Apply(ev)
			for _, out := range send(t, to, ev) {
				if m := index.FindStringSubmatch(out); m != nil {
					indexes = append(indexes, m[1])
				}
			}
		}
	}
	if diff := cmp.Diff([]string{"2", "2", "0"}, indexes); diff != "" {
		t.Errorf("the indexes of the deltas (-want +got):\n%s", diff)
	}
	if got := conv.Thread("").Items[0].Message.Block(2).Text.String(); got != "main" {
		t.Errorf("block 2 of the main thread is %q", got)
	}
	if got := conv.Thread("t0").Items[0].Message.Block(2).Text.String(); got != "sub" {
		t.Errorf("block 2 of the subagent is %q", got)
	}
}

// TestUnknown_hasOneShape checks that unknown messages, events, deltas and blocks have one shape.
func TestUnknown_hasOneShape(t *testing.T) {
	lines := `{"type":"future_message","x":1}
{"type":"stream_event","event":{"type":"future_event","x":1},"session_id":"s"}
{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"future_delta","x":1}},"session_id":"s","api_message_id":"m"}
{"type":"assistant","message":{"id":"m","content":[{"type":"future_block","x":1}]}}`
	want := []string{
		`{"type":"unknown","originalType":"future_message","data":{"type":"future_message","x":1},`,
		`"event":{"type":"unknown","originalType":"future_event","data":{"type":"future_event","x":1}}`,
		`"delta":{"type":"unknown","originalType":"future_delta","data":{"type":"future_delta","x":1}}`,
		`"content":[{"type":"unknown","originalType":"future_block","data":{"type":"future_block","x":1}}]`,
	}
	var c claudeevent.Converter
	to := event.NewEncoder("00000000", 0)
	var all []string
	for line := range strings.Lines(lines) {
		m, err := message.Decode([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, send(t, to, c.Add(m)...)...)
	}
	for _, w := range want {
		if !strings.Contains(strings.Join(all, "\n"), w) {
			t.Errorf("nothing has %s in\n%s", w, strings.Join(all, "\n"))
		}
	}
	// Types of a newer server decode to the same shape.
	got, err := new(event.Decoder).Decode([]byte(`{"type":"newer","x":{"a":1}}`))
	if diff := cmp.Diff([]event.Event{&event.Unknown{OriginalType: "newer", Data: `{"type":"newer","x":{"a":1}}`}}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestUUIDs(t *testing.T) {
	c := event.NewEncoder("0badcafe", 41)
	shape := regexp.MustCompile(`^\{"type":"stream_event","uuid":"(evt-[0-9a-f]{8}-[0-9]+)"`)
	seen := map[string]bool{}
	for i := range 10_000 {
		var ev event.Event = &event.TextDelta{Text: "x"}
		if i%2 == 0 {
			ev = &event.BlockStop{}
		}
		found := shape.FindStringSubmatch(send(t, c, ev)[0])
		if found == nil || seen[found[1]] {
			t.Fatalf("uuid %q is of another shape or was used before", found)
		}
		seen[found[1]] = true
	}
	if !seen["evt-0badcafe-42"] || !seen["evt-0badcafe-10041"] || c.Last() != 10041 {
		t.Error("the count does not continue where it was")
	}
}

// TestDelta_isMessage compares the fast path for deltas with the tables.
func TestDelta_isMessage(t *testing.T) {
	h := event.Header{SessionID: "s\u2028\"", ParentToolUseID: "p", MessageID: "m", Provider: "x"}
	for _, ev := range []event.Event{
		&event.TextDelta{Header: h, Index: 3, Text: "a\x00<b>\n"},
		&event.ThinkingDelta{Header: h, Thinking: "…"},
		&event.ToolInputDelta{Index: 1, PartialJSON: `{"a`},
	} {
		quick := send(t, event.NewEncoder("00000000", 0), ev)[0]
		lines, err := event.NewEncoder("00000000", 0).AppendLines(nil, ev)
		if err != nil || string(lines) != quick+"\n" {
			t.Errorf("AppendLines gives %s, Messages %s, %v", lines, quick, err)
		}
		back, err := new(event.Decoder).Decode([]byte(quick))
		if diff := cmp.Diff([]event.Event{ev}, back); err != nil || diff != "" {
			t.Errorf("decoded: %v (-want +got):\n%s", err, diff)
		}
		slow, err := new(event.Decoder).Decode([]byte(" " + quick)) // not the form of the fast path
		if diff := cmp.Diff(back, slow); err != nil || diff != "" {
			t.Errorf("by the tables: %v (-quick +slow):\n%s", err, diff)
		}
		both, ok := event.Join(ev, ev)
		if !ok {
			t.Fatalf("%T does not join", ev)
		}
		joined, ok := event.Reframe([]byte(quick), both)
		if !ok || !strings.HasPrefix(string(joined), `{"type":"stream_event","uuid":"evt-00000000-1","session_id":`) {
			t.Errorf("joined: %s", joined)
		}
	}
	a, b := &event.TextDelta{Index: 1, Text: "a"}, &event.TextDelta{Index: 2, Text: "b"}
	if _, ok := event.Join(a, b); ok {
		t.Error("deltas of two blocks were joined")
	}
	if _, ok := event.Join(a, &event.ThinkingDelta{Index: 1}); ok {
		t.Error("deltas of two kinds were joined")
	}
}
