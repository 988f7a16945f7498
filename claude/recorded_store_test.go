package claude_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/claude"
)

// memoryStore is an in-memory session store that records its calls. [memoryStore.With]
// adds the optional methods that a test needs.
type memoryStore struct {
	// Fail, if set, is the error of every Append.
	Fail error

	mu      sync.Mutex
	entries map[claude.SessionKey][]json.RawMessage
	changed map[claude.SessionKey]time.Time
	appends []storeAppend
}

// storeAppend is one call of Append.
type storeAppend struct {
	Key     claude.SessionKey
	Entries []json.RawMessage
	Failed  bool
}

// newMemoryStore returns the store of a recording, which may have none.
func newMemoryStore(spec *recordedStore) *memoryStore {
	m := &memoryStore{entries: map[claude.SessionKey][]json.RawMessage{}, changed: map[claude.SessionKey]time.Time{}}
	if spec != nil && spec.AppendFails != nil {
		m.Fail = errors.New(*spec.AppendFails)
	}
	return m
}

// With returns the store with exactly the given methods in addition to append and load:
// listSessions, listSubkeys, delete, as the recordings spell them.
func (m *memoryStore) With(methods ...string) claude.SessionStore {
	has := func(name string) bool { return slices.Contains(methods, name) }
	two, lists, subkeys, deletes := twoMethods{m}, sessionLister{m}, subkeyLister{m}, sessionDeleter{m}
	switch l, s, d := has("listSessions"), has("listSubkeys"), has("delete"); {
	case l && s && d:
		return struct {
			twoMethods
			sessionLister
			subkeyLister
			sessionDeleter
		}{two, lists, subkeys, deletes}
	case l && s:
		return struct {
			twoMethods
			sessionLister
			subkeyLister
		}{two, lists, subkeys}
	case l && d:
		return struct {
			twoMethods
			sessionLister
			sessionDeleter
		}{two, lists, deletes}
	case s && d:
		return struct {
			twoMethods
			subkeyLister
			sessionDeleter
		}{two, subkeys, deletes}
	case l:
		return struct {
			twoMethods
			sessionLister
		}{two, lists}
	case s:
		return struct {
			twoMethods
			subkeyLister
		}{two, subkeys}
	case d:
		return struct {
			twoMethods
			sessionDeleter
		}{two, deletes}
	}
	return two
}

// Appends returns the calls of Append so far.
func (m *memoryStore) Appends() []storeAppend {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.appends)
}

type twoMethods struct{ m *memoryStore }

// Append adds entries.
func (s twoMethods) Append(_ context.Context, key claude.SessionKey, entries []json.RawMessage) error {
	m := s.m
	m.mu.Lock()
	defer m.mu.Unlock()
	m.appends = append(m.appends, storeAppend{Key: key, Entries: slices.Clone(entries), Failed: m.Fail != nil})
	if m.Fail != nil {
		return m.Fail
	}
	m.entries[key] = append(m.entries[key], entries...)
	m.changed[key] = time.Now()
	return nil
}

// Load returns the entries of a key.
func (s twoMethods) Load(_ context.Context, key claude.SessionKey) ([]json.RawMessage, error) {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	return slices.Clone(s.m.entries[key]), nil
}

type sessionLister struct{ m *memoryStore }

// ListSessions lists the main transcripts of a project.
func (s sessionLister) ListSessions(_ context.Context, project string) (list []claude.StoredSession, err error) {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	for key, changed := range s.m.changed {
		if key.ProjectKey == project && key.Subpath == "" {
			list = append(list, claude.StoredSession{SessionID: key.SessionID, ModTime: changed})
		}
	}
	return list, nil
}

type subkeyLister struct{ m *memoryStore }

// ListSubkeys lists the transcripts of a session's subagents.
func (s subkeyLister) ListSubkeys(_ context.Context, main claude.SessionKey) (list []string, err error) {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	for key := range s.m.entries {
		if key.ProjectKey == main.ProjectKey && key.SessionID == main.SessionID && key.Subpath != "" {
			list = append(list, key.Subpath)
		}
	}
	slices.Sort(list)
	return list, nil
}

type sessionDeleter struct{ m *memoryStore }

// Delete removes a transcript, the main one with those of its subagents.
func (s sessionDeleter) Delete(_ context.Context, gone claude.SessionKey) error {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	for key := range s.m.entries {
		if key == gone || gone.Subpath == "" && key.ProjectKey == gone.ProjectKey && key.SessionID == gone.SessionID {
			delete(s.m.entries, key)
			delete(s.m.changed, key)
		}
	}
	return nil
}
