package claudeevent_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/claudeevent"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/test/nodefold"
)

// ui2claude converts a JSON text to the JSON type of package message.
func ui2claude(text string) message.JSON { return message.JSON(text) }

// order lists the starts and stops in events, with the thread and the message.
func order(events []event.Event) []string {
	var all []string
	for _, ev := range events {
		h := ev.Head()
		at := h.ParentToolUseID + "/" + h.MessageID
		switch ev := ev.(type) {
		case *event.MessageStart:
			all = append(all, "start "+at)
		case *event.BlockStop:
			all = append(all, fmt.Sprintf("stop %s.%d %v", at, ev.Index, ev.Incomplete))
		case *event.MessageComplete:
			all = append(all, fmt.Sprintf("end %s %v", at, ev.Incomplete))
		case *event.ResultMessage:
			all = append(all, "result")
		case *event.ToolComplete:
			all = append(all, "tool "+ev.ToolUseID+" "+string(ev.ToolUseResult))
		}
	}
	return all
}

func streamLine(parent, message, event string) string {
	return fmt.Sprintf(`{"type":"stream_event","event":{%s},"session_id":"s","parent_tool_use_id":%s,"api_message_id":%q}`, event, parentJSON(parent), message)
}

func startLines(parent, message string, blocks ...int) []string {
	lines := []string{streamLine(parent, message, `"type":"message_start","message":{"id":"`+message+`"}`)}
	for _, i := range blocks {
		lines = append(lines, streamLine(parent, message, fmt.Sprintf(`"type":"content_block_start","index":%d,"content_block":{"type":"text","text":""}`, i)))
	}
	return lines
}

// A new answer first cuts off an answer without an end, its blocks in the order of their
// index.
func TestOrder_newAnswer(t *testing.T) {
	var c claudeevent.Converter
	lines := append(startLines("", "m1", 2, 0, 1), startLines("", "m2")...)
	want := []string{"start /m1", "stop /m1.0 true", "stop /m1.1 true", "stop /m1.2 true", "end /m1 true", "start /m2"}
	if diff := cmp.Diff(want, order(feed(t, &c, lines...))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A result first ends the open messages of the main loop and leaves subagents in the
// background alone: they end with the stream.
func TestOrder_result(t *testing.T) {
	var c claudeevent.Converter
	lines := append(startLines("", "m1", 0), startLines("agent", "m1", 0)...)
	events := feed(t, &c, append(lines, resultLine, streamLine("agent", "m1", `"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}`))...)
	events = append(events, c.End(nil)...)
	want := []string{"start /m1", "start agent/m1", "stop /m1.0 true", "end /m1 true", "result", "stop agent/m1.0 true", "end agent/m1 true"}
	if diff := cmp.Diff(want, order(events)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The end of the stream cuts all threads off, in the order of their names.
func TestOrder_end(t *testing.T) {
	var c claudeevent.Converter
	feed(t, &c, append(append(startLines("b", "m1", 0), startLines("a", "m1")...), startLines("", "m1")...)...)
	want := []string{"end /m1 true", "end a/m1 true", "stop b/m1.0 true", "end b/m1 true"}
	if diff := cmp.Diff(want, order(c.End(nil))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The structured output of a line belongs only to its first result.
func TestOrder_toolUseResult(t *testing.T) {
	var c claudeevent.Converter
	line := `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"1"},{"type":"tool_result","tool_use_id":"b","content":"2"}]},"tool_use_result":{"x":1}}`
	if diff := cmp.Diff([]string{`tool a {"x":1}`, "tool b "}, order(feed(t, &c, line))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Two blocks of the same type in one line are two blocks, also when the line is repeated.
func TestOrder_twoTextsInOneLine(t *testing.T) {
	line := `{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},"uuid":"u1"}`
	r := convert(t, []step{{line: line}, {line: line}})
	if got, want := outline(r.conv), ">message assistant complete [0 text complete a] [1 text complete b]\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// Stream events without a message id belong to the last started message.
func TestReader_withoutMessageID(t *testing.T) {
	log := `{"type":"stream_event","event":{"type":"message_start","message":{"id":"m1","content":[]}},"parent_tool_use_id":"p"}
{"type":"stream_event","event":{"type":"message_start","message":{"id":"m2","content":[]}}}
{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}}
{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"main"}}}
{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"sub"}},"parent_tool_use_id":"p"}`
	var c nodefold.Case
	for line := range strings.Lines(log) {
		c.Messages = append(c.Messages, []byte(strings.TrimSpace(line)))
	}
	conv := refold(t, c.Messages)
	for parent, want := range map[string]string{"": "m2 main", "p": "m1 sub"} {
		m := conv.Thread(parent).Items[0].Message
		if got := m.ID + " " + m.Block(0).Text.String(); got != want {
			t.Errorf("thread %q has %q, want %q", parent, got, want)
		}
	}
	if got := nodefold.Fold(t, []nodefold.Case{c})[""]; got.State != canonical(t, conv) {
		t.Errorf("the folds differ: %s\n%s", got.Error, diffJSON(t, canonical(t, conv), got.State))
	}
}
