package server

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server/session"
)

var errFault = errors.New("the test stops this call")

// faultStore is a store in memory with one call that fails.
type faultStore struct {
	mu     sync.Mutex
	logs   map[string]*faultLog
	left   int    // calls before the one that fails; negative if all succeed
	failed string // its name
	more   int    // calls after it that fail too
	late   bool   // an append that fails has stored its events
	only   string // set: only calls with this name count
}

type faultLog struct {
	*faultStore
	name   string
	events [][]byte
	snap   *eventlog.Snapshot
}

func newFaultStore() *faultStore { return &faultStore{logs: map[string]*faultLog{}, left: -1} }

// arm makes the call after n others fail.
func (s *faultStore) arm(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left, s.failed, s.more, s.late, s.only = n, "", 0, false, ""
}

// disarm returns the call that has failed.
func (s *faultStore) disarm() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = -1
	return s.failed
}

// call begins a call with the lock held.
func (s *faultStore) call(name string) error {
	if s.left < 0 || s.only != "" && s.only != name {
		return nil
	}
	if s.left > 0 {
		s.left--
		return nil
	}
	if s.failed == "" {
		s.failed = name
	}
	if s.more--; s.more < 0 {
		s.left = -1
	}
	return errFault
}

func (s *faultStore) Log(name string) session.Log {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.logs[name] == nil {
		s.logs[name] = &faultLog{faultStore: s, name: name}
	}
	return s.logs[name]
}

func (s *faultStore) Ends(context.Context) (string, map[string]uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ends := map[string]uint64{}
	for name, l := range s.logs {
		if len(l.events) > 0 {
			ends[name] = uint64(len(l.events))
		}
	}
	return "g", ends, s.call("Ends")
}

func (s *faultStore) Health(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.call("Health")
}

func (s *faultStore) Damage() []eventlog.Damage { return nil }

func (l *faultLog) Append(_ context.Context, expected uint64, events ...[]byte) (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fault := l.call(l.name + ".Append")
	if fault != nil && !l.late {
		return 0, fault
	}
	if last := uint64(len(l.events)); expected != last {
		return 0, &eventlog.ConflictError{Expected: expected, Last: last}
	}
	l.events = append(l.events, events...)
	return uint64(len(l.events)), fault
}

func (l *faultLog) AppendDelta(context.Context, uint64, uint64, uint64, ...[]byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.call(l.name + ".AppendDelta")
}

func (l *faultLog) TrimDeltas(context.Context, uint64) error { return nil }

func (l *faultLog) Last(context.Context) (eventlog.Cursor, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.call(l.name + ".Last"); err != nil {
		return eventlog.Cursor{}, err
	}
	if len(l.events) == 0 {
		return eventlog.Cursor{}, eventlog.ErrNotFound
	}
	return eventlog.Cursor{Epoch: "e", Seq: uint64(len(l.events))}, nil
}

func (l *faultLog) Read(_ context.Context, after eventlog.Cursor) iter.Seq2[eventlog.Event, error] {
	l.mu.Lock()
	err := l.call(l.name + ".Read")
	events := slices.Clone(l.events)
	l.mu.Unlock()
	return func(yield func(eventlog.Event, error) bool) {
		if err != nil {
			yield(eventlog.Event{}, err)
			return
		}
		for i := after.Seq; i < uint64(len(events)); i++ {
			if !yield(eventlog.Event{Seq: i + 1, Data: events[i]}, nil) {
				return
			}
		}
	}
}

func (l *faultLog) Snapshot(context.Context) (eventlog.Snapshot, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.call(l.name + ".Snapshot"); err != nil {
		return eventlog.Snapshot{}, err
	}
	if l.snap == nil {
		return eventlog.Snapshot{}, eventlog.ErrNotFound
	}
	return *l.snap, nil
}

func (l *faultLog) PutSnapshot(_ context.Context, seq, sub uint64, data []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.call(l.name + ".PutSnapshot"); err != nil {
		return err
	}
	l.snap = &eventlog.Snapshot{Cursor: eventlog.Cursor{Epoch: "e", Seq: seq, Sub: sub}, Data: data}
	return nil
}

func (l *faultLog) Trim(context.Context, uint64) error { return nil }

func (l *faultLog) Delete(context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.call(l.name + ".Delete"); err != nil {
		return err
	}
	l.events, l.snap = nil, nil
	return nil
}

// faultServer is a server without HTTP, with a store that fails on demand.
type faultServer struct {
	*testing.T
	*Server
	store *faultStore
	logs  *syncBuffer
	work  string
	token string // of the owner
}

