package eventlog_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// harms are kinds of damage to a small file.
var harms = map[string]func(data []byte) []byte{
	"truncated": func(data []byte) []byte { return data[:len(data)/2] },
	"emptied":   func([]byte) []byte { return []byte{} },
	"garbage":   func(data []byte) []byte { return bytes.Repeat([]byte{0xa5, 0}, 1+len(data)/2) },
	"flipped":   func(data []byte) []byte { data = bytes.Clone(data); data[len(data)/2] ^= 4; return data },
	"deleted":   func([]byte) []byte { return nil },
}

// TestMeta damages the files that describe the streams of a closed store, and the one with its format: Examine counts them without
// changes, Open recreates and reports them, and every event is kept. The same applies to a killed store.
func TestMeta(t *testing.T) {
	short.SkipQuick(t, "opens a store for each damage")
	whole, all := closedStore(t, 0)
	kept := intact(t, whole, whole)
	files := []string{"format"}
	for _, stream := range []string{"PARLEY_LOG", "PARLEY_SNAPSHOT", "PARLEY_DELTA", "KV_PARLEY_LEASE"} {
		for _, name := range []string{"meta.inf", "meta.sum"} {
			files = append(files, filepath.Join("jetstream", "$G", "streams", stream, name))
		}
	}
	for i, file := range files {
		for harm, change := range harms {
			killed := (i+len(harm))%2 == 0
			dir := copyStore(t, whole)
			name := filepath.Join(dir, file)
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if data = change(data); data == nil {
				err = os.Remove(name)
			} else {
				err = os.WriteFile(name, data, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			if killed {
				if err := os.Remove(filepath.Join(dir, "checkpoint.json")); err != nil {
					t.Fatal(err)
				}
			}
			mended := strings.Contains(file, "LOG") || strings.Contains(file, "SNAPSHOT") || file == "format" && harm != "deleted" && harm != "truncated" // which keep the number
			checkMended(t, dir, file+" "+harm, mended, all, kept)
		}
	}
}

// checkMended opens a store twice and checks that no event is lost.
func checkMended(t *testing.T, dir, what string, mended bool, all written, kept map[string]map[string]bool) {
	t.Helper()
	h, err := eventlog.Examine(t.Context(), &eventlog.Options{Dir: dir, Quota: smallBlocks})
	if err != nil || (h.Bad > 0) != mended {
		t.Errorf("%s: Examine: %d damaged files, %v", what, h.Bad, err)
	}
	var log bytes.Buffer
	for round := range 2 {
		s, err := eventlog.Open(t.Context(), &eventlog.Options{Dir: dir, UnsafeNoSync: true, Quota: smallBlocks, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Errorf("%s: Open: %v", what, err)
			return
		}
		checkSalvaged(t, s, all, kept)
		if len(s.Damage()) > 0 {
			t.Errorf("%s, round %d: %v", what, round, s.Damage())
		}
		if round > 0 {
			if _, err := s.Log("new").Append(t.Context(), 0, []byte("x")); err != nil {
				t.Errorf("%s: Append: %v", what, err)
			}
		}
		closeStore(t, s)
	}
	if reported := strings.Contains(log.String(), "written again"); reported != mended {
		t.Errorf("%s: the log reports it: %v, want %v\n%s", what, reported, mended, log.String())
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
}
