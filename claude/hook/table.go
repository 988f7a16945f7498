package hook

import (
	"context"
	"fmt"
)

// Table holds the hooks of a session by the ids under which the CLI calls them. It does not change
// after [NewTable], so it may be used by several goroutines.
type Table struct {
	byID   map[string]hookEntry
	Events map[Event][]Registration // in the form of the initialize request; nil without hooks
	Blocks bool                     // a hook with OnFailure Block exists
}

// hookEntry is one hook of a table.
type hookEntry struct {
	event   Event
	matcher anyMatcher
	i       int // of the hook in its matcher
}

// NewTable assigns ids to the hooks of a session in the order of the fields of [Hooks], and
// converts them to the form of the initialize request.
func NewTable(hooks *Hooks) Table {
	var t Table
	for event, m := range hooks.all {
		if t.Events == nil {
			t.byID, t.Events = map[string]hookEntry{}, map[Event][]Registration{}
		}
		r := m.registration()
		t.Blocks = t.Blocks || r.OnFailure == Block
		for i := range m.hooks() {
			id := fmt.Sprintf("hook_%d", len(t.byID))
			t.byID[id] = hookEntry{event, m, i}
			r.HookCallbackIDs = append(r.HookCallbackIDs, id)
		}
		t.Events[event] = append(t.Events[event], r)
	}
	return t
}

// Any reports whether at least one hook is registered, so that the initialize request has to list
// hooks.
func (t *Table) Any() bool { return t.Events != nil }

// Call calls the hook with an id and returns the answer for the CLI. It sets the event of c. If no
// hook has the id, found is false.
func (t *Table) Call(ctx context.Context, id string, c Invocation) (answer []byte, found bool, err error) {
	h, found := t.byID[id]
	if !found {
		return nil, false, nil
	}
	c.Event = h.event
	answer, err = h.matcher.call(ctx, h.i, &c)
	return answer, true, err
}
