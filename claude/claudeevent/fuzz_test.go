package claudeevent_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/claudeevent"
	"github.com/seed7221b0f9/parley/claude/message"
)

// FuzzFold sends arbitrary lines through the converter, the messages and the fold.
// They must not panic; every start has a stop; the state encodes and continues from its
// encoding; messages and events fold to the same state; messages survive a JSON round trip.
func FuzzFold(f *testing.F) {
	for i, tt := range foldTests {
		var lines []string
		for _, s := range script(tt.script) {
			lines = append(lines, s.line)
		}
		f.Add(strings.Join(lines, "\n"), i%5)
	}
	f.Add(`{"type":"assistant","message":{"id":1,"content":[{"type":"tool_use","id":"t","input":{"a":nul}},null,7,{"type":"text","text":5}]}}`, 0)
	f.Add(`{"type":"user","message":{"content":[{"type":"tool_result","content":{"x":}}]},"tool_use_result":[,]}`, 1)
	f.Add("{\"type\":\"system\",\"subtype\":\"init\",\"tools\":7}\n{\"type\":\"result\",\"usage\":{\"input_tokens\":1e999}}\nno json\n[]", 2)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		var steps []step
		for line := range strings.SplitSeq(text, "\n") {
			if strings.TrimSpace(line) != "" {
				steps = append(steps, step{line: line})
			}
		}
		r := convert(t, steps)
		checkPairs(t, r)
		checkRoundTrip(t, r)
		state := canonical(t, r.conv)
		if sharesTools(r.conv) {
			return // ambiguous: two calls with the same id share a result
		}
		if got := foldCut(t, r.events, cut); canonicalText(t, got) != state {
			t.Errorf("cut at %d (-whole +cut):\n%s", cut, diffJSON(t, state, got))
		}
		if got := canonical(t, refold(t, r.lines)); got != state {
			t.Errorf("messages fold to something else than events (-events +messages):\n%s", diffJSON(t, state, got))
		}
	})
}

// sharesTools reports whether two tool calls have the same id.
func sharesTools(conv *event.Conversation) bool {
	seen := map[string]bool{}
	for _, thread := range conv.Threads {
		for _, it := range thread.Items {
			if it.Message == nil {
				continue
			}
			for _, b := range it.Message.Blocks {
				if b.Tool != nil && b.Tool.ID != "" && seen[b.Tool.ID] {
					return true
				}
				seen[toolID(b)] = true
			}
		}
	}
	return false
}

func toolID(b *event.Block) string {
	if b.Tool == nil {
		return ""
	}
	return b.Tool.ID
}

func canonicalText(t *testing.T, text string) string {
	t.Helper()
	out, err := event.Canonical([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// FuzzSnapshot continues folding from arbitrary states.
func FuzzSnapshot(f *testing.F) {
	r := convert(f, generated(1, true, true))
	state, err := json.Marshal(r.conv)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(state))
	f.Add(`{"threads":[null,{"items":[null,{"message":{"role":"assistant","blocks":[null,{"tool":{}}]}},{"toolResult":{}}]}],"tasks":[null],"prompts":[null]}`)
	f.Fuzz(func(t *testing.T, text string) {
		var conv event.Conversation
		if json.Unmarshal([]byte(text), &conv) != nil {
			return
		}
		for _, ev := range r.events {
			conv.Apply(ev)
		}
		if _, err := json.Marshal(&conv); err != nil {
			t.Error(err)
		}
	})
}

// FuzzEntry sends arbitrary session file lines to the fold.
func FuzzEntry(f *testing.F) {
	f.Add(`{"type":"assistant","apiBlockIndex":3,"uuid":"u","message":{"id":"m","content":[{"type":"text","text":"x"}]}}`)
	f.Add(`{"type":"user","toolUseResult":"x","message":{"content":"hi"}}`)
	f.Add(`{"type":"system","subtype":"compact_boundary","compactMetadata":{"preTokens":5,"preservedMessages":{"allUuids":[]}}}`)
	f.Add(`{"type":"attachment","attachment":{"type":"queued_command","prompt":[{"type":"text","text":"x"}]}}`)
	f.Fuzz(func(t *testing.T, line string) {
		var c claudeevent.Converter
		events := append([]event.Event{}, c.Entry(message.JSON(line), "")...)
		events = append(events, c.Entry(message.JSON(line), "p")...)
		r := follow(t, append(events, c.End(nil)...))
		if _, err := json.Marshal(r.conv); err != nil {
			t.Error(err)
		}
	})
}
