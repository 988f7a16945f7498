package hook

import (
	"context"
	"fmt"
	"time"
)

// Table holds the hooks of a session by the ids under which the CLI calls them. It does not change
// after [NewTable], so it may be used by several goroutines.
type Table struct {
	byID   map[string]hookEntry
	Events map[Event][]Registration // in the form of the initialize request; nil without hooks
	Blocks bool                     // whether any hook has OnFailure Block

	absence time.Duration
}

// hookEntry is one hook of a table.
type hookEntry struct {
	event   Event
	matcher anyMatcher
	i       int // index of the hook in its matcher
}

// NewTable assigns ids to the hooks of a session in the order of the fields of [Hooks], and
// converts them to the form of the initialize request. absence is added to the time for which the
// CLI waits for a hook: it is how long no process may be there to call the hooks.
func NewTable(hooks *Hooks, absence time.Duration) Table {
	t := Table{absence: absence}
	for event, m := range hooks.all {
		if t.Events == nil {
			t.byID, t.Events = map[string]hookEntry{}, map[Event][]Registration{}
		}
		r := m.registration(absence)
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

// Registered returns the table with the hook ids that another process has registered. The CLI calls
// a hook by the id from its registration, and another version of this program may have assigned
// other ids. A hook without a registered counterpart of the same event and matcher has no id.
func (t *Table) Registered(events map[Event][]Registration) Table {
	own := map[place]hookEntry{}
	for event, list := range t.Events {
		count := map[string]int{}
		for _, r := range list {
			for _, id := range r.HookCallbackIDs {
				own[place{event, r.Matcher, count[r.Matcher]}] = t.byID[id]
				count[r.Matcher]++
			}
		}
	}
	out := Table{byID: map[string]hookEntry{}, Events: events, Blocks: t.Blocks, absence: t.absence}
	for event, list := range events {
		count := map[string]int{}
		for _, r := range list {
			for _, id := range r.HookCallbackIDs {
				if h, ok := own[place{event, r.Matcher, count[r.Matcher]}]; ok {
					out.byID[id] = h
				}
				count[r.Matcher]++
			}
		}
	}
	return out
}

// place identifies a hook of a session, in every version of this program.
type place struct {
	event   Event
	matcher string
	i       int // index among the hooks with this event and matcher
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
	c.Event, c.absence = h.event, t.absence
	answer, err = h.matcher.call(ctx, h.i, &c)
	return answer, true, err
}
