package parts_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/parts"
)

func kinds(all []parts.Part) string {
	var b strings.Builder
	for _, p := range all {
		fmt.Fprintf(&b, "%s %s|", p.Kind, p.ID)
	}
	return b.String()
}

// TestReduce_order reduces events that no recording has, or has in another order.
func TestReduce_order(t *testing.T) {
	h := event.Header{MessageID: "m"}
	whole := &event.AssistantMessage{Header: h, Blocks: []event.IndexedBlock{{Block: event.Content{Type: "text", Text: "abc"}}}}
	other := &event.AssistantMessage{Header: h, Blocks: []event.IndexedBlock{{Block: event.Content{Type: "text", Text: "xyz"}}}}
	ask := &event.PermissionRequest{RequestID: "r", ToolName: "Bash"}
	for _, tt := range []struct {
		name   string
		events []event.Event
		want   string
	}{
		{"a whole message that comes twice", []event.Event{whole, whole}, "text-start m:0|text-delta m:0|text-end m:0|"},
		{"a start after the whole message", []event.Event{whole, &event.TextStart{Header: h, Text: "abc"}, &event.BlockStop{Header: h}},
			"text-start m:0|text-delta m:0|text-end m:0|"},
		{"another text than the one that was streamed", []event.Event{&event.TextStart{Header: h, Text: "ab"}, other},
			"text-start m:0|text-delta m:0|text-end m:0|text-start m~1:0|text-delta m~1:0|text-end m~1:0|"},
		{"a message that begins anew", []event.Event{&event.TextStart{Header: h, Text: "ab"}, &event.MessageStart{Header: h}, whole},
			"text-start m:0|text-delta m:0|text-end m:0|text-start m~1:0|text-delta m~1:0|text-end m~1:0|"},
		{"a delta without a start", []event.Event{&event.TextDelta{Header: h, Text: "ab"}}, ""},
		{"a result without a call", []event.Event{&event.ToolComplete{ToolUseID: "t"}}, ""},
		{"a request without a call", []event.Event{ask, &event.PermissionResolved{RequestID: "r", Behavior: "allow"}},
			"tool-start r|tool-input r|ask r|tool-result r|"},
		{"what follows the end", []event.Event{&event.TextStart{Header: h, Text: "ab"}, &event.ResultMessage{}, whole}, "text-start m:0|text-delta m:0|text-end m:0|finish |"},
		{"a call that is cut off", []event.Event{&event.ToolStart{Header: h, ToolUseID: "t"}, &event.BlockStop{Header: h, Incomplete: true}}, "tool-start t|tool-input t|"},
	} {
		r := parts.New(parts.Place{})
		got := ""
		for _, ev := range tt.events {
			got += kinds(r.Apply(ev))
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	r := parts.New(parts.Place{})
	if got := kinds(append(r.Close(parts.End{Reason: parts.Cancelled}), r.Close(parts.End{})...)); got != "finish |" {
		t.Errorf("closed twice: %s", got)
	}
}

// TestReduce_text checks that a stream that starts within a block includes the beginning of its
// text, for answers and thinking, and repeats no text.
func TestReduce_text(t *testing.T) {
	h := event.Header{MessageID: "m"}
	for name, tt := range map[string]struct {
		events []event.Event
		want   string
	}{
		"text":     {[]event.Event{&event.TextStart{Header: h, Text: "ab"}, &event.TextDelta{Header: h, Text: "c"}, &event.BlockStop{Header: h}}, "abc"},
		"thoughts": {[]event.Event{&event.ThinkingStart{Header: h, Thinking: "ab"}, &event.ThinkingDelta{Header: h, Thinking: "c"}, &event.BlockStop{Header: h}}, "abc"},
	} {
		r := parts.New(parts.Place{})
		got := ""
		for _, ev := range tt.events {
			for _, p := range r.Apply(ev) {
				if strings.HasSuffix(string(p.Kind), "-delta") {
					got += p.Text
				}
			}
		}
		if got != tt.want {
			t.Errorf("%s: the parts have %q, want %q", name, got, tt.want)
		}
	}
}

// TestParsePlace_limits parses the longest valid place, and places with one mark or byte more.
func TestParsePlace_limits(t *testing.T) {
	for n, ok := range map[int]bool{999: true, 1000: false} {
		if _, err := parts.ParsePlace("e:1" + strings.Repeat(",cYQ", n)); (err == nil) != ok {
			t.Errorf("%d marks: %v, want them read: %v", n, err, ok)
		}
	}
	for n, ok := range map[int]bool{32 << 10: true, 32<<10 + 1: false} {
		if _, err := parts.ParsePlace(strings.Repeat("e", n-2) + ":1"); (err == nil) != ok {
			t.Errorf("%d bytes: %v, want them read: %v", n, err, ok)
		}
	}
}

func TestParsePlace_bad(t *testing.T) {
	for _, text := range []string{"", "x", ":1", "e:", "e:-1", "e:1,", "e:1,o", "e:1,oYQ", "e:1,oYQ~x", "e:1,oYQ~-1", "e:1,o%%~1", "e:1,cYQ~1", "e:1,zYQ", "e:1,c",
		"e:1" + strings.Repeat(",cYQ", 2000), "e:1,c" + strings.Repeat("YQYQ", 20000)} {
		if p, err := parts.ParsePlace(text); !errors.Is(err, parts.ErrPlace) {
			t.Errorf("%.50q is %v, %v", text, p, err)
		}
	}
}

func FuzzParsePlace(f *testing.F) {
	f.Add("e:1,oYQ~3,eYg,cYw")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parts.ParsePlace(text)
		if err != nil {
			return
		}
		again, err := parts.ParsePlace(p.String())
		if err != nil || again.String() != p.String() {
			t.Errorf("%q is read again as %v, %v", p, again, err)
		}
	})
}
