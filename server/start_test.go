package server

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// readStore records the sessions whose newest event is read, which every load does.
type readStore struct {
	session.Store
	mu   sync.Mutex
	read map[string]bool
}

type readLog struct {
	session.Log
	read func()
}

func (s *readStore) Log(name string) session.Log {
	return readLog{s.Store.Log(name), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.read[name] = s.read[name] || strings.HasPrefix(name, session.Prefix)
	}}
}

func (l readLog) Last(ctx context.Context) (eventlog.Cursor, error) {
	l.read()
	return l.Log.Last(ctx)
}

// startAgain starts a server on the data of a stopped harness, calls look, and stops it. It returns
// the lists, and the sessions that the server has read at its start.
func startAgain(h *harness, look func(*Server)) (all map[string]session.Info, read []string) {
	h.Helper()
	store, err := eventlog.Open(h.ctx(), &eventlog.Options{Dir: filepath.Join(h.dir, "log"), UnsafeNoSync: true})
	if err != nil {
		h.Fatal(err)
	}
	opts := h.opts
	opts.Store, opts.Providers = store, h.server.opts.Providers
	st := &readStore{Store: session.StoreOf(store), read: map[string]bool{}}
	s, err := newServer(h.ctx(), opts, st)
	if err != nil {
		h.Fatal(err)
	}
	for id, isSession := range st.read {
		if isSession {
			read = append(read, id)
		}
	}
	slices.Sort(read)
	all = map[string]session.Info{}
	for _, info := range s.sessions.All(h.ctx()) {
		all[info.SessionID] = info
	}
	if look != nil {
		look(s)
	}
	if err := s.Close(); err != nil {
		h.Error(err)
	}
	if err := store.Close(h.ctx()); err != nil {
		h.Error(err)
	}
	return all, read
}

// TestStart starts a server on sessions in many states. It reads only those that have changed, and lists are the same as after
// a start that reads all of them.
func TestStart(t *testing.T) {
	h := newHarness(t)
	turn := func(id, text string) {
		w := h.watch(id)
		h.query(id, text)
		w.results(1)
		w.stop()
	}
	ended, idle, named := h.connect(), h.connect(), h.connect()
	turn(ended, "say one")
	turn(idle, "say two")
	h.call("session.rename", api.SessionRenameParams{SessionID: named, Title: "a name"}, nil)
	for _, id := range []string{ended, named} {
		h.call("session.disconnect", api.SessionRef{SessionID: id}, nil)
	}
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	list, shown := filepath.Join(h.opts.Dir, listName), filepath.Join(h.opts.Dir, shownDir)
	whole, read := startAgain(h, nil)
	if want := []string{idle}; !slices.Equal(read, want) { // it was stopped with its agent, and is now idle
		t.Errorf("the first start has read %q, want %q", read, want)
	}
	every := slices.Sorted(maps.Keys(whole))
	for _, step := range []struct {
		name   string
		change func() error
		look   func(*Server)
		want   []string
	}{
		{"nothing", func() error { return nil }, nil, nil},
		{"text that is not in the log", func() error { return os.WriteFile(filepath.Join(shown, ended), []byte("1 1\nx\n"), 0o600) }, nil, []string{ended}},
		{"no list", func() error { return os.Remove(list) }, nil, every},
		{"a damaged line", func() error {
			return changeFile(list, fmt.Sprintf(`"session_id":"%s","title":"a`, named), fmt.Sprintf(`"session_id":"%s","title":"b`, named))
		}, nil, []string{named}},
		{"another store", func() error { return changeGeneration(list) }, nil, every},
		{"a torn end", func() error { return appendFile(list, "00000000 {") }, nil, nil},
		{"a deletion", func() error { return nil }, func(s *Server) {
			if _, _, err := s.sessions.Delete(h.ctx(), idle, false); err != nil {
				t.Error(err)
			}
			delete(whole, idle)
		}, nil},
		{"nothing after a deletion", func() error { return nil }, nil, nil},
	} {
		if err := step.change(); err != nil {
			t.Fatal(err)
		}
		seen := maps.Clone(whole)
		all, read := startAgain(h, step.look)
		if !slices.Equal(read, step.want) {
			t.Errorf("%s: the start has read %q, want %q", step.name, read, step.want)
		}
		if diff := cmp.Diff(seen, all); diff != "" {
			t.Errorf("%s: lists differ from those of the first start:\n%s", step.name, diff)
		}
	}
	old, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	startAgain(h, func(s *Server) {
		if _, err := session.Of[session.Details](s.sessions).Rename(h.ctx(), api.SessionRenameParams{SessionID: named, Title: "another name"}); err != nil {
			t.Error(err)
		}
	})
	if err := os.WriteFile(list, old, 0o600); err != nil { // as if the server was killed after storing the event
		t.Fatal(err)
	}
	if all, read := startAgain(h, nil); !slices.Equal(read, []string{named}) || all[named].Title != "another name" {
		t.Errorf("a start with an old list has read %q, want %q; the title is %q", read, named, all[named].Title)
	}
	h.start()
}

// changeFile replaces a text of a file.
func changeFile(name, from, to string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if !strings.Contains(string(data), from) {
		return fmt.Errorf("%s has no %s", name, from)
	}
	return os.WriteFile(name, []byte(strings.ReplaceAll(string(data), from, to)), 0o600)
}

// appendFile adds text to a file.
func appendFile(name, text string) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	f.Close()
	return err
}

// changeGeneration makes the lines of a list belong to another store, with valid checksums.
func changeGeneration(list string) error {
	data, err := os.ReadFile(list)
	var changed []byte
	for line := range strings.Lines(string(data)) {
		text := strings.Replace(line[9:], `"generation":"`, `"generation":"x`, 1)
		changed = fmt.Appendf(changed, "%08x %s", crc32.Checksum([]byte(text), crc32.MakeTable(crc32.Castagnoli)), text)
	}
	return errors.Join(err, os.WriteFile(list, changed, 0o600))
}
