package acp

import (
	"testing"

	"github.com/seed7221b0f9/parley/ui"
)

// TestOwed checks when the agent still has something to say of a task that has ended.
func TestOwed(t *testing.T) {
	child := ui.Header{ParentToolUseID: "t"}
	end, result, answer := &ui.TaskUpdated{}, &ui.ToolComplete{}, &ui.MessageStart{}
	for name, test := range map[string]struct {
		events []ui.Event // the first is the end of a task
		want   owed
	}{
		"the turn has ended":     {[]ui.Event{end}, owedTurn},
		"it was answering":       {[]ui.Event{end, answer}, owedTurn},
		"a tool has ended":       {[]ui.Event{end, result}, owedAnswer},
		"and the model was told": {[]ui.Event{end, result, answer}, owedNothing},
		"a subagent goes on":     {[]ui.Event{end, &ui.ToolComplete{Header: child}, &ui.MessageStart{Header: child}}, owedTurn},
		"it speaks of it":        {[]ui.Event{end, &ui.TurnStart{By: ui.ByTask}}, owedNothing},
	} {
		var o owed
		for i, ev := range test.events {
			o.event(ev, i == 0)
		}
		if o != test.want {
			t.Errorf("%s: %d, want %d", name, o, test.want)
		}
	}
}
