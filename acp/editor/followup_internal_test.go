package editor

import (
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
)

// TestFollowUp checks after which events the agent will begin a turn about an ended task.
func TestFollowUp(t *testing.T) {
	child := event.Header{ParentToolUseID: "t"}
	end, result, answer := &event.TaskUpdated{}, &event.ToolComplete{}, &event.MessageStart{}
	for name, test := range map[string]struct {
		events []event.Event // events after the end of a task
		want   followUp
	}{
		"the turn has ended":     {[]event.Event{end}, followUpTurn},
		"it was answering":       {[]event.Event{end, answer}, followUpTurn},
		"a tool has ended":       {[]event.Event{end, result}, followUpAnswer},
		"and the model was told": {[]event.Event{end, result, answer}, followUpNone},
		"a subagent goes on":     {[]event.Event{end, &event.ToolComplete{Header: child}, &event.MessageStart{Header: child}}, followUpTurn},
		"it speaks of it":        {[]event.Event{end, &event.TurnStart{By: event.ByTask}}, followUpNone},
	} {
		var o followUp
		for i, ev := range test.events {
			o.event(ev, i == 0)
		}
		if o != test.want {
			t.Errorf("%s: %d, want %d", name, o, test.want)
		}
	}
}
