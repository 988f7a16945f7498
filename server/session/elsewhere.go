package session

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
)

// The lists show the sessions of all servers of a cluster: the owner of a session tells the others its entry.

// show tells the other servers the list entry of the session.
func (a *actor) show() {
	if a.owner == nil || a.lostOwner.Load() {
		return
	}
	entry, err := json.Marshal(a.listed())
	if err != nil {
		a.logger.Warn("other servers do not see a change of the session", "err", err)
		return
	}
	a.srv.opts.Owners.Show(a.id, entry)
}

// Learn takes in the list entry of a session that another server owns, as it was given to [Owners]; nil is a session that was deleted. An
// entry of a session that this server owns is ignored.
func (s *Sessions) Learn(id string, data []byte) {
	var m listed
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries[id]
	switch {
	case e != nil && (e.actor != nil || e.loading != nil):
	case data == nil:
		delete(s.entries, id)
	case json.Unmarshal(data, &m) != nil || m.Summary.SessionID != id:
		s.logger.Warn("the list entry of a session of another server cannot be read", "session", id)
	case e == nil:
		s.entries[id] = &entry{summary: m.Summary, agentID: m.AgentID, tenant: m.Tenant}
	default:
		e.summary, e.agentID, e.tenant = m.Summary, m.AgentID, m.Tenant
	}
}

// Orphans returns the sessions without an owner that an owner may have left with work, given the owners at an earlier time and now: those
// that worked when their owner told of them last, and those that have lost their owner meanwhile and whose log has more than was told.
func (s *Sessions) Orphans(ctx context.Context, before, now map[string]string) []string {
	ids, _ := s.selected(func(id string, e *entry) bool {
		return now[id] == "" && e.actor == nil && e.loading == nil && !e.gone && State(e.summary.State).busy()
	})
	for id := range before {
		if now[id] != "" || !strings.HasPrefix(id, Prefix) || slices.Contains(ids, id) {
			continue
		}
		if at, err := s.opts.Store.Log(id).Last(ctx); err == nil && at.Seq != s.toldSeq(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// toldSeq returns the last event of a session in the lists.
func (s *Sessions) toldSeq(id string) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.entries[id]; e != nil {
		return e.summary.Seq
	}
	return 0
}

// Take makes this server the owner of a session that has none, and brings it in order. It does nothing for one that has an owner.
func (s *Sessions) Take(ctx context.Context, id string) error {
	if !s.Exists(id) { // its owner has not told of it
		s.find(id)
		if err := s.peek(ctx, id); err != nil {
			s.remove(id)
			return err
		}
	}
	_, release, err := s.use(ctx, id)
	if isNotOwner(err) {
		return nil
	}
	if err == nil {
		release()
	}
	return err
}
