package eventlog_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// damagedStore creates a store with several server files and three logs, each with a number of
// events, and closes it.
func damagedStore(t *testing.T, events uint64) (dir string, cursors map[string]eventlog.Cursor) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "data")
	s, err := eventlog.Open(t.Context(), &eventlog.Options{Dir: dir, UnsafeNoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	cursors = map[string]eventlog.Cursor{}
	for _, name := range []string{"a", "b", "c"} {
		for n := uint64(0); n < events; n++ {
			if _, err := s.Log(name).Append(t.Context(), n, damageEvent(name, n+1)); err != nil {
				t.Fatal(err)
			}
		}
		if cursors[name], err = s.Log(name).Last(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return dir, cursors
}

func damageEvent(name string, seq uint64) []byte {
	return append(fmt.Appendf(nil, "%s %d ", name, seq), bytes.Repeat([]byte{'x'}, 60_000)...)
}

// blocks returns the files with the messages of the log.
func blocks(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "jetstream", "$G", "streams", "PARLEY_LOG", "msgs", "*.blk"))
	if err != nil || len(files) == 0 {
		t.Fatalf("block files: %v, %v", files, err)
	}
	return files
}

// overwrite writes data into a file, at an offset from its end if that is negative.
func overwrite(t *testing.T, name string, offset int64, data []byte) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if offset < 0 {
		info, _ := f.Stat()
		offset += info.Size()
	}
	_, err = f.WriteAt(data, offset)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

func randomBytes(n int, seed byte) []byte {
	data := make([]byte, n)
	rand.NewChaCha8([32]byte{seed}).Read(data)
	return data
}

// TestDamage breaks the files of a closed store in many ways. Opening it either fails with a named error
// or lists exactly the missing events; the rest can be read, and writers can continue.
func TestDamage(t *testing.T) {
	short.SkipQuick(t, "opens a large store for each damage")
	const events = 120
	tests := []struct {
		name  string
		harm  func(t *testing.T, dir string)
		whole bool // no event is lost
	}{
		{"nothing", func(t *testing.T, dir string) {}, true},
		{"no index", func(t *testing.T, dir string) { removeFile(t, indexFile(dir)) }, true},
		{"garbage index", func(t *testing.T, dir string) { writeFile(t, indexFile(dir), randomBytes(500, 1)) }, true},
		{"empty index", func(t *testing.T, dir string) { writeFile(t, indexFile(dir), nil) }, true},
		{"no checkpoint", func(t *testing.T, dir string) { removeFile(t, filepath.Join(dir, "checkpoint.json")) }, true},
		{"garbage checkpoint", func(t *testing.T, dir string) {
			writeFile(t, filepath.Join(dir, "checkpoint.json"), []byte(`{"files":`))
		}, true},
		{"garbage deltas", func(t *testing.T, dir string) {
			writeFile(t, filepath.Join(dir, "jetstream", "$G", "streams", "PARLEY_DELTA", "meta.inf"), randomBytes(300, 7))
		}, true},
		{"last block truncated", func(t *testing.T, dir string) { truncateBy(t, blocks(t, dir)[len(blocks(t, dir))-1], 100_000) }, false},
		{"first block truncated", func(t *testing.T, dir string) { truncateBy(t, blocks(t, dir)[0], 1_000_000) }, false},
		{"first block empty", func(t *testing.T, dir string) { writeFile(t, blocks(t, dir)[0], nil) }, false},
		{"first block missing", func(t *testing.T, dir string) { removeFile(t, blocks(t, dir)[0]) }, false},
		{"last block missing", func(t *testing.T, dir string) { removeFile(t, blocks(t, dir)[len(blocks(t, dir))-1]) }, false},
		{"all blocks missing", func(t *testing.T, dir string) {
			for _, name := range blocks(t, dir) {
				removeFile(t, name)
			}
		}, false},
		{"garbage in the first block", func(t *testing.T, dir string) { overwrite(t, blocks(t, dir)[0], 300_000, randomBytes(5000, 2)) }, false},
		{"garbage at the start", func(t *testing.T, dir string) { overwrite(t, blocks(t, dir)[0], 0, randomBytes(64, 3)) }, false},
		{"garbage at the end", func(t *testing.T, dir string) {
			overwrite(t, blocks(t, dir)[len(blocks(t, dir))-1], -500, randomBytes(500, 4))
		}, false},
		{"one bit", func(t *testing.T, dir string) { overwrite(t, blocks(t, dir)[0], 500_000, []byte{'y'}) }, false},
		{"garbage everywhere", func(t *testing.T, dir string) {
			for i, name := range blocks(t, dir) {
				writeFile(t, name, randomBytes(100_000, byte(10+i)))
			}
		}, false},
	}
	whole, cursors := damagedStore(t, events)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			tt.harm(t, dir)
			s := open(t, &eventlog.Options{Dir: dir, UnsafeNoSync: true})
			if tt.whole != (len(s.Damage()) == 0) {
				t.Errorf("damage %v", s.Damage())
			}
			for name, cursor := range cursors {
				checkDamaged(t, s, name, events)
				_, err := read(t, s.Log(name), cursor)
				if tt.whole && err != nil || !tt.whole && !errors.Is(err, eventlog.ErrEpoch) && !errors.Is(err, eventlog.ErrNotFound) {
					t.Errorf("old cursor of %s: %v", name, err)
				}
			}
			// Known damage stays listed, and is not reported again.
			damage := s.Damage()
			if err := s.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			s = open(t, &eventlog.Options{Dir: dir, UnsafeNoSync: true})
			if !slices.Equal(s.Damage(), damage) {
				t.Errorf("damage %v, at first %v", s.Damage(), damage)
			}
		})
	}
}

