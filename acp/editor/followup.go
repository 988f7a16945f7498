package editor

import "github.com/seed7221b0f9/parley/agent/event"

// followUp determines whether the agent will begin a turn to report the end of a background task.
// If a tool result of the running turn follows the end, the model learns of the end with it;
// otherwise the agent begins a new turn.
type followUp int

const (
	followUpNone   followUp = iota
	followUpTurn            // a task has ended
	followUpAnswer          // a tool result followed, so the model's next answer includes the end
)

// event processes an event; ended reports whether it was the end of a background task.
func (o *followUp) event(ev event.Event, ended bool) {
	if ended {
		*o = followUpTurn
		return
	}
	if ev.Head().ParentToolUseID != "" {
		return // it belongs to a subagent
	}
	switch ev.(type) {
	case *event.TurnStart:
		*o = followUpNone
	case *event.ToolComplete:
		if *o == followUpTurn {
			*o = followUpAnswer
		}
	case *event.MessageStart:
		if *o == followUpAnswer {
			*o = followUpNone
		}
	}
}
