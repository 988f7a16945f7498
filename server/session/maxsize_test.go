package session

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// TestBounded checks which results are cut, and that another message is rejected by its type.
func TestBounded(t *testing.T) {
	short.SkipQuick(t, "cuts large results")
	text := event.Quote(strings.Repeat("\u2028\"", MaxMessage/8))
	for name, content := range map[string]event.JSON{"text": text, "blocks": `[{"type":"text","text":` + text + `}]`} {
		cut := bounded(&event.ToolComplete{ToolUseID: "t", Content: content, ToolUseResult: text}).(*event.ToolComplete)
		if !cut.Truncated || cut.ToolUseResult != "" || len(cut.Content) > 2*keptResult || !json.Valid([]byte(cut.Content)) || !strings.Contains(cut.Content.Text(), "[cut:") ||
			strings.HasPrefix(cut.Content.Text(), "\u2028\"\u2028") != (name == "text") {
			t.Errorf("%s: %d bytes are kept, cut: %v, %.100q, want the beginning of a text and the reason", name, len(cut.Content), cut.Truncated, cut.Content)
		}
	}
	small := &event.ToolComplete{ToolUseID: "t", Content: `"x"`}
	if bounded(small) != event.Event(small) {
		t.Error("a small result was changed")
	}
	s, st := memSessions(t)
	a := s.newActor(Prefix+"big", "e")
	defer a.cancel()
	a.draft(draft{event: &event.Notice{Text: strings.Repeat("x", MaxMessage+1)}})
	if err := a.write(); err != nil {
		t.Fatal(err)
	}
	if data := string(st.logs[a.id].events[0]); !strings.Contains(data, "A message of the type notice was left out: it has") {
		t.Errorf("the log has %.200s", data)
	}
}
