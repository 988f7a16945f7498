package codexagent

import "github.com/seed7221b0f9/parley/codex/item"

// runningTurn tracks the running turn of the session's thread.
type runningTurn struct {
	id    string             // empty if no turn runs
	ended string             // the last ended turn
	calls map[item.JSON]bool // unanswered calls that start a turn
}

// called processes a call of the client.
func (r *runningTurn) called(call *item.Call) {
	if call.Method == "turn/start" || call.Method == "review/start" {
		if r.calls == nil {
			r.calls = map[item.JSON]bool{}
		}
		r.calls[call.ID] = true
	}
}

// server handles a line of the server. A turn is running from the answer to the call that starts it, which precedes the turn's
// notification. Turns of other threads belong to subagents.
func (r *runningTurn) server(l item.Line, thread string) {
	switch v := l.(type) {
	case *item.Response:
		starts := r.calls[v.ID]
		delete(r.calls, v.ID)
		var answer struct {
			Turn item.Turn `json:"turn"`
		}
		if starts && v.Error == nil && item.DecodeValue(v.Result, &answer) == nil {
			r.start(answer.Turn.ID)
		}
	case *item.TurnStarted:
		if v.ThreadID == thread {
			r.start(v.Turn.ID)
		}
	case *item.TurnCompleted:
		if v.ThreadID == thread {
			r.id, r.ended = "", v.Turn.ID
		}
	}
}

func (r *runningTurn) start(id string) {
	if id != r.ended {
		r.id = id
	}
}
