package eventlog_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

func TestAppend_conflict(t *testing.T) {
	s := open(t, nil)
	l := s.Log("a")
	appendTexts(t, l, 0, "one", "two")
	for _, expected := range []uint64{0, 1, 3, 1 << 63} {
		_, err := l.Append(t.Context(), expected, []byte("no"))
		var conflict *eventlog.ConflictError
		if !errors.Is(err, eventlog.ErrConflict) || !errors.As(err, &conflict) || conflict.Last != 2 || conflict.Expected != expected {
			t.Errorf("Append after %d: %v", expected, err)
		}
	}
	if last, err := l.Append(t.Context(), 2); err != nil || last != 2 {
		t.Errorf("Append without events = %d, %v", last, err)
	}
	if _, err := l.Append(t.Context(), 1); !errors.Is(err, eventlog.ErrConflict) {
		t.Errorf("Append without events after 1: %v", err)
	}
	wantRead(t, l, eventlog.Cursor{}, "1=one 2=two")
}

// TestAppend_race runs writers that all assume to own the log: each number is written once.
func TestAppend_race(t *testing.T) {
	s := open(t, nil)
	const writers, events = 8, 40
	var won [events]atomic.Int32
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			l := s.Log("a")
			for seq := uint64(0); seq < events; {
				last, err := l.Append(t.Context(), seq, fmt.Appendf(nil, "%d/%d", seq+1, w))
				var conflict *eventlog.ConflictError
				switch {
				case err == nil:
					won[last-1].Add(1)
					seq = last
				case errors.As(err, &conflict) && conflict.Last > seq:
					seq = conflict.Last
				default:
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	for i := range won {
		if n := won[i].Load(); n != 1 {
			t.Errorf("event %d was acknowledged %d times", i+1, n)
		}
	}
	seq := uint64(0)
	for e, err := range s.Log("a").Read(t.Context(), eventlog.Cursor{}) {
		if seq++; err != nil || e.Seq != seq || !strings.HasPrefix(string(e.Data), fmt.Sprintf("%d/", seq)) {
			t.Fatalf("event %d: %v %q, %v", seq, e.Seq, e.Data, err)
		}
	}
	if seq != events {
		t.Errorf("read %d events, want %d", seq, events)
	}
}

// TestAppend_largeEvents appends events around the size of a part and of many parts. PARLEY_SOAK=1 makes the
// largest 100 MB.
func TestAppend_largeEvents(t *testing.T) {
	short.SkipQuick(t, "appends large events")
	largest := short.Count(5_000_000, 5_000_000, 100_000_000)
	s := open(t, &eventlog.Options{UnsafeNoSync: true})
	l := s.Log("big")
	random := rand.NewChaCha8([32]byte{1})
	sizes := []int{0, 1, 256 << 10, 256<<10 - 4, 256<<10 + 1, 1 << 20, largest, 5}
	var want [][]byte
	for _, size := range sizes {
		data := make([]byte, size)
		random.Read(data)
		want = append(want, data)
		if _, err := l.Append(t.Context(), uint64(len(want)-1), data); err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
	}
	for _, from := range []int{0, 3, 7} {
		i := from
		for e, err := range l.Read(t.Context(), eventlog.Cursor{Seq: uint64(from)}) {
			if err != nil || !bytes.Equal(e.Data, want[i]) {
				t.Fatalf("from %d: event %d has %d bytes, want %d; %v", from, e.Seq, len(e.Data), len(want[i]), err)
			}
			i++
		}
		if i != len(sizes) {
			t.Errorf("from %d: read up to %d, want %d", from, i, len(sizes))
		}
	}
}

// TestAppend_largeDoesNotStall appends to one log while another accepts a large event.
func TestAppend_largeDoesNotStall(t *testing.T) {
	s := open(t, &eventlog.Options{UnsafeNoSync: true})
	done := make(chan error, 1)
	go func() {
		_, err := s.Log("big").Append(t.Context(), 0, make([]byte, 8<<20))
		done <- err
	}()
	small := s.Log("small")
	for n := uint64(0); ; n++ {
		select {
		case err := <-done:
			if err != nil || n == 0 {
				t.Errorf("%d small events beside the large one; %v", n, err)
			}
			return
		default:
		}
		if _, err := small.Append(t.Context(), n, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAppend_refused(t *testing.T) {
	s := open(t, &eventlog.Options{UnsafeNoSync: true, MaxAppend: 1000})
	if _, err := s.Log("a").Append(t.Context(), 0, make([]byte, 600), make([]byte, 401)); !errors.Is(err, eventlog.ErrTooLarge) {
		t.Errorf("1001 bytes: %v", err)
	}
	if _, err := s.Log("a").Append(t.Context(), 0, make([]byte, 600), make([]byte, 400)); err != nil {
		t.Errorf("1000 bytes: %v", err)
	}
	for _, name := range []string{"", "a.b", "*", ">", "a b", "../x", "ä", strings.Repeat("x", 129)} {
		if _, err := s.Log(name).Append(t.Context(), 0, nil); !errors.Is(err, eventlog.ErrSession) {
			t.Errorf("session %q: %v", name, err)
		}
		if _, err := read(t, s.Log(name), eventlog.Cursor{}); !errors.Is(err, eventlog.ErrSession) {
			t.Errorf("reading session %q: %v", name, err)
		}
	}
	appendTexts(t, s.Log(strings.Repeat("x", 128)), 0, "longest name")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Log("a").Append(ended, 2, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
}

func TestAppend_time(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	s := open(t, &eventlog.Options{UnsafeNoSync: true, Now: func() time.Time { return now }})
	appendTexts(t, s.Log("a"), 0, "one")
	for e, err := range s.Log("a").Read(t.Context(), eventlog.Cursor{}) {
		if err != nil || !e.Time.Equal(now) {
			t.Errorf("time %v, %v, want %v", e.Time, err, now)
		}
	}
}

func TestDeltas(t *testing.T) {
	s := open(t, nil)
	l := s.Log("a")
	delta := func(owner, seq, sub uint64, texts ...string) error {
		var data [][]byte
		for _, text := range texts {
			data = append(data, []byte(text))
		}
		return l.AppendDelta(t.Context(), owner, seq, sub, data...)
	}
	if err := delta(0, 1, 1, "early"); !errors.Is(err, eventlog.ErrConflict) {
		t.Errorf("delta of an empty log: %v", err)
	}
	appendTexts(t, l, 0, "one")
	if err := errors.Join(delta(0, 1, 1, "a", "b"), delta(0, 1, 3, "c")); err != nil {
		t.Fatal(err)
	}
	wantRead(t, l, eventlog.Cursor{}, "1=one 1.1=a 1.2=b 1.3=c")
	wantRead(t, l, eventlog.Cursor{Seq: 1, Sub: 2}, "1.3=c")
	appendTexts(t, l, 1, "abc")
	wantRead(t, l, eventlog.Cursor{}, "1=one 2=abc")
	wantRead(t, l, eventlog.Cursor{Seq: 1, Sub: 2}, "2=abc") // the complete message replaces the deltas
	if err := delta(0, 1, 4, "late"); !errors.Is(err, eventlog.ErrConflict) {
		t.Errorf("superseded delta: %v", err)
	}
	if err := errors.Join(delta(7, 2, 1, "x"), delta(6, 2, 2, "old owner"), delta(7, 2, 2, "y")); err != nil {
		t.Fatal(err)
	}
	wantRead(t, l, eventlog.Cursor{}, "1=one 2=abc 2.1=x 2.2=y")
	if err := l.TrimDeltas(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	wantRead(t, l, eventlog.Cursor{}, "1=one 2=abc 2.1=x 2.2=y")
	if err := l.TrimDeltas(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	wantRead(t, l, eventlog.Cursor{}, "1=one 2=abc")
}
