package e2e_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claudetest"
)

// memoryStore is a session store in memory.
type memoryStore struct {
	mu    sync.Mutex
	all   map[claude.SessionKey][]json.RawMessage
	times map[string]time.Time
	fail  error
}

func (s *memoryStore) Append(_ context.Context, key claude.SessionKey, entries []json.RawMessage) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return s.fail
	}
	if s.all == nil {
		s.all, s.times = map[claude.SessionKey][]json.RawMessage{}, map[string]time.Time{}
	}
	s.all[key] = append(s.all[key], entries...)
	s.times[key.SessionID] = time.Now()
	return nil
}

func (s *memoryStore) Load(_ context.Context, key claude.SessionKey) ([]json.RawMessage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[key], nil
}

func (s *memoryStore) ListSessions(_ context.Context, project string) (out []claude.StoredSession, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := range s.all {
		if k.ProjectKey == project && k.Subpath == "" {
			out = append(out, claude.StoredSession{SessionID: k.SessionID, ModTime: s.times[k.SessionID]})
		}
	}
	return out, nil
}

// A session is stored while it runs and resumed from the store where the CLI has
// never seen it, by its id and as the newest one.
func TestSessionStore(t *testing.T) {
	t.Parallel()
	store := &memoryStore{}
	first := newWorld(t, claudetest.Say("The word is xyzzy."))
	first.opts.SessionStore = store
	r, err := claude.Run(t.Context(), "Tell me a word.", first.opts)
	if err != nil {
		t.Fatal(err)
	}
	key := claude.SessionKey{ProjectKey: claude.ProjectKey(first.dir), SessionID: r.SessionID}
	if stored, _ := store.Load(t.Context(), key); len(stored) < 3 {
		t.Fatalf("%d entries under %v in %v", len(stored), key, store.times)
	}
	for _, how := range []func(*claude.Options){
		func(o *claude.Options) { o.Resume = r.SessionID },
		func(o *claude.Options) { o.Continue = true },
	} {
		second := newWorld(t, claudetest.Say("It was xyzzy."))
		second.opts.SessionStore, second.opts.Dir = store, first.dir
		how(second.opts)
		again, err := claude.Run(t.Context(), "Which word was it?", second.opts)
		if err != nil || again.SessionID != r.SessionID {
			t.Fatalf("%+v, %v", again, err)
		}
		if asked := second.asked(0); !strings.Contains(asked, "Tell me a word.") {
			t.Errorf("the API was not asked with what was said before: %s", asked)
		}
	}
}
