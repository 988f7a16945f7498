package claudestore

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/claude"
)

// Memory is a session store in memory, for tests and for sessions that may end with the
// process. Its zero value is empty.
type Memory struct {
	mu       sync.Mutex
	sessions map[sessionKey]*memorySession
	last     time.Time
}

// sessionKey is a key without its subpath.
type sessionKey struct{ project, session string }

func sessionOf(key claude.SessionKey) sessionKey { return sessionKey{key.ProjectKey, key.SessionID} }

type memorySession struct {
	transcripts map[string]*memoryTranscript // by subpath
	modTime     time.Time                    // of the main transcript
	summary     *claude.StoredSummary
	claim       uint64
}

type memoryTranscript struct {
	entries []json.RawMessage
	uuids   map[string]bool
}

// NewMemory returns an empty store in memory. Its content is lost when the process ends.
func NewMemory() *Memory { return &Memory{} }

// Append appends entries to a transcript. It omits entries with a uuid that the transcript
// already has.
func (m *Memory) Append(_ context.Context, key claude.SessionKey, entries []json.RawMessage) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.append(key, entries)
}

// session returns the session of a key and creates it if necessary.
func (m *Memory) session(key claude.SessionKey) *memorySession {
	s := m.sessions[sessionOf(key)]
	if s == nil {
		s = &memorySession{transcripts: map[string]*memoryTranscript{}}
		if m.sessions == nil {
			m.sessions = map[sessionKey]*memorySession{}
		}
		m.sessions[sessionOf(key)] = s
	}
	return s
}

func (m *Memory) append(key claude.SessionKey, entries []json.RawMessage) error {
	if err := Check(key); err != nil || len(entries) == 0 {
		return err
	}
	s := m.session(key)
	t := s.transcripts[key.Subpath]
	if t == nil {
		t = &memoryTranscript{uuids: map[string]bool{}}
		s.transcripts[key.Subpath] = t
	}
	added := fresh(t.uuids, entries)
	for _, e := range added {
		t.entries = append(t.entries, slices.Clone(e))
	}
	if key.Subpath != "" {
		return nil
	}
	s.modTime = m.now()
	sum, err := FoldSummary(s.summary, key, added, s.modTime)
	if err != nil {
		return err
	}
	s.summary = &sum
	return nil
}

// now returns the current time, but always later than its last result, so that times order the
// writes.
func (m *Memory) now() time.Time {
	now := time.Now().Truncate(time.Millisecond)
	if !now.After(m.last) {
		now = m.last.Add(time.Millisecond)
	}
	m.last = now
	return now
}

// Load returns all entries of a transcript in their order, or nil if the store has no such
// transcript.
func (m *Memory) Load(_ context.Context, key claude.SessionKey) ([]json.RawMessage, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sessions[sessionOf(key)]
	if s == nil || s.transcripts[key.Subpath] == nil {
		return nil, nil
	}
	var out []json.RawMessage
	for _, e := range s.transcripts[key.Subpath].entries {
		out = append(out, slices.Clone(e))
	}
	return out, nil
}

// ListSessions returns the sessions of a project that have a main transcript, in no particular
// order.
func (m *Memory) ListSessions(_ context.Context, projectKey string) ([]claude.StoredSession, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []claude.StoredSession
	for k, s := range m.sessions {
		if k.project == projectKey && s.transcripts[""] != nil {
			list = append(list, claude.StoredSession{SessionID: k.session, ModTime: s.modTime})
		}
	}
	return list, nil
}

// FindSession returns the projects that have a main transcript of the session, or nil if there
// is no such session.
func (m *Memory) FindSession(_ context.Context, sessionID string) (projects []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k, s := range m.sessions {
		if k.session == sessionID && s.transcripts[""] != nil {
			projects = append(projects, k.project)
		}
	}
	return projects, nil
}

// ListSummaries returns the summaries of all sessions of a project, as copies, in no particular
// order.
func (m *Memory) ListSummaries(_ context.Context, projectKey string) ([]claude.StoredSummary, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []claude.StoredSummary
	for k, s := range m.sessions {
		if k.project == projectKey && s.summary != nil {
			sum := *s.summary
			sum.Data = slices.Clone(sum.Data)
			list = append(list, sum)
		}
	}
	return list, nil
}

// ListSubkeys returns the subpaths of a session's subagents, sorted. They do not include the
// main transcript.
func (m *Memory) ListSubkeys(_ context.Context, key claude.SessionKey) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []string
	if s := m.sessions[sessionOf(key)]; s != nil {
		for sub := range s.transcripts {
			if sub != "" {
				list = append(list, sub)
			}
		}
	}
	slices.Sort(list)
	return list, nil
}

// Delete removes a transcript. Deleting the main transcript of a session removes those of its
// subagents as well.
func (m *Memory) Delete(_ context.Context, key claude.SessionKey) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sessions[sessionOf(key)]
	if s == nil {
		return nil
	}
	if key.Subpath != "" {
		delete(s.transcripts, key.Subpath)
		return nil
	}
	s.transcripts, s.summary = map[string]*memoryTranscript{}, nil
	return nil
}

// Claim makes the caller the only writer of a session. An earlier writer fails with
// [claude.ErrFenced] from then on.
func (m *Memory) Claim(_ context.Context, key claude.SessionKey) (claude.SessionStore, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.session(key)
	s.claim++
	return &memoryWriter{Memory: m, key: sessionOf(key), claim: s.claim}, nil
}

// memoryWriter is a Memory with fenced appends to one session.
type memoryWriter struct {
	*Memory
	key   sessionKey
	claim uint64
}

// Append adds entries unless another writer has claimed the session.
func (w *memoryWriter) Append(_ context.Context, key claude.SessionKey, entries []json.RawMessage) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if sessionOf(key) == w.key && w.session(key).claim != w.claim {
		return claude.ErrFenced
	}
	return w.append(key, entries)
}