// checkDamaged reads a log around its damage: events that are neither read nor listed as lost are an error. Then it appends.
func checkDamaged(t *testing.T, s *eventlog.Store, name string, events uint64) {
	t.Helper()
	state := make([]string, events+1) // of each event
	for _, d := range s.Damage() {
		for seq := d.From; d.Session == name && seq <= d.To; seq++ {
			state[seq] = "lost"
		}
	}
	l := s.Log(name)
	var at eventlog.Cursor
	for again := true; again; {
		again = false
		for e, err := range l.Read(t.Context(), at) {
			var damage *eventlog.DamageError
			if errors.As(err, &damage) && damage.To > at.Seq {
				at.Seq, again = damage.To, true
				break
			}
			if err != nil {
				t.Fatalf("%s after %d: %v", name, at.Seq, err)
			}
			if state[e.Seq] != "" || !bytes.Equal(e.Data, damageEvent(name, e.Seq)) {
				t.Errorf("%s: event %d is %q and was read with %d bytes", name, e.Seq, state[e.Seq], len(e.Data))
			}
			state[e.Seq], at.Seq = "read", e.Seq
		}
	}
	if i := slices.Index(state[1:], ""); i >= 0 {
		t.Errorf("%s: event %d is neither read nor named as lost: %v", name, i+1, s.Damage())
	}
	last, err := l.Last(t.Context())
	if err != nil && !errors.Is(err, eventlog.ErrNotFound) {
		t.Fatal(err)
	}
	appendTexts(t, l, last.Seq, "afterwards")
	wantRead(t, l, eventlog.Cursor{Seq: last.Seq}, fmt.Sprintf("%d=afterwards", last.Seq+1))
}

// TestDamage_crash breaks a store that was not closed: events from its start are reported missing, a deleted
// session is not.
func TestDamage_crash(t *testing.T) {
	dir, _ := damagedStore(t, 3)
	s := open(t, &eventlog.Options{Dir: dir, UnsafeNoSync: true})
	if err := s.Log("b").Delete(t.Context()); err != nil {
		t.Fatal(err)
	}
	crash(t, dir, s)
	for _, name := range blocks(t, dir) {
		removeFile(t, name)
	}
	s = open(t, &eventlog.Options{Dir: dir, UnsafeNoSync: true})
	want := "[session a has lost its events 1 to 3: they are not in the store session c has lost its events 1 to 3: they are not in the store]"
	if got := fmt.Sprint(s.Damage()); got != want {
		t.Errorf("damage %s, want %s", got, want)
	}
}

func indexFile(dir string) string {
	return filepath.Join(dir, "jetstream", "$G", "streams", "PARLEY_LOG", "msgs", "index.db")
}

func removeFile(t *testing.T, name string) {
	t.Helper()
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
}

func writeFile(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func truncateBy(t *testing.T, name string, n int64) {
	t.Helper()
	info, err := os.Stat(name)
	if err == nil {
		err = os.Truncate(name, info.Size()-n)
	}
	if err != nil {
		t.Fatal(err)
	}
}
