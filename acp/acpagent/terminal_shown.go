package acpagent

import (
	"encoding/json"
	"slices"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent/event"
)

// printedMeta is the extension in which other agents report new output of a terminal.
const printedMeta = "terminal_output_delta"

// shownTerminals are the terminals that the agent shows in tool calls.
type shownTerminals struct {
	ids      map[string][]string // ids of the terminals, by call
	released map[string]*terminal
}

// report adds the new output of a call's terminals to an update of the call.
func (l *terminals) report(u *acp.SessionUpdate) {
	switch v := u.Value.(type) {
	case *acp.ToolCall:
		l.reportCall(string(v.ToolCallID), v.Content, v.Status.Or(""), &v.Meta)
	case *acp.ToolCallUpdate:
		l.reportCall(string(v.ToolCallID), v.Content.Or(nil), v.Status.Or(""), &v.Meta)
	}
}

func (l *terminals) reportCall(call string, content []acp.ToolCallContent, status acp.ToolCallStatus, meta *map[string]json.RawMessage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ids := l.shown.ids[call]
	for _, part := range content {
		if t, ok := part.Value.(*acp.Terminal); ok && !slices.Contains(ids, string(t.TerminalID)) {
			ids = append(ids, string(t.TerminalID))
		}
	}
	if len(ids) == 0 {
		return
	}
	if l.shown.ids == nil {
		l.shown = shownTerminals{map[string][]string{}, map[string]*terminal{}}
	}
	l.shown.ids[call] = ids
	text := ""
	for _, id := range ids {
		t := l.byID[id]
		if t == nil {
			t = l.shown.released[id]
		}
		if t != nil { // for a terminal of another program the agent's updates have the output
			text += t.fresh()
		}
	}
	if _, own := (*meta)[printedMeta]; text != "" && !own {
		if *meta == nil {
			*meta = map[string]json.RawMessage{}
		}
		(*meta)[printedMeta] = json.RawMessage(`{"data":` + string(event.Quote(text)) + `}`)
	}
	if status == acp.ToolCallStatusCompleted || status == acp.ToolCallStatusFailed {
		delete(l.shown.ids, call)
		for _, id := range ids {
			delete(l.shown.released, id)
		}
	}
}

// release removes a terminal. A terminal that a call shows is kept until the call ends. The caller
// holds mu.
func (l *terminals) release(id string, t *terminal) {
	delete(l.byID, id)
	for _, ids := range l.shown.ids {
		if slices.Contains(ids, id) {
			l.shown.released[id] = t
		}
	}
}

// fresh returns the kept output since the last call.
func (t *terminal) fresh() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	size := min(t.total-t.told, int64(len(t.output)))
	t.told = t.total
	return string(t.output[len(t.output)-int(size):])
}
