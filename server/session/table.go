package session

import (
	"context"
	"slices"
	"sync"

	"github.com/seed7221b0f9/parley/server/api"
)

// WorkspaceUsers returns the sessions that run in a workspace.
func (t *table) WorkspaceUsers(id string) []string {
	ids, _ := t.selected(func(_ string, e *entry) bool { return e.summary.Workspace == id && !e.gone })
	slices.Sort(ids)
	return ids
}

// table is the index of the sessions: their ids, their list entries, and those in memory. Its
// methods may be called from any goroutine.
type table struct {
	visible func(ctx context.Context, tenant string) bool

	mu       sync.Mutex
	entries  map[string]*entry
	draining bool
	giving   bool // in a cluster: the other servers get the sessions
	closed   bool
}

// entry is a session in the table.
type entry struct {
	summary api.SessionSummary
	agentID string        // the agent's session id
	actor   *actor        // nil while it is not in memory
	loading chan struct{} // closed when a load has ended; nil without one
	refs    int           // number of calls that use the actor
	gone    bool          // it is being deleted
	tenant  string
}

// Refuse makes the sessions reject new work.
func (t *table) Refuse() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.draining = true
}

// loaded returns the sessions that are in memory.
func (t *table) loaded() []*actor {
	_, actors := t.selected(func(_ string, e *entry) bool { return e.actor != nil })
	return actors
}

// Working returns an error while the server rejects new work.
func (t *table) Working() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.draining {
		return Fail(api.Draining, "the server is stopping; try again when it is back")
	}
	return nil
}

// updated stores the list entry of a session.
func (t *table) updated(id, agentID string, summary api.SessionSummary) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.entries[id]; e != nil {
		e.summary, e.agentID = summary, agentID
	}
}

// Info describes a session without loading it.
type Info struct {
	api.SessionSummary
	AgentID string // the agent's session id
	Tenant  string
	Loaded  bool // it is in memory
}

// All returns every session that is visible to the caller in ctx, in no order.
func (t *table) All(ctx context.Context) []Info {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []Info
	for _, e := range t.entries {
		if !e.gone && t.visible(ctx, e.tenant) {
			all = append(all, e.info())
		}
	}
	return all
}

func (e *entry) info() Info { return Info{e.summary, e.agentID, e.tenant, e.actor != nil} }

// Lookup returns the info of a session that is visible to the caller in ctx.
func (t *table) Lookup(ctx context.Context, id string) (Info, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.entries[id]; e != nil && !e.gone && t.visible(ctx, e.tenant) {
		return e.info(), nil
	}
	return Info{}, Fail(api.SessionExpired, "session %q not found", id)
}

// Exists reports whether a session exists, including one that is being deleted.
func (t *table) Exists(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.entries[id] != nil
}

// close makes the table return and accept no more actors.
func (t *table) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.draining, t.closed = true, true
}

// errClosed is the failure of calls after close.
func errClosed() error { return Fail(api.Draining, "the server is stopping") }

// find adds a session of the store that is not in the table.
func (t *table) find(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.entries[id] == nil {
		t.entries[id] = &entry{summary: api.SessionSummary{SessionID: id}}
	}
}

// setTenant sets the tenant of a session of the store, unless another server has deleted it.
func (t *table) setTenant(id, tenant string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.entries[id]; e != nil {
		e.tenant = tenant
	}
}

func (t *table) size() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.entries)
}

// selected returns the sessions that match, with their actors.
func (t *table) selected(match func(id string, e *entry) bool) (ids []string, actors []*actor) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, e := range t.entries {
		if match(id, e) {
			ids, actors = append(ids, id), append(actors, e.actor)
		}
	}
	return ids, actors
}

// acquire takes a session into use. Without an actor the caller waits for the channel, which is
// closed when the load of another caller has ended, or loads the session if it is nil.
func (t *table) acquire(ctx context.Context, id string) (e *entry, a *actor, loading <-chan struct{}, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e = t.entries[id]
	switch {
	case e == nil || e.gone || !t.visible(ctx, e.tenant):
		return nil, nil, nil, Fail(api.SessionExpired, "session %q not found", id)
	case t.closed:
		return nil, nil, nil, errClosed()
	case e.actor != nil:
		e.refs++
		return e, e.actor, nil, nil
	case e.loading != nil:
		return e, nil, e.loading, nil
	}
	e.loading = make(chan struct{})
	return e, nil, nil, nil
}

// release ends a use.
func (t *table) release(e *entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e.refs--
}

// loadEnded handles the result of a load, nil if it failed, and calls run with an actor that should
// run.
func (t *table) loadEnded(e *entry, a *actor, run func(*entry, *actor)) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	close(e.loading)
	e.loading = nil
	if a == nil {
		return nil
	}
	return t.keep(e, a, run)
}

// keepLoaded adds an actor that was loaded when the sessions were opened.
func (t *table) keepLoaded(id string, a *actor, run func(*entry, *actor)) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.keep(t.entries[id], a, run)
}

// add adds a session that was made.
func (t *table) add(id string, a *actor, run func(*entry, *actor)) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := &entry{summary: a.summary()}
	if err := t.keep(e, a, run); err != nil {
		return err
	}
	t.entries[id] = e
	return nil
}

// keep stores an actor in its entry. The caller holds the lock.
func (t *table) keep(e *entry, a *actor, run func(*entry, *actor)) error {
	if t.closed {
		a.discard()
		return errClosed()
	}
	e.actor, e.tenant = a, a.core.Opened.Tenant
	run(e, a)
	return nil
}

// ended removes an actor from its entry after the end of its loop.
func (t *table) ended(e *entry, a *actor) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e.actor == a {
		e.actor = nil
	}
}

// unload ends an unused actor. Its loop calls it.
func (t *table) unload(a *actor) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.entries[a.id]
	if e == nil || e.actor != a || e.refs > 0 {
		return
	}
	e.actor = nil
	a.cancel()
}

// dropLost removes an actor that has lost its session, even while calls use it.
func (t *table) dropLost(a *actor) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.entries[a.id]; e != nil && e.actor == a {
		e.actor = nil
	}
}

// hide makes a session that is being deleted unusable.
func (t *table) hide(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.entries[id]; e != nil {
		e.gone = true
	}
}

// show returns a session to the lists whose deletion failed, without its actor, which has ended.
func (t *table) show(id string, ended *actor) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.entries[id]; e != nil {
		e.gone = false
		if e.actor == ended {
			e.actor = nil
		}
	}
}

func (t *table) remove(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.entries, id)
}

// setViewers sets the number of viewers in the lists.
func (t *table) setViewers(id string, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.entries[id]; e != nil {
		e.summary.Viewers = int64(n)
	}
}
