package eventlog_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/eventlog"
)

func TestSnapshot(t *testing.T) {
	s := open(t, nil)
	l := s.Log("a")
	if err := l.PutSnapshot(t.Context(), 1, 0, nil); !errors.Is(err, eventlog.ErrConflict) {
		t.Errorf("snapshot of an empty log: %v", err)
	}
	appendTexts(t, l, 0, "one", "two", "three")
	if _, err := l.Snapshot(t.Context()); !errors.Is(err, eventlog.ErrNotFound) {
		t.Errorf("no snapshot: %v", err)
	}
	large := randomBytes(3_000_000, 1)
	for _, put := range []struct {
		seq, sub uint64
		data     []byte
		refused  bool
	}{
		{1, 0, []byte("after one"), false},
		{2, 0, large, false},
		{2, 5, []byte("after two and five deltas"), false},
		{2, 4, []byte("earlier"), true},
		{1, 0, []byte("earlier"), true},
		{2, 5, []byte("again"), false},
		{4, 0, []byte("later than the log"), true},
		{3, 0, large, false},
	} {
		err := l.PutSnapshot(t.Context(), put.seq, put.sub, put.data)
		if put.refused != errors.Is(err, eventlog.ErrConflict) || err != nil && !put.refused {
			t.Errorf("snapshot %d.%d: %v", put.seq, put.sub, err)
		}
		if put.refused {
			continue
		}
		got, err := l.Snapshot(t.Context())
		if err != nil || got.Seq != put.seq || got.Sub != put.sub || !bytes.Equal(got.Data, put.data) {
			t.Errorf("snapshot %d.%d: got %v with %d bytes, %v", put.seq, put.sub, got.Cursor, len(got.Data), err)
		}
		if _, err := read(t, l, got.Cursor); err != nil {
			t.Errorf("reading on after snapshot %d.%d: %v", put.seq, put.sub, err)
		}
	}
}

func TestTrim(t *testing.T) {
	s := open(t, nil)
	l := s.Log("a")
	appendTexts(t, l, 0, "one", "two")
	if _, err := l.Append(t.Context(), 2, []byte("three"), []byte("four")); err != nil {
		t.Fatal(err)
	}
	appendTexts(t, l, 4, "five", strings.Repeat("6", 600_000))
	if err := l.Trim(t.Context(), 1); !errors.Is(err, eventlog.ErrNoSnapshot) {
		t.Errorf("Trim without a snapshot: %v", err)
	}
	if err := l.PutSnapshot(t.Context(), 3, 0, []byte("state")); err != nil {
		t.Fatal(err)
	}
	if err := l.Trim(t.Context(), 4); !errors.Is(err, eventlog.ErrNoSnapshot) {
		t.Errorf("Trim of what the snapshot does not hold: %v", err)
	}
	trim := func(seq, first uint64) {
		t.Helper()
		if err := l.Trim(t.Context(), seq); err != nil {
			t.Errorf("Trim(%d): %v", seq, err)
		}
		if got, err := l.First(t.Context()); err != nil || got != first {
			t.Errorf("after Trim(%d) the oldest event is %d, %v, want %d", seq, got, err, first)
		}
	}
	trim(0, 1)
	trim(1, 2)
	trim(3, 3) // the record with event 4 is kept whole
	for seq, want := range []error{eventlog.ErrTrimmed, eventlog.ErrTrimmed, nil, nil} {
		if _, err := read(t, l, eventlog.Cursor{Seq: uint64(seq)}); !errors.Is(err, want) {
			t.Errorf("Read after %d: %v, want %v", seq, err, want)
		}
	}
	if err := l.PutSnapshot(t.Context(), 6, 0, []byte("state")); err != nil {
		t.Fatal(err)
	}
	trim(6, 6) // the newest record is kept, so that the numbers continue
	appendTexts(t, l, 6, "seven")
	wantRead(t, l, eventlog.Cursor{Seq: 6}, "7=seven")
}

func TestDelete(t *testing.T) {
	s := open(t, nil)
	l := s.Log("a")
	appendTexts(t, l, 0, "one", "two")
	appendTexts(t, s.Log("b"), 0, "other")
	lease, err := s.Acquire(t.Context(), "a", "me")
	if err := errors.Join(err, l.PutSnapshot(t.Context(), 2, 0, []byte("state")), l.AppendDelta(t.Context(), 0, 2, 1, []byte("x"))); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.Delete(t.Context()), l.Delete(t.Context())); err != nil {
		t.Fatal(err)
	}
	wantRead(t, l, eventlog.Cursor{}, "")
	if err := lease.Renew(t.Context()); !errors.Is(err, eventlog.ErrLeaseLost) {
		t.Errorf("lease of a deleted log: %v", err)
	}
	if _, err := l.Snapshot(t.Context()); !errors.Is(err, eventlog.ErrNotFound) {
		t.Errorf("snapshot of a deleted log: %v", err)
	}
	if _, err := l.Append(t.Context(), 2, []byte("by the old owner")); !errors.Is(err, eventlog.ErrConflict) {
		t.Errorf("Append by the old owner: %v", err)
	}
	appendTexts(t, l, 0, "new")
	wantRead(t, l, eventlog.Cursor{}, "1=new")
	wantRead(t, s.Log("b"), eventlog.Cursor{}, "1=other")
}

