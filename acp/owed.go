package acp

import "github.com/seed7221b0f9/parley/agent/event"

// owed says whether the agent will begin a turn of its own, to speak of a task in the
// background that has ended. The agent's model learns of the end together with the next result
// of a tool, if one comes in the turn that runs, else by a turn of its own.
type owed int

const (
	owedNothing owed = iota
	owedTurn         // a task has ended
	owedAnswer       // and a tool's result followed: the next answer of the model knows of it
)

// event notes an event; ended says that it was the end of a task in the background.
func (o *owed) event(ev event.Event, ended bool) {
	if ended {
		*o = owedTurn
		return
	}
	if ev.Head().ParentToolUseID != "" {
		return // of a subagent
	}
	switch ev.(type) {
	case *event.TurnStart:
		*o = owedNothing
	case *event.ToolComplete:
		if *o == owedTurn {
			*o = owedAnswer
		}
	case *event.MessageStart:
		if *o == owedAnswer {
			*o = owedNothing
		}
	}
}
