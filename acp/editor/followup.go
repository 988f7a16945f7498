package editor

import "github.com/seed7221b0f9/parley/agent/event"

// followUp reports whether the agent will begin a turn by itself to report the end of a task in the
// background. The model learns of the end with the next tool result of the running turn; if there
// is none, the agent starts a new turn.
type followUp int

const (
	followUpNone   followUp = iota
	followUpTurn            // a task has ended
	followUpAnswer          // and a tool's result followed: the next answer of the model knows of it
)

// event records an event; ended reports whether it was the end of a task in the background.
func (o *followUp) event(ev event.Event, ended bool) {
	if ended {
		*o = followUpTurn
		return
	}
	if ev.Head().ParentToolUseID != "" {
		return // of a subagent
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