func TestSessionsExpire(t *testing.T) {
	now := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	s := open(t, &eventlog.Options{UnsafeNoSync: true, Now: func() time.Time { return now }})
	for _, name := range []string{"old", "held", "renewed"} {
		appendTexts(t, s.Log(name), 0, "one", "two")
	}
	if _, err := s.Acquire(t.Context(), "held", "me"); err != nil {
		t.Fatal(err)
	}
	now = now.Add(48 * time.Hour)
	appendTexts(t, s.Log("renewed"), 2, "three")
	deleted, err := s.Expire(t.Context(), now.Add(-24*time.Hour))
	if err != nil || !slices.Equal(deleted, []string{"old"}) {
		t.Errorf("Expire = %v, %v", deleted, err)
	}
	infos, err := s.Sessions(t.Context())
	if err != nil || len(infos) != 2 || infos[0].Session != "held" || infos[1].Session != "renewed" {
		t.Fatalf("Sessions = %v, %v", infos, err)
	}
	if i := infos[1]; i.First != 1 || i.Last != 3 || !i.Time.Equal(now) || i.Epoch == "" {
		t.Errorf("info %+v", i)
	}
}

func TestFormat(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := open(t, &eventlog.Options{Dir: dir, UnsafeNoSync: true})
	appendTexts(t, s.Log("a"), 0, "one")
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "format")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	format, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, name, []byte(fmt.Sprint(format+1)))
	if _, err := eventlog.Open(t.Context(), &eventlog.Options{Dir: dir}); !errors.Is(err, eventlog.ErrFormat) {
		t.Errorf("format %d: %v, want %v", format+1, err, eventlog.ErrFormat)
	}
	writeFile(t, name, text) // TestMeta has a damaged one
	wantRead(t, open(t, &eventlog.Options{Dir: dir, UnsafeNoSync: true}).Log("a"), eventlog.Cursor{}, "1=one")
}

func TestOpen_options(t *testing.T) {
	for _, opts := range []*eventlog.Options{nil, {}, {Dir: "x", URL: "nats://127.0.0.1:1"}, {Dir: "x", Quota: -1}} {
		if s, err := eventlog.Open(t.Context(), opts); err == nil {
			s.Close(context.Background())
			t.Errorf("Open(%+v) works", opts)
		}
	}
	if _, err := eventlog.Open(t.Context(), &eventlog.Options{URL: "nats://127.0.0.1:1"}); err == nil {
		t.Error("Open of a server that is not there works")
	}
}

// TestOpen_private checks that other users cannot enter the data directory.
func TestOpen_private(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "data")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	open(t, &eventlog.Options{Dir: dir, UnsafeNoSync: true})
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// TestSnapshot_formerLife checks that a recreated log has neither snapshots nor deltas of the earlier
// one, and that its new snapshots count.
func TestSnapshot_formerLife(t *testing.T) {
	s := open(t, nil)
	l := s.Log("a")
	appendTexts(t, l, 0, "one", "two", "three")
	if err := l.PutSnapshot(t.Context(), 2, 0, []byte("former")); err != nil {
		t.Fatal(err)
	}
	if err := l.AppendDelta(t.Context(), 1, 3, 1, []byte("former delta")); err != nil {
		t.Fatal(err)
	}
	if err := l.LoseLog(t.Context()); err != nil {
		t.Fatal(err)
	}
	l = s.Log("a")
	appendTexts(t, l, 0, "1", "2", "3")
	if snap, err := l.Snapshot(t.Context()); !errors.Is(err, eventlog.ErrNotFound) {
		t.Errorf("the snapshot is %q of %v, %v, want none", snap.Data, snap.Cursor, err)
	}
	if err := l.Trim(t.Context(), 2); !errors.Is(err, eventlog.ErrNoSnapshot) {
		t.Errorf("events are trimmed for the snapshot of a former life: %v", err)
	}
	all, err := read(t, l, eventlog.Cursor{})
	if want := "1=1 2=2 3=3"; err != nil || all != want {
		t.Errorf("the log has %v, %v, want %s", all, err, want)
	}
	if err := l.PutSnapshot(t.Context(), 1, 0, []byte("own")); err != nil {
		t.Errorf("a snapshot that is earlier than one of a former life: %v", err)
	}
	if snap, err := l.Snapshot(t.Context()); err != nil || string(snap.Data) != "own" || snap.Seq != 1 {
		t.Errorf("the snapshot is %q of %v, %v, want its own", snap.Data, snap.Cursor, err)
	}
}
