package eventlog_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// TestQuota fills a store: it warns before, returns a named error when it is full, can still be
// read, and accepts events again after a deletion.
func TestQuota(t *testing.T) {
	var logged bytes.Buffer
	s := open(t, &eventlog.Options{UnsafeNoSync: true, Quota: 4 << 20, Logger: slog.New(slog.NewTextHandler(&logged, nil))})
	if u, err := s.Usage(t.Context()); err != nil || u.Warning != "" || u.Quota != 4<<20 || u.Free <= 0 {
		t.Errorf("empty store: %+v, %v", u, err)
	}
	fill(t, s.Log("a"), 100_000)
	u, err := s.Usage(t.Context())
	if err != nil || u.Warning == "" || u.Bytes < 3<<20 || u.Bytes > 4<<20 {
		t.Errorf("full store: %+v, %v", u, err)
	}
	if !strings.Contains(logged.String(), "nearly full") {
		t.Errorf("logged %q", logged.String())
	}
	if err := s.Health(t.Context()); err != nil {
		t.Errorf("Health with some room left: %v", err)
	}
	if _, err := s.Log("big").Append(t.Context(), 0, make([]byte, 10<<20)); !errors.Is(err, eventlog.ErrFull) {
		t.Errorf("10 MB: %v", err)
	}
	if _, err := read(t, s.Log("a"), eventlog.Cursor{}); err != nil {
		t.Errorf("reading: %v", err)
	}
	if err := s.Log("a").Delete(t.Context()); err != nil {
		t.Fatal(err)
	}
	appendTexts(t, s.Log("b"), 0, strings.Repeat("x", 1<<20))
	if u, err := s.Usage(t.Context()); err != nil || u.Warning != "" {
		t.Errorf("after deleting: %+v, %v", u, err)
	}
}

// fill appends events until the store is full, and returns the number of the last one.
func fill(t *testing.T, l *eventlog.Log, size int) uint64 {
	t.Helper()
	return fillFrom(t, l, 0, size)
}

// fillFrom is fill for a log with n events.
func fillFrom(t *testing.T, l *eventlog.Log, n uint64, size int) uint64 {
	t.Helper()
	for ; ; n++ {
		_, err := l.Append(t.Context(), n, make([]byte, size))
		if errors.Is(err, eventlog.ErrFull) {
			if last, err := l.Last(t.Context()); err != nil || last.Seq != n {
				t.Errorf("the full log ends at %v, %v, want %d", last.Seq, err, n)
			}
			return n
		}
		if err != nil {
			t.Fatalf("event %d: %v", n+1, err)
		}
		if n > 10_000 {
			t.Fatal("the store is never full")
		}
	}
}

// tmpfs mounts a small file system, or skips the test.
func tmpfs(t *testing.T, size string) string {
	t.Helper()
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		t.Skip("a full disk takes root on Linux to mount a small one")
	}
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+size, "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("a small file system cannot be mounted: %v: %s", err, out)
	}
	t.Cleanup(func() { run(t, "umount", dir) })
	return dir
}

// TestDiskFull_reserve uses a disk that is smaller than the quota: the reserve keeps the server
// from filling it.
func TestDiskFull_reserve(t *testing.T) {
	short.SkipQuick(t, "fills a store")
	dir := tmpfs(t, "48m")
	s := open(t, &eventlog.Options{Dir: filepath.Join(dir, "data"), UnsafeNoSync: true, Reserve: 16 << 20})
	hog := filepath.Join(dir, "hog")
	if err := os.WriteFile(hog, make([]byte, 8<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	last := fill(t, s.Log("a"), 200_000)
	if err := os.Remove(hog); err != nil {
		t.Fatal(err)
	}
	appendTexts(t, s.Log("a"), last, strings.Repeat("x", 200_000)) // not after the next measurement only
	last = fillFrom(t, s.Log("a"), last+1, 200_000)
	if u, err := s.Usage(t.Context()); err != nil || u.Warning == "" || u.Free > 1<<20 {
		t.Errorf("usage %+v, %v", u, err)
	}
	if err := s.Health(t.Context()); !errors.Is(err, eventlog.ErrFull) && err != nil {
		t.Errorf("Health: %v", err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	s = open(t, &eventlog.Options{Dir: filepath.Join(dir, "data"), UnsafeNoSync: true, Reserve: 16 << 20})
	if got, err := s.Log("a").Last(t.Context()); err != nil || got.Seq != last || len(s.Damage()) > 0 {
		t.Errorf("after reopening the log ends at %v, %v, want %d; damage %v", got.Seq, err, last, s.Damage())
	}
}

// TestDiskFull fills the disk of the store with another program. No acknowledged event is lost, the error has a name,
// readers and followers continue, and with room again the store works.
func TestDiskFull(t *testing.T) {
	dir := tmpfs(t, "32m")
	opts := &eventlog.Options{Dir: filepath.Join(dir, "data"), Reserve: -1}
	s := open(t, opts)
	l := s.Log("a")
	appendTexts(t, l, 0, "one", "two")
	follower := make(chan string, 1)
	go func() {
		for e, err := range l.Follow(t.Context(), eventlog.Cursor{}) {
			if err != nil || string(e.Data) == "works again" {
				follower <- fmt.Sprintf("%s %v", e.Data, err)
				return
			}
		}
	}()
	hog := filepath.Join(dir, "hog")
	fillDisk(t, hog)
	last := uint64(2)
	var err error
	for range 200 {
		var n uint64
		if n, err = l.Append(t.Context(), last, make([]byte, 100_000)); err != nil {
			break
		}
		last = n
	}
	if !errors.Is(err, eventlog.ErrFull) {
		t.Errorf("full disk: %v", err)
	}
	for range 3 { // the error is returned again, at once
		if _, err := l.Append(t.Context(), last, []byte("no")); !errors.Is(err, eventlog.ErrFull) {
			t.Errorf("full disk: %v", err)
		}
		if err := s.Health(t.Context()); !errors.Is(err, eventlog.ErrFull) {
			t.Errorf("Health: %v", err)
		}
	}
	if got, err := read(t, l, eventlog.Cursor{}); err != nil || !strings.HasPrefix(got, "1=one 2=two") {
		t.Errorf("reading on a full disk: %.20q, %v", got, err)
	}
	if err := os.Remove(hog); err != nil {
		t.Fatal(err)
	}
	got, err := l.Last(t.Context())
	if err != nil || got.Seq < last {
		t.Errorf("the log ends at %v, %v, want %d", got.Seq, err, last)
	}
	began := time.Now()
	appendTexts(t, l, got.Seq, "works again")
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("the first append with room again took %v", took) // a request to the replaced server would wait for 10 s
	}
	if got := <-follower; got != "works again <nil>" {
		t.Errorf("the follower ended with %s", got)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	s = open(t, opts)
	if again, err := s.Log("a").Last(t.Context()); err != nil || again.Seq != got.Seq+1 || len(s.Damage()) > 0 {
		t.Errorf("after reopening the log ends at %v, %v, want %d; damage %v", again.Seq, err, got.Seq+1, s.Damage())
	}
}

func fillDisk(t *testing.T, name string) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 20; size >= 1; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
}
