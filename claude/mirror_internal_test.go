package claude

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed7221b0f9/parley/claude/message"
)

// claimStore is a store with fencing: only the last claim can append.
type claimStore struct {
	mu      sync.Mutex
	claims  int
	entries map[SessionKey][]json.RawMessage
	appends []int               // number of entries of each Append
	onClaim func(s *claimStore) // called inside Claim
	list    []StoredSession
}

type claimed struct {
	*claimStore
	n int
}

func (s *claimStore) Append(_ context.Context, key SessionKey, entries []json.RawMessage) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.entries == nil {
		s.entries = map[SessionKey][]json.RawMessage{}
	}
	s.entries[key] = append(s.entries[key], entries...)
	s.appends = append(s.appends, len(entries))
	return nil
}

func (s *claimStore) Load(_ context.Context, key SessionKey) ([]json.RawMessage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.entries[key]), nil
}

func (s *claimStore) ListSessions(context.Context, string) ([]StoredSession, error) {
	return s.list, nil
}

func (s *claimStore) Claim(context.Context, SessionKey) (SessionStore, error) {
	s.mu.Lock()
	s.claims++
	n := s.claims
	s.mu.Unlock()
	if s.onClaim != nil {
		s.onClaim(s)
	}
	return claimed{s, n}, nil
}

func (c claimed) Append(ctx context.Context, key SessionKey, entries []json.RawMessage) error {
	c.mu.Lock()
	fenced := c.claims != c.n
	c.mu.Unlock()
	if fenced {
		return ErrFenced
	}
	return c.claimStore.Append(ctx, key, entries)
}

// keepSink records delivered messages.
type keepSink struct{ got []message.Message }

func (k *keepSink) deliver(e entry) string { k.got = append(k.got, e.msg()); return "" }
func (k *keepSink) finish(error)           {}
func (k *keepSink) buffered() int64        { return 0 }

func frame(root string, entries int, size int) entry {
	m := &message.TranscriptMirror{FilePath: filepath.Join(root, "p", "s.jsonl")}
	for i := range entries {
		m.Entries = append(m.Entries, message.JSON(fmt.Sprintf(`{"n":%d,"x":"%s"}`, i, strings.Repeat("y", size))))
	}
	return decodedEntry("", m)
}

// Entries are stored immediately if the options require it, else when more than 500 entries or one
// megabyte are pending, or before a result.
func TestMirrorBounds(t *testing.T) {
	for _, tt := range []struct {
		name   string
		flush  StoreFlush
		frames []entry
		want   int // entries stored before a result
	}{
		{"eager", FlushEager, []entry{frame("/r", 1, 1)}, 1},
		{"batched", FlushBatched, []entry{frame("/r", 1, 1)}, 0},
		{"500 entries", "", []entry{frame("/r", 499, 1), frame("/r", 1, 1)}, 0},
		{"501 entries", "", []entry{frame("/r", 500, 1), frame("/r", 1, 1)}, 501},
		{"under a megabyte", "", []entry{frame("/r", 1, 1<<20-100)}, 0},
		{"over a megabyte", "", []entry{frame("/r", 2, 1<<19)}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &claimStore{}
				m := newMirror(&keepSink{}, unchecked(&Options{SessionStore: store, SessionStoreFlush: tt.flush}), "/r")
				all := 0
				for _, f := range tt.frames {
					m.deliver(f)
					all += len(f.msg().(*message.TranscriptMirror).Entries)
				}
				synctest.Wait()
				key := SessionKey{ProjectKey: "p", SessionID: "s"}
				if n := len(store.entries[key]); n != tt.want {
					t.Errorf("%d entries are stored, want %d", n, tt.want)
				}
				m.deliver(decodedEntry("", &message.Result{}))
				synctest.Wait()
				if n := len(store.entries[key]); n != all {
					t.Errorf("%d of %d entries are stored after a result", n, all)
				}
				m.finish(nil)
			})
		})
	}
}

// The path of a transcript gives its key. Files outside of the CLI's projects have no key.
func TestMirrorKey(t *testing.T) {
	root := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		root, file string
		want       SessionKey
	}{
		{root, root + "/p/s.jsonl", SessionKey{ProjectKey: "p", SessionID: "s"}},
		{root, root + "/p/s/subagents/agent-1.jsonl", SessionKey{ProjectKey: "p", SessionID: "s", Subpath: "subagents/agent-1"}},
		{root, root + "/p/s/subagents/w/agent-1.jsonl", SessionKey{ProjectKey: "p", SessionID: "s", Subpath: "subagents/w/agent-1"}},
		{link, real + "/p/s.jsonl", SessionKey{ProjectKey: "p", SessionID: "s"}},
		{root, root + "/p/s/beside.jsonl", SessionKey{}},
		{root, root + "/s.jsonl", SessionKey{}},
		{root, root + "/p/s.json", SessionKey{}},
		{root, filepath.Dir(root) + "/p/s.jsonl", SessionKey{}},
	} {
		m := &mirror{root: tt.root}
		if got, ok := m.key(tt.file); got != tt.want || ok != (tt.want != SessionKey{}) {
			t.Errorf("%s below %s: %+v, %v", tt.file, tt.root, got, ok)
		}
	}
}

