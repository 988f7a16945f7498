package eventlog_test

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// backedUp returns a backup of a store with three logs, one of them trimmed, and the content of each.
func backedUp(t *testing.T) (backup []byte, want map[string]string, cursor eventlog.Cursor) {
	t.Helper()
	s := open(t, nil)
	appendTexts(t, s.Log("a"), 0, "one", "two", "three")
	appendTexts(t, s.Log("b"), 0, string(randomBytes(700_000, 1)))
	trimmed := s.Log("trimmed")
	appendTexts(t, trimmed, 0, "one", "two", "three", "four")
	if err := errors.Join(trimmed.PutSnapshot(t.Context(), 3, 0, []byte("state")), trimmed.Trim(t.Context(), 3),
		trimmed.AppendDelta(t.Context(), 0, 4, 1, []byte("not in the backup"))); err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	if err := s.Backup(t.Context(), &buf); err != nil {
		t.Fatal(err)
	}
	want = map[string]string{"trimmed": "4=four"}
	for _, name := range []string{"a", "b"} {
		var err error
		if want[name], err = read(t, s.Log(name), eventlog.Cursor{}); err != nil {
			t.Fatal(err)
		}
	}
	cursor, err := s.Log("a").Last(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return buf.Bytes(), want, cursor
}

func TestBackup(t *testing.T) {
	backup, want, cursor := backedUp(t)
	opts := &eventlog.Options{Dir: filepath.Join(t.TempDir(), "data")}
	if err := eventlog.Restore(t.Context(), bytes.NewReader(backup), opts); err != nil {
		t.Fatal(err)
	}
	s := open(t, opts)
	if len(s.Damage()) > 0 {
		t.Errorf("damage %v", s.Damage())
	}
	wantRead(t, s.Log("a"), eventlog.Cursor{}, want["a"])
	wantRead(t, s.Log("b"), eventlog.Cursor{}, want["b"])
	wantRead(t, s.Log("trimmed"), eventlog.Cursor{Seq: 3}, want["trimmed"])
	if snapshot, err := s.Log("trimmed").Snapshot(t.Context()); err != nil || snapshot.Seq != 3 || string(snapshot.Data) != "state" {
		t.Errorf("snapshot %v, %v", snapshot, err)
	}
	// The old store may have continued: its cursors are invalid in the restored one.
	if _, err := read(t, s.Log("a"), cursor); !errors.Is(err, eventlog.ErrEpoch) {
		t.Errorf("cursor of the old store: %v", err)
	}
	appendTexts(t, s.Log("a"), 3, "four")
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := eventlog.Restore(t.Context(), bytes.NewReader(backup), opts); !errors.Is(err, eventlog.ErrBackup) {
		t.Errorf("Restore into a store with logs: %v", err)
	}
}

// TestRestore_damaged truncates a backup at many places and changes bytes of it: each is rejected, and the store stays
// empty and usable.
func TestRestore_damaged(t *testing.T) {
	short.SkipQuick(t, "restores a backup for each damage")
	backup, _, _ := backedUp(t)
	opts := &eventlog.Options{Dir: filepath.Join(t.TempDir(), "data"), UnsafeNoSync: true}
	check := func(what string, data []byte, want error) {
		t.Helper()
		if err := eventlog.Restore(t.Context(), bytes.NewReader(data), opts); !errors.Is(err, want) {
			t.Errorf("%s: %v; want errors.Is(err, want)", what, err)
		}
	}
	for _, n := range []int{0, 1, 24, 26, 30, 200, len(backup) / 2, len(backup) - 33, len(backup) - 1} {
		check(fmt.Sprintf("the first %d bytes", n), backup[:n], eventlog.ErrBackup)
	}
	for _, at := range []int{0, 40, 400, len(backup) / 2, len(backup) - 36, len(backup) - 1} {
		changed := bytes.Clone(backup)
		changed[at] ^= 1
		check(fmt.Sprintf("changed at %d", at), changed, eventlog.ErrBackup)
	}
	newer := bytes.Replace(backup, []byte("backup 1\n"), []byte("backup 2\n"), 1)
	check("newer format", newer, eventlog.ErrFormat)
	s := open(t, opts)
	if infos, err := s.Sessions(t.Context()); err != nil || len(infos) > 0 {
		t.Errorf("after refused backups there are %v, %v", infos, err)
	}
	appendTexts(t, s.Log("a"), 0, "one")
}

// TestBackup_running makes backups while logs are written, trimmed and get snapshots: each restores to a prefix of every log, with every
// event that was acknowledged before the backup.
func TestBackup_running(t *testing.T) {
	short.SkipQuick(t, "copies many logs")
	s := open(t, nil)
	stop := make(chan struct{})
	var writers sync.WaitGroup
	var acked [4]atomic.Uint64
	for i := range acked {
		l := s.Log(fmt.Sprint("s", i))
		appendTexts(t, l, 0, "1")
		writers.Go(func() {
			for n := uint64(1); ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				_, err := l.Append(t.Context(), n, fmt.Appendf(nil, "%d", n+1))
				if err == nil && n%20 == 0 {
					err = errors.Join(l.PutSnapshot(t.Context(), n, 0, fmt.Appendf(nil, "%d", n)), l.Trim(t.Context(), n-5))
				}
				if err != nil {
					t.Error(err)
					return
				}
				acked[i].Store(n + 1)
			}
		})
	}
	var backups [4]bytes.Buffer
	var before [4][4]uint64
	for i := range backups {
		if i == len(backups)-1 { // without writers nothing hides a missing end
			close(stop)
			writers.Wait()
		}
		for n := range acked {
			eventually(t, "the log is written", func() bool { before[i][n] = acked[n].Load(); return before[i][n] > 0 || t.Failed() })
		}
		if err := s.Backup(t.Context(), &backups[i]); err != nil {
			t.Error(err)
		}
	}
	for i := range backups {
		opts := &eventlog.Options{Dir: filepath.Join(t.TempDir(), "data"), UnsafeNoSync: true}
		if err := eventlog.Restore(t.Context(), &backups[i], opts); err != nil {
			t.Fatal(err)
		}
		checkPrefixes(t, open(t, opts), before[i])
	}
}

func checkPrefixes(t *testing.T, s *eventlog.Store, least [4]uint64) {
	t.Helper()
	for i, want := range least {
		l := s.Log(fmt.Sprint("s", i))
		snapshot, err := l.Snapshot(t.Context())
		if err != nil && !errors.Is(err, eventlog.ErrNotFound) {
			t.Fatal(err)
		}
		seq := snapshot.Seq
		for e, err := range l.Read(t.Context(), snapshot.Cursor) {
			if seq++; err != nil || e.Seq != seq || string(e.Data) != fmt.Sprint(seq) {
				t.Fatalf("%s: event %d: %v, %v", l.Session(), seq, show(e), err)
			}
		}
		if last, err := l.Last(t.Context()); err != nil || last.Seq != seq || seq < want || seq == 0 {
			t.Errorf("%s ends at %v, %v; read up to %d, want at least %d", l.Session(), last.Seq, err, seq, want)
		}
	}
}
