package eventlog_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// TestWatch appends to, reads, trims and deletes sessions concurrently, so that the server writes, rewrites and removes blocks while
// every call checks them. No damage is reported.
func TestWatch(t *testing.T) {
	short.SkipQuick(t, "appends many events")
	t.Cleanup(eventlog.LookAlways())
	dir := filepath.Join(t.TempDir(), "data")
	s := open(t, &eventlog.Options{Dir: dir, UnsafeNoSync: true, Quota: 4 * smallBlocks})
	text := strings.Repeat("text ", 100)
	var workers sync.WaitGroup
	for w := range 4 {
		workers.Go(func() {
			for round := range short.Count(2, 3, 100) {
				l := s.Log(fmt.Sprintf("s%d-%d", w, round%2))
				err := l.Delete(t.Context())
				for n := uint64(0); n < 40 && err == nil; n++ {
					if _, err = l.Append(t.Context(), n, []byte(text)); err == nil && n%10 == 9 {
						err = errors.Join(l.PutSnapshot(t.Context(), n, 0, []byte(text)), l.Trim(t.Context(), n-5))
					}
				}
				if err != nil {
					t.Error(err)
					return
				}
				if found, err := readAround(t, l); err != nil || len(found) == 0 {
					t.Errorf("%d events: %v", len(found), err)
				}
			}
		})
	}
	workers.Wait()
	if eventlog.Mended(s) || salvaged(dir) || len(s.Damage()) > 0 {
		t.Errorf("the store was mended: %v, and a block salvaged: %v; damage %v", eventlog.Mended(s), salvaged(dir), s.Damage())
	}
}

// TestWatch_follow damages a block of a session while others append to another one and follow it: they continue.
func TestWatch_follow(t *testing.T) {
	t.Cleanup(eventlog.LookAlways())
	dir := filepath.Join(t.TempDir(), "data")
	s := open(t, &eventlog.Options{Dir: dir, UnsafeNoSync: true, Quota: smallBlocks})
	text := strings.Repeat("text ", 1000)
	for n := range uint64(10) {
		appendTexts(t, s.Log("old"), n, text)
	}
	const events = 60
	name := filepath.Join(filepath.Dir(blocks(t, dir)[0]), "1.blk")
	var workers sync.WaitGroup
	workers.Go(func() {
		last := uint64(0)
		for e, err := range s.Log("live").Follow(t.Context(), eventlog.Cursor{}) {
			if err != nil || e.Seq != last+1 {
				t.Errorf("the follower has event %d after %d: %v", e.Seq, last, err)
				return
			}
			if last = e.Seq; last == events {
				return
			}
		}
	})
	workers.Go(func() {
		for n := range uint64(events) {
			if _, err := s.Log("live").Append(t.Context(), n, []byte("text")); err != nil {
				t.Errorf("Append(%d): %v", n, err)
				return
			}
			if n == events/2 {
				data, err := os.ReadFile(name)
				if err == nil {
					data[len(data)/2] ^= 1
					err = os.WriteFile(name, data, 0o600)
				}
				if err != nil {
					t.Error(err)
				}
			}
		}
	})
	workers.Wait()
	if !eventlog.Mended(s) || !salvaged(dir) || len(s.Damage()) != 1 || s.Damage()[0].Session != "old" {
		t.Errorf("the store was mended: %v, and a block salvaged: %v; damage %v, want one of the session old", eventlog.Mended(s), salvaged(dir), s.Damage())
	}
}

