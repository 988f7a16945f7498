package agentkit

import (
	"maps"
	"slices"

	"github.com/seed7221b0f9/parley/agent/event"
)

// repeats records the requests that are opened and resolved. It reports whether an event resolves a
// request that is not open.
func (st *state) repeats(ev event.Event) bool {
	if r := asked(ev); r != nil {
		if st.asked == nil {
			st.asked = map[string]unresolved{}
		}
		h := ev.Head()
		_, question := ev.(*event.QuestionRequest)
		st.asked[r.ID] = unresolved{event.Header{Provider: h.Provider, SessionID: h.SessionID, ParentToolUseID: h.ParentToolUseID}, r.ToolUseID, question}
	}
	id := event.ResolvedID(ev)
	_, open := st.asked[id]
	delete(st.asked, id)
	return id != "" && !open
}

// leftOpen returns events that resolve the requests that are still open at the end, in the order of their ids.
func (st *state) leftOpen() (events []event.Event) {
	for _, id := range slices.Sorted(maps.Keys(st.asked)) {
		r := st.asked[id]
		events = append(events, event.Resolve(r.header, r.question, id, r.toolUseID, event.Resolution{Behavior: event.ResolvedExpired}))
	}
	return events
}
