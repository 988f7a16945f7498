package acp

import (
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
)

// TestOwed checks when the agent still has something to say of a task that has ended.
func TestOwed(t *testing.T) {
	child := event.Header{ParentToolUseID: "t"}
	end, result, answer := &event.TaskUpdated{}, &event.ToolComplete{}, &event.MessageStart{}
	for name, test := range map[string]struct {
		events []event.Event // the first is the end of a task
		want   owed
	}{
		"the turn has ended":     {[]event.Event{end}, owedTurn},
		"it was answering":       {[]event.Event{end, answer}, owedTurn},
		"a tool has ended":       {[]event.Event{end, result}, owedAnswer},
		"and the model was told": {[]event.Event{end, result, answer}, owedNothing},
		"a subagent goes on":     {[]event.Event{end, &event.ToolComplete{Header: child}, &event.MessageStart{Header: child}}, owedTurn},
		"it speaks of it":        {[]event.Event{end, &event.TurnStart{By: event.ByTask}}, owedNothing},
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
