package session

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
)

// Session lists include the sessions of all servers of a cluster. The owner of a session sends its list entry to the
// other servers.

// show sends the list entry of the session to the other servers.
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

// Learn stores the list entry of a session that another server owns, as that server passed it to Show of [Owners]. A
// nil entry removes the session. Learn ignores sessions that this server owns.
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
	case m.Summary.Seq >= e.summary.Seq: // a follower of this server may know newer events
		e.summary, e.agentID, e.tenant = m.Summary, m.AgentID, m.Tenant
	}
}

// Orphans returns the sessions without an owner that may have unfinished work, given the owners at an earlier time and
// now. These are the sessions that were busy according to their last list entry, and those that have lost their owner
// since the earlier time and have a log that is newer than their list entry.
func (s *Sessions) Orphans(ctx context.Context, before, now map[string]string) []string {
	ids, _ := s.selected(func(id string, e *entry) bool {
		return now[id] == "" && e.actor == nil && e.loading == nil && !e.gone && State(e.summary.State).unfinished()
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

// toldSeq returns the sequence number in the list entry of a session, or 0.
func (s *Sessions) toldSeq(id string) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.entries[id]; e != nil {
		return e.summary.Seq
	}
	return 0
}

// Take makes this server the owner of a session and repairs it. It has no effect if the session has an owner or another
// server reaches its agent.
func (s *Sessions) Take(ctx context.Context, id string) (taken bool, err error) {
	if err := s.exists(ctx, id); err != nil { // its owner has not announced it
		return false, err
	}
	_, release, err := s.use(ctx, id)
	if isNotOwner(err) {
		return false, nil
	}
	if err == nil {
		release()
	}
	return err == nil, err
}