// TestWatch_files damages a full block in every way that changes its size or time: the next call lists the lost events, the others can be
// read, and other sessions continue.
func TestWatch_files(t *testing.T) {
	t.Cleanup(eventlog.LookAlways())
	for what, damage := range map[string]func(name string, data []byte) error{
		"a flipped bit": func(name string, data []byte) error { data[len(data)/2] ^= 1; return os.WriteFile(name, data, 0o600) },
		"zeros":         func(name string, data []byte) error { return os.WriteFile(name, make([]byte, len(data)), 0o600) },
		"cut":           func(name string, data []byte) error { return os.Truncate(name, int64(len(data)/2)) },
		"emptied":       func(name string, _ []byte) error { return os.Truncate(name, 0) },
		"longer":        func(name string, data []byte) error { return os.WriteFile(name, append(data, data[:100]...), 0o600) },
		"removed":       func(name string, _ []byte) error { return os.Remove(name) },
	} {
		t.Run(what, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			s := open(t, &eventlog.Options{Dir: dir, UnsafeNoSync: true, Quota: smallBlocks})
			const events = 20
			for n := range uint64(events) {
				appendTexts(t, s.Log("old"), n, strings.Repeat("text ", 1000))
			}
			appendTexts(t, s.Log("live"), 0, "text")
			name := filepath.Join(filepath.Dir(blocks(t, dir)[0]), "1.blk")
			data, err := os.ReadFile(name)
			if err == nil {
				err = damage(name, data)
			}
			if err != nil {
				t.Fatal(err)
			}
			appendTexts(t, s.Log("live"), 1, "text")
			lost := uint64(0)
			for _, d := range s.Damage() {
				lost += d.To - d.From + 1
				if d.Session != "old" {
					t.Errorf("session %s has lost events, want only old", d.Session)
				}
			}
			found, err := readAround(t, s.Log("old"))
			if err != nil || uint64(len(found))+lost != events || (lost == 0) != (what == "longer") || !eventlog.Mended(s) {
				t.Errorf("%d events are listed as lost, and %d of %d can be read: %v; the damage is %v, the store was mended: %v", lost, len(found), events, err, s.Damage(), eventlog.Mended(s))
			}
		})
	}
}

// TestWatch_idle damages a block while nobody uses the logs: the loss is listed after the next tick, and by Health.
func TestWatch_idle(t *testing.T) {
	t.Cleanup(eventlog.LookAlways())
	ticks := make(chan time.Time)
	t.Cleanup(eventlog.LookIdle(ticks))
	for what, notice := range map[string]func(s *eventlog.Store) error{
		"a tick": func(*eventlog.Store) error {
			ticks <- time.Time{}
			ticks <- time.Time{} // received after the first look
			return nil
		},
		"Health": func(s *eventlog.Store) error { return s.Health(t.Context()) },
	} {
		t.Run(what, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			s := open(t, &eventlog.Options{Dir: dir, UnsafeNoSync: true, Quota: smallBlocks})
			for n := range uint64(20) {
				appendTexts(t, s.Log("old"), n, strings.Repeat("text ", 1000))
			}
			if err := notice(s); err != nil || eventlog.Mended(s) {
				t.Fatalf("without damage: %v, mended %v", err, eventlog.Mended(s))
			}
			if err := os.Remove(filepath.Join(filepath.Dir(blocks(t, dir)[0]), "1.blk")); err != nil {
				t.Fatal(err)
			}
			if err := notice(s); err != nil || len(s.Damage()) != 1 || !eventlog.Mended(s) {
				t.Errorf("the damage is %v, %v; want that of the session old", s.Damage(), err)
			}
		})
	}
}

// TestWatch_snapshots damages a full block of snapshots: the next call mends the store, no event is lost, and a session has its snapshot or none.
func TestWatch_snapshots(t *testing.T) {
	t.Cleanup(eventlog.LookAlways())
	dir := filepath.Join(t.TempDir(), "data")
	s := open(t, &eventlog.Options{Dir: dir, UnsafeNoSync: true, Quota: smallBlocks})
	text := strings.Repeat("text ", 1000)
	const sessions = 10
	for n := range sessions {
		l := s.Log(fmt.Sprint("s", n))
		appendTexts(t, l, 0, "event")
		if err := l.PutSnapshot(t.Context(), 1, 0, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(dir, "jetstream", "$G", "streams", "PARLEY_SNAPSHOT", "msgs", "1.blk")
	data, err := os.ReadFile(name)
	if err == nil {
		data[len(data)/2] ^= 1
		err = os.WriteFile(name, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	appendTexts(t, s.Log("s0"), 1, "next")
	if !eventlog.Mended(s) || !salvaged(dir) || len(s.Damage()) > 0 {
		t.Errorf("the store was mended: %v, and a block salvaged: %v; lost events %v, want none", eventlog.Mended(s), salvaged(dir), s.Damage())
	}
	missing := 0
	for n := range sessions {
		l := s.Log(fmt.Sprint("s", n))
		if found, err := readAround(t, l); err != nil || found[1] != "event" {
			t.Errorf("session %d has %v, %v, want its event", n, found, err)
		}
		snap, err := l.Snapshot(t.Context())
		if errors.Is(err, eventlog.ErrNotFound) {
			missing++
		} else if err != nil || string(snap.Data) != text {
			t.Errorf("session %d has a snapshot of %d bytes, %v, want one of %d", n, len(snap.Data), err, len(text))
		}
	}
	if missing != 1 {
		t.Errorf("%d sessions have lost their snapshot, want 1", missing)
	}
}
