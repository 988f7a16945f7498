package eventlog_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// TestHeads opens a killed store, with logs that were trimmed, deleted and recreated, and records of many parts. Open reads the
// files once and no messages from the server, and finds the same as from the server, also if a file is missing or damaged.
func TestHeads(t *testing.T) {
	short.SkipQuick(t, "writes many logs")
	root := t.TempDir()
	open := func(dir string) *eventlog.Store {
		s, err := eventlog.Open(t.Context(), &eventlog.Options{Dir: dir, UnsafeNoSync: true, Quota: largeBlocks})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	killed := filepath.Join(root, "killed")
	s := open(filepath.Join(root, "data"))
	all := fillStore(t, s, true)
	for range 3 { // the newest counts
		if err := s.Log("a").PutSnapshot(t.Context(), uint64(len(all["a"])), 0, make([]byte, 300_000)); err != nil {
			t.Fatal(err)
		}
	}
	_, ends, err := s.Ends(t.Context())
	if err := errors.Join(err, os.CopyFS(killed, os.DirFS(filepath.Join(root, "data"))), s.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	msgs := func(dir, stream string) string {
		return filepath.Join(dir, "jetstream", "$G", "streams", stream, "msgs")
	}
	lost := uint64(0) // the trimmed events of b
	for _, want := range all["b"] {
		if want == "" {
			lost++
		}
	}
	for _, test := range []struct {
		name   string
		damage func(dir string)
		want   string // empty matches anything
	}{
		{"whole", func(string) {}, "[]"},
		{"no snapshots", func(dir string) { removeAll(t, msgs(dir, "PARLEY_SNAPSHOT")) },
			fmt.Sprintf("[session b has lost its events 1 to %d: they are not in the store]", lost)},
		{"a flip", func(dir string) { overwrite(t, blocks(t, dir)[0], -3, []byte{0, 1, 2}) }, ""},
	} {
		dir := filepath.Join(root, test.name)
		if err := os.CopyFS(dir, os.DirFS(killed)); err != nil {
			t.Fatal(err)
		}
		test.damage(dir)
		s := open(dir)
		if eventlog.Scanned(s) {
			t.Errorf("%s: Open has read the messages from the server", test.name)
		}
		if got := fmt.Sprint(s.Damage()); got != test.want && test.want != "" {
			t.Errorf("%s: damage %s, want %s", test.name, got, test.want)
		}
		if _, got, err := s.Ends(t.Context()); fmt.Sprint(got) != fmt.Sprint(ends) && test.want != "" || err != nil {
			t.Errorf("%s: ends %v, want %v: %v", test.name, got, ends, err)
		}
		checkSalvaged(t, s, all, intact(t, killed, dir))
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func removeAll(t *testing.T, dir string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
}
