package session

import (
	"fmt"
	"slices"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
)

// TestStream_abandoned checks which blocks of a message are kept when it ends: those before the first
// abandoned one, while those of other messages stay open.
func TestStream_abandoned(t *testing.T) {
	other := event.Header{MessageID: "other"}
	for from := int64(-1); from <= 3; from++ {
		h := event.Header{MessageID: "m"}
		s := &stream{}
		s.durable(&event.MessageStart{Header: h})
		for i := range int64(3) {
			s.add(&event.TextStart{Header: h, Index: i})
			s.add(&event.TextDelta{Header: h, Index: i, Text: fmt.Sprint("text ", i)})
		}
		s.add(&event.TextStart{Header: other, Index: 2})
		end := &event.MessageComplete{Header: h}
		want := []int64{0, 1, 2}
		if from >= 0 {
			end.AbandonedFrom = &from
			want = want[:from]
		}
		var got []int64
		for _, ev := range s.durable(end) {
			if start, ok := ev.(*event.TextStart); ok {
				if start.Text != fmt.Sprint("text ", start.Index) {
					t.Errorf("block %d is kept as %q", start.Index, start.Text)
				}
				got = append(got, start.Index)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("abandoned from %d: blocks %v are kept, want %v", from, got, want)
		}
		if len(s.blocks) != 1 || len(s.open) != 0 {
			t.Errorf("abandoned from %d: %d blocks and %d messages are open, want the block of the other message", from, len(s.blocks), len(s.open))
		}
	}
}

// After each prefix of a stream, the stored records and the items of restart fold to the same
// conversation as all events, for each kind of block, with or without its start.
func TestStream_restart(t *testing.T) {
	h := event.Header{MessageID: "m"}
	kinds := map[string][]event.Event{ // the start, then the rest
		"text":     {&event.TextStart{Header: h, Text: "a"}, &event.TextDelta{Header: h, Text: "b"}, &event.TextDelta{Header: h, Text: "c"}},
		"thinking": {&event.ThinkingStart{Header: h, Thinking: "a"}, &event.ThinkingDelta{Header: h, Thinking: "b"}, &event.ThinkingDelta{Header: h, Thinking: "c"}},
		"tool":     {&event.ToolStart{Header: h, ToolUseID: "t", Name: "Bash", BlockType: "tool_use"}, &event.ToolInputDelta{Header: h, ToolUseID: "t", PartialJSON: `{"a":`}, &event.ToolInputDelta{Header: h, ToolUseID: "t", PartialJSON: `1}`}},
		"other":    {&event.BlockStart{Header: h, BlockType: "citation", Block: `{"type":"citation"}`}, &event.BlockDelta{Header: h, Delta: `{"type":"x","n":1}`}, &event.BlockDelta{Header: h, Delta: `{"type":"x","n":2}`}},
	}
	whole := map[string]event.Content{"text": event.TextContent("abc"), "thinking": {Type: "thinking", Text: "abc"}}
	for name, kind := range kinds {
		for _, missed := range []bool{false, true} {
			script := append([]event.Event{&event.MessageStart{Header: h}}, kind...)
			if missed {
				script = slices.Delete(script, 1, 2)
			}
			script = append(script, &event.BlockStop{Header: h}, &event.TextDelta{Header: h, Index: 1, Text: "more"})
			if c, ok := whole[name]; ok {
				script = append(script, &event.AssistantMessage{Header: h, Blocks: []event.IndexedBlock{{Index: 0, Block: c}}})
			}
			script = append(script, &event.MessageComplete{Header: h})
			for n := 1; n <= len(script); n++ {
				var all, restarted event.Conversation
				s := &stream{}
				for _, ev := range script[:n] {
					all.Apply(ev)
					if isDelta(ev) {
						s.add(ev)
						continue
					}
					for _, before := range s.durable(ev) {
						restarted.Apply(before)
					}
					restarted.Apply(ev)
				}
				rest := s.restart()
				for _, ev := range rest {
					restarted.Apply(ev)
				}
				if got, want := encodedConversation(t, &restarted), encodedConversation(t, &all); got != want && n < len(script) {
					t.Errorf("%s, without its start %v, after %d events: the conversation is\n%s\nwant\n%s", name, missed, n, got, want)
				}
				if _, ok := script[n-1].(*event.AssistantMessage); ok && len(rest) != 1 {
					t.Errorf("%s, without its start %v: %d events are left after the message, want the other block", name, missed, len(rest))
				}
			}
		}
	}
}

// The end of a turn keeps every open block: its text, once, with one end, which is marked if the agent has not ended the block. A restarted
// block replaces the earlier one.
func TestStream_cut(t *testing.T) {
	h := event.Header{MessageID: "m"}
	s := &stream{}
	s.durable(&event.MessageStart{Header: h})
	for _, ev := range []event.Event{
		&event.TextStart{Header: h, Text: "old"}, &event.TextDelta{Header: h, Text: " text"}, &event.TextStart{Header: h, Text: "new"},
		&event.TextStart{Header: h, Index: 1, Text: "ended"}, &event.BlockStop{Header: h, Index: 1}, &event.BlockStop{Header: h, Index: 9},
		&event.ToolProgress{Header: h, ToolUseID: "t", TaskID: "task", Output: "a"}, &event.ToolProgress{Header: h, ToolUseID: "t", Output: "b"}, &event.ToolProgress{Header: h, ToolUseID: "u", Output: "c"},
	} {
		s.add(ev)
	}
	var got []string
	for _, ev := range s.cut() {
		switch ev := ev.(type) {
		case *event.TextStart:
			got = append(got, fmt.Sprintf("text %d %s", ev.Index, ev.Text))
		case *event.BlockStop:
			got = append(got, fmt.Sprintf("stop %d %v", ev.Index, ev.Incomplete))
		case *event.MessageComplete:
			got = append(got, fmt.Sprintf("end %s %v", ev.MessageID, ev.Incomplete))
		case *event.ToolProgress:
			got = append(got, fmt.Sprintf("progress %s %s %s", ev.ToolUseID, ev.TaskID, ev.Output))
		}
	}
	want := []string{"text 0 new", "stop 0 true", "text 1 ended", "stop 1 false", "end m true", "progress t task ab", "progress u  c"}
	if !slices.Equal(got, want) {
		t.Errorf("the events are %q, want %q", got, want)
	}
	if more := s.cut(); len(more) != 0 || !s.empty() {
		t.Errorf("%d events are left, want none", len(more))
	}
}
