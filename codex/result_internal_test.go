package codex

import (
	"testing"

	"github.com/seed7221b0f9/parley/codex/item"
)

// TestResult_text checks that a message that was cut off is the text of a turn that failed, but does not replace
// a later message: a steered turn drops the running message, and reports it at its end.
func TestResult_text(t *testing.T) {
	done := func(text string) item.Notification {
		return &item.ItemCompleted{Item: &item.AgentMessage{Text: text}}
	}
	cut := func(text string) item.Notification { return &item.ItemCut{Item: &item.AgentMessage{Text: text}} }
	end := func(status string) item.Notification { return &item.TurnCompleted{Turn: item.Turn{Status: status}} }
	for name, tt := range map[string]struct {
		said []item.Notification
		want string
	}{
		"steered":           {[]item.Notification{done("Steered."), cut("Fir"), end(item.StatusCompleted)}, "Steered."},
		"interrupted":       {[]item.Notification{done("First."), cut("Sec"), end(item.StatusInterrupted)}, "Sec"},
		"interrupted early": {[]item.Notification{done("First."), cut(""), end(item.StatusInterrupted)}, "First."},
		"only a part":       {[]item.Notification{cut("Fir"), end(item.StatusCompleted)}, "Fir"},
	} {
		var r Result
		for _, n := range tt.said {
			r.add(n)
		}
		if r.Text != tt.want || len(r.Items) == 0 {
			t.Errorf("%s: the text is %q, not %q, of %d items", name, r.Text, tt.want, len(r.Items))
		}
	}
}