// A resumed session keeps its key in the store; a new session of the same CLI gets another key.
func TestMirrorGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &claimStore{}
		l := unchecked(&Options{SessionStore: store})
		l.setStoreKey(SessionKey{ProjectKey: "elsewhere", SessionID: "s"})
		m := newMirror(&keepSink{}, l, "/r")
		m.deliver(frame("/r", 1, 1))
		m.deliver(decodedEntry("", &message.TranscriptMirror{FilePath: "/r/p/new.jsonl", Entries: []message.JSON{`{}`, `{}`}}))
		m.finish(nil)
		if s, fresh := store.entries[SessionKey{ProjectKey: "elsewhere", SessionID: "s"}], store.entries[SessionKey{ProjectKey: "p", SessionID: "new"}]; len(s) != 1 || len(fresh) != 2 {
			t.Errorf("the store has %v", store.entries)
		}
	})
}

// A replaced writer stops writing and is reported once.
func TestMirrorFenced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, out := &claimStore{}, &keepSink{}
		m := newMirror(out, unchecked(&Options{SessionStore: store, SessionStoreFlush: FlushEager}), "/r")
		m.deliver(frame("/r", 1, 1))
		synctest.Wait()
		store.Claim(t.Context(), SessionKey{}) // by another writer
		begun := time.Now()
		m.deliver(frame("/r", 2, 1))
		m.deliver(decodedEntry("", &message.Result{}))
		synctest.Wait()
		m.finish(nil)
		if !slices.Equal(store.appends, []int{1}) || store.claims != 2 || time.Since(begun) != 0 {
			t.Errorf("appends %v, %d claims, after %v", store.appends, store.claims, time.Since(begun))
		}
		if len(out.got) != 2 {
			t.Fatalf("%d messages", len(out.got))
		}
		if e, ok := out.got[0].(*message.MirrorError); !ok || !strings.Contains(e.Error, ErrFenced.Error()) {
			t.Errorf("%+v; want ok and strings.Contains(e.Error, ErrFenced.Error())", out.got[0])
		}
	})
}

// storedIn returns a launch with a store and its sessions.
func storedIn(t *testing.T, store *claimStore, o *Options) (l *launch, key func(id string) SessionKey) {
	dir := t.TempDir()
	o.SessionStore, o.Dir, o.CleanEnv = store, dir, true
	o.Env = map[string]string{"HOME": dir, "CLAUDE_CONFIG_DIR": filepath.Join(dir, "config")}
	return unchecked(o), func(id string) SessionKey { return SessionKey{ProjectKey: ProjectKey(dir), SessionID: id} }
}

const (
	firstID  = "11111111-1111-4111-8111-111111111111"
	secondID = "22222222-2222-4222-8222-222222222222"
)

// The previous writer may write between the check of a session and its claim.
func TestClaimLooksAgain(t *testing.T) {
	store := &claimStore{}
	l, key := storedIn(t, store, &Options{Resume: firstID})
	store.Append(t.Context(), key(firstID), []json.RawMessage{[]byte(`{"n":1}`)})
	store.onClaim = func(s *claimStore) { s.Append(t.Context(), key(firstID), []json.RawMessage{[]byte(`{"n":2}`)}) }
	cleanup, err := l.restore(t.Context(), newSessionGuard(l))
	if err != nil {
		t.Fatal(err)
	}
	defer cleanup()
	text, err := os.ReadFile(filepath.Join(l.Env["CLAUDE_CONFIG_DIR"], "projects", key("").ProjectKey, firstID+".jsonl"))
	if err != nil || string(text) != "{\"n\":1}\n{\"n\":2}\n" {
		t.Errorf("%q, %v; want err == nil and string(text) == \"{\\\"n\\\":1}\\n{\\\"n\\\":2}\\n\"", text, err)
	}
}

// Continue selects the newest session that is not a subagent's.
func TestContinueTakesNoSidechain(t *testing.T) {
	store := &claimStore{list: []StoredSession{{firstID, time.Unix(1, 0)}, {secondID, time.Unix(2, 0)}}}
	l, key := storedIn(t, store, &Options{Continue: true})
	store.Append(t.Context(), key(firstID), []json.RawMessage{[]byte(`{"isSidechain":false}`)})
	store.Append(t.Context(), key(secondID), []json.RawMessage{[]byte(`{"isSidechain":true}`)})
	cleanup, err := l.restore(t.Context(), newSessionGuard(l))
	if err != nil {
		t.Fatal(err)
	}
	defer cleanup()
	if l.Resume != firstID || l.Continue {
		t.Errorf("resumes %q", l.Resume)
	}
}

// The child's PWD is its working directory.
func TestPWD(t *testing.T) {
	t.Setenv("PWD", "/of/the/caller")
	env := unchecked(&Options{Dir: "/of/the/child"}).environ()
	if !slices.Contains(env, "PWD=/of/the/child") || slices.Contains(env, "PWD=/of/the/caller") {
		t.Errorf("%q; want slices.Contains(env, \"PWD=/of/the/child\") and not slices.Contains(env, \"PWD=/of/the/caller\")", env)
	}
	if env := unchecked(&Options{}).environ(); !slices.Contains(env, "PWD=/of/the/caller") {
		t.Errorf("%q; want slices.Contains(env, \"PWD=/of/the/caller\")", env)
	}
}