func faultOptions(t testing.TB) (Options, *syncBuffer) {
	t.Helper()
	dir := t.TempDir()
	for _, sub := range []string{"agent", "work"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	logs := &syncBuffer{}
	return Options{Dir: filepath.Join(dir, "server"), Directories: []string{filepath.Join(dir, "work")}, Version: "test", Logger: slog.New(slog.NewTextHandler(logs, nil)),
		Providers: []agent.Provider{&agenttest.Provider{Dir: filepath.Join(dir, "agent")}}}, logs
}

func newFaultServer(t *testing.T) *faultServer {
	t.Helper()
	opts, logs := faultOptions(t)
	f := &faultServer{T: t, store: newFaultStore(), logs: logs, work: opts.Directories[0]}
	var err error
	if f.Server, err = newServer(t.Context(), opts, f.store); err != nil {
		t.Fatal(err)
	}
	f.token = f.Token()
	t.Cleanup(func() {
		if err := f.Server.Close(); err != nil {
			t.Errorf("closing the server returns %v, want no error", err)
		}
	})
	return f
}

// do calls a method as the owner.
func (f *faultServer) do(method, params string) (string, error) {
	f.Helper()
	p, err := f.tokens.check(f.token, "")
	if err != nil {
		f.Fatal(err)
	}
	result, err := f.call(f.Context(), &caller{principal: p}, method, []byte(params))
	text, _ := json.Marshal(result)
	return string(text), err
}

// member returns a member of a JSON object as text.
func member(t *testing.T, text, name string) string {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	for part := range strings.SplitSeq(name, ".") {
		if next, ok := m[part].(map[string]any); ok {
			m = next
			continue
		}
		value, _ := m[part].(string)
		return value
	}
	return ""
}

// TestNew_storeFails makes each call of a start to the store fail in turn. The start returns its error, and the next one succeeds.
func TestNew_storeFails(t *testing.T) {
	opts, _ := faultOptions(t)
	store := newFaultStore()
	for n := 0; n < 100; n++ {
		store.arm(n)
		s, err := newServer(t.Context(), opts, store)
		failed := store.disarm()
		if err == nil {
			err2 := s.Close()
			if failed != "" || err2 != nil {
				t.Errorf("with %s failing the server starts, and closes with %v; want an error of the start", failed, err2)
			}
			return
		}
		if !errors.Is(err, errFault) {
			t.Fatalf("with %s failing the start returns %v, want %v", failed, err, errFault)
		}
	}
	t.Fatal("the start makes more than 100 calls, want an end")
}

// TestNew_diskFails replaces each file of a server by a directory and each directory by a file. The start returns an error, or logs
// the path that it could not use.
func TestNew_diskFails(t *testing.T) {
	f := newFaultServer(t)
	for _, step := range []struct{ method, params string }{
		{"tokens.create", `{"role":"viewer"}`}, {"webhooks.set", `{"webhook":{"url":"https://example.com/"}}`},
		{"session.connect", `{"cwd":"` + f.work + `","mcp_servers":{"a":{"command":"x"}}}`},
	} {
		if _, err := f.do(step.method, step.params); err != nil {
			t.Fatalf("%s: %v", step.method, err)
		}
	}
	if err := f.Server.Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(f.opts.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		t.Run(e.Name(), func(t *testing.T) {
			opts, logs := f.opts, &syncBuffer{}
			opts.Dir, opts.Logger = filepath.Join(t.TempDir(), "server"), slog.New(slog.NewTextHandler(logs, nil))
			if err := os.CopyFS(opts.Dir, os.DirFS(f.opts.Dir)); err != nil {
				t.Fatal(err)
			}
			name := filepath.Join(opts.Dir, e.Name())
			err := os.RemoveAll(name)
			if e.IsDir() {
				err = errors.Join(err, os.WriteFile(name, []byte("x"), 0o600))
			} else {
				err = errors.Join(err, os.MkdirAll(filepath.Join(name, "x"), 0o700))
			}
			if err != nil {
				t.Fatal(err)
			}
			s, err := newServer(t.Context(), opts, f.store)
			if err != nil {
				return
			}
			if err := s.Close(); err != nil {
				t.Errorf("closing the server returns %v, want no error", err)
			}
			if said := logs.String(); said == "" && e.Name() != uploadsDir {
				t.Errorf("the server starts with %s of another kind and logs nothing, want an error or a line in the log", e.Name())
			}
		})
	}
}

// TestCalls_diskFails replaces the files that methods write by directories. A method returns an error, and what the server lists is
// unchanged, except that a revoked token ends at once; when the file can be written the method succeeds.
func TestCalls_diskFails(t *testing.T) {
	f := newFaultServer(t)
	connected, err := f.do("session.connect", `{"cwd":"`+f.work+`"}`)
	if err != nil {
		t.Fatal(err)
	}
	id := member(t, connected, "session_id")
	png := `"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="`
	token, hook := "", ""
	for _, step := range []struct {
		method, file string
		params       func() string
		list         string // the method that lists the written objects, if any
	}{
		{"tokens.create", tokensName, func() string { return `{"role":"viewer","name":"N"}` }, "tokens.list"},
		{"share.create", tokensName, func() string { return `{"session_id":"` + id + `"}` }, "tokens.list"},
		{"tokens.revoke", tokensName, func() string { return `{"id":"` + token + `"}` }, "tokens.list"},
		{"webhooks.set", webhooksName, func() string { return `{"webhook":{"url":"https://example.com/","events":["turn_done"]}}` }, "webhooks.list"},
		{"webhooks.remove", webhooksName, func() string { return `{"id":"` + hook + `"}` }, "webhooks.list"},
		{"image.upload", uploadsDir, func() string {
			return `{"session_id":"` + id + `","name":"a.png","media_type":"image/png","data":` + png + `}`
		}, ""},
	} {
		list := func() string {
			if step.list == "" {
				return ""
			}
			text, err := f.do(step.list, `{}`)
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		before := list()
		undo := f.obstruct(step.file)
		got, err := f.do(step.method, step.params())
		if err == nil {
			t.Errorf("%s without %s returns %s, want an error", step.method, step.file, got)
		}
		revoked := step.method == "tokens.revoke"
		if after := list(); (after != before) != revoked {
			t.Errorf("%s failed, and the list changed\nfrom %s\nto   %s; want a change: %v", step.method, before, after, revoked)
		}
		undo()
		if got, err = f.do(step.method, step.params()); err != nil {
			t.Fatalf("%s returns %v, want no error", step.method, err)
		}
		if step.list != "" && list() == before {
			t.Errorf("%s returns %s and the list is still %s, want a change", step.method, got, before)
		}
		switch step.method {
		case "tokens.create":
			token = member(t, got, "id")
		case "webhooks.set":
			hook = member(t, got, "webhook.id")
		}
	}
}

// TestWebhooks_stay checks that a webhook that cannot be changed or removed stays in service.
func TestWebhooks_stay(t *testing.T) {
	f := newFaultServer(t)
	set, err := f.do("webhooks.set", `{"webhook":{"url":"https://example.com/"}}`)
	if err != nil {
		t.Fatal(err)
	}
	id := member(t, set, "webhook.id")
	for method, params := range map[string]string{"webhooks.set": `{"webhook":{"id":"` + id + `","url":"https://example.com/other"}}`, "webhooks.remove": `{"id":"` + id + `"}`} {
		undo := f.obstruct(webhooksName)
		_, err := f.do(method, params)
		undo()
		f.webhooks.mu.Lock()
		_, served := f.webhooks.runs[id]
		f.webhooks.mu.Unlock()
		if err == nil || !served {
			t.Errorf("%s that cannot be stored returns %v, and the webhook is served: %v; want an error and the webhook in service", method, err, served)
		}
	}
	if _, err := f.do("webhooks.remove", `{"id":"`+id+`"}`); err != nil {
		t.Fatal(err)
	}
	f.webhooks.mu.Lock()
	defer f.webhooks.mu.Unlock()
	if _, served := f.webhooks.runs[id]; served {
		t.Error("a webhook that was removed is served, want that it is not")
	}
}

// obstruct makes a file or directory of the server's data unusable until undo is called: a temporary file next to it cannot be
// created either.
func (f *faultServer) obstruct(name string) (undo func()) {
	f.Helper()
	path := filepath.Join(f.opts.Dir, name)
	away := path + ".away"
	_, err := os.Lstat(path)
	there := err == nil
	if there {
		if err := os.Rename(path, away); err != nil {
			f.Fatal(err)
		}
	}
	if name == uploadsDir {
		err = os.WriteFile(path, []byte("x"), 0o600)
	} else {
		err = os.MkdirAll(filepath.Join(path, "x"), 0o700)
	}
	if err != nil {
		f.Fatal(err)
	}
	return func() {
		f.Helper()
		err := os.RemoveAll(path)
		if there {
			err = errors.Join(err, os.Rename(away, path))
		}
		if err != nil {
			f.Fatal(err)
		}
	}
}

// TestReady checks that a server is ready while its store works and it accepts work.
func TestReady(t *testing.T) {
	f := newFaultServer(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := f.Ready(ctx); err != nil {
		t.Errorf("a server that works: %v, want nil", err)
	}
	f.store.arm(0)
	if err := f.Ready(ctx); !errors.Is(err, errFault) {
		t.Errorf("a server with a store that fails: %v, want %v", err, errFault)
	}
	f.store.disarm()
	f.sessions.Refuse()
	if err := f.Ready(ctx); err == nil {
		t.Error("a server that stops is ready, want an error")
	}
}
