package eventlog_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// TestRead_tail reads from every number of logs with interleaved random records: the result is the
// tail of the whole.
func TestRead_tail(t *testing.T) {
	s := open(t, nil)
	random := rand.New(rand.NewPCG(1, 2))
	logs := []*eventlog.Log{s.Log("a"), s.Log("b"), s.Log("c")}
	want := make([][]string, len(logs))
	for range short.Count(20, 60, 60) {
		i := random.IntN(len(logs))
		var events [][]byte
		for range 1 + random.IntN(5) {
			e := fmt.Appendf(nil, "%d-%d", i, len(want[i])+1)
			if random.IntN(20) == 0 {
				e = append(e, strings.Repeat("x", 300_000)...)
			}
			events = append(events, e)
			want[i] = append(want[i], fmt.Sprintf("%d=%s", len(want[i])+1, e))
		}
		if _, err := logs[i].Append(t.Context(), uint64(len(want[i])-len(events)), events...); err != nil {
			t.Fatal(err)
		}
	}
	for i, l := range logs {
		for n := range len(want[i]) + 1 {
			var got []string
			for e, err := range l.Read(t.Context(), eventlog.Cursor{Seq: uint64(n)}) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, show(e))
			}
			if !slices.Equal(got, want[i][n:]) {
				t.Errorf("log %d after %d: %d events, want %d", i, n, len(got), len(want[i])-n)
			}
		}
	}
}

// TestFollow_everything follows 20 logs from their start, and from the middle, while 20 writers
// append: each event arrives exactly once and in order.
func TestFollow_everything(t *testing.T) {
	s := open(t, nil)
	logs, events := short.Count(5, 20, 20), uint64(short.Count(40, 100, 100))
	var all sync.WaitGroup
	for i := range logs {
		l := s.Log(fmt.Sprint("s", i))
		all.Go(func() {
			for n := range events {
				if _, err := l.Append(t.Context(), n, fmt.Appendf(nil, "%d", n+1)); err != nil {
					t.Error(err)
					return
				}
			}
		})
		all.Go(func() { followTo(t, l, eventlog.Cursor{}, events) })
		all.Go(func() {
			first := followTo(t, l, eventlog.Cursor{}, events/2)
			followTo(t, l, first, events)
		})
	}
	all.Wait()
}

// followTo follows until the event last, checks that every event arrives once, and returns the cursor after it.
func followTo(t *testing.T, l *eventlog.Log, after eventlog.Cursor, last uint64) eventlog.Cursor {
	for e, err := range l.Follow(t.Context(), after) {
		if err != nil || e.Seq != after.Seq+1 || string(e.Data) != fmt.Sprint(e.Seq) {
			t.Errorf("%s: after %d came %d=%q, %v", l.Session(), after.Seq, e.Seq, e.Data, err)
			return after
		}
		if after.Seq = e.Seq; e.Seq == last {
			break
		}
	}
	return after
}

// TestFollow_deltas checks that each delta arrives once, between the events that it belongs to.
func TestFollow_deltas(t *testing.T) {
	s := open(t, nil)
	l := s.Log("a")
	const messages, pieces = 30, 20
	var writer sync.WaitGroup
	defer writer.Wait()
	writer.Go(func() {
		for n := uint64(0); n < messages; n++ {
			last, err := l.Append(t.Context(), n, fmt.Appendf(nil, "whole %d", n+1))
			if err != nil {
				t.Error(err)
				return
			}
			for k := uint64(1); k <= pieces; k++ {
				if err := l.AppendDelta(t.Context(), 1, last, k, fmt.Appendf(nil, "%d.%d", last, k)); err != nil {
					t.Error(err)
					return
				}
			}
			if err := l.TrimDeltas(t.Context(), last); err != nil {
				t.Error(err)
				return
			}
		}
	})
	var at eventlog.Cursor
	deltas := 0
	for e, err := range l.Follow(t.Context(), eventlog.Cursor{}) {
		if err != nil {
			t.Fatal(err)
		}
		next := e.Seq == at.Seq+1 && e.Sub == 0 || e.Seq == at.Seq && e.Sub > at.Sub
		if want := fmt.Sprintf("%d.%d", e.Seq, e.Sub); !next || e.Sub > 0 && string(e.Data) != want {
			t.Fatalf("after %v came %v", at, show(e))
		}
		if e.Sub > 0 {
			deltas++
		}
		if at.Seq, at.Sub = e.Seq, e.Sub; at.Seq == messages && at.Sub == pieces {
			break
		}
	}
	if deltas < pieces {
		t.Errorf("%d deltas, want at least the last %d", deltas, pieces)
	}
}

func TestFollow_ends(t *testing.T) {
	s := open(t, nil)
	l := s.Log("a")
	appendTexts(t, l, 0, "one")
	last, _ := l.Last(t.Context())

	ctx, cancel := context.WithCancel(t.Context())
	if err := followEnd(ctx, l, eventlog.Cursor{}, cancel); !errors.Is(err, context.Canceled) {
		t.Errorf("after cancel: %v", err)
	}
	recreate := func() {
		if err := l.Delete(t.Context()); err != nil {
			t.Error(err)
		}
		appendTexts(t, l, 0, "new one", "new two")
	}
	if err := followEnd(t.Context(), l, eventlog.Cursor{}, recreate); !errors.Is(err, eventlog.ErrEpoch) {
		t.Errorf("after the log was created again: %v", err)
	}
	if _, err := read(t, l, last); !errors.Is(err, eventlog.ErrEpoch) {
		t.Errorf("cursor of the deleted log: %v", err)
	}
	wantRead(t, l, eventlog.Cursor{Seq: 1}, "2=new two")
	if _, err := read(t, l, eventlog.Cursor{Seq: 3}); !errors.Is(err, eventlog.ErrEpoch) {
		t.Errorf("cursor after the end: %v", err)
	}
	if _, err := read(t, s.Log("none"), last); !errors.Is(err, eventlog.ErrNotFound) {
		t.Errorf("cursor of a log that does not exist: %v", err)
	}
	closeStore := func() { go s.Close(context.Background()) }
	if err := followEnd(t.Context(), l, eventlog.Cursor{}, closeStore); !errors.Is(err, eventlog.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if _, err := l.Append(t.Context(), 2, nil); !errors.Is(err, eventlog.ErrClosed) {
		t.Errorf("Append after Close: %v", err)
	}
}

// followEnd calls then after the first event and returns the error that ends the sequence.
func followEnd(ctx context.Context, l *eventlog.Log, after eventlog.Cursor, then func()) (last error) {
	for _, err := range l.Follow(ctx, after) {
		if err != nil {
			return err
		}
		then()
		then = func() {}
	}
	return errors.New("the sequence ended without an error")
}

// TestFollow_waits follows a log that does not exist yet.
func TestFollow_waits(t *testing.T) {
	short.SkipQuick(t, "writes many events")
	s := open(t, nil)
	l := s.Log("a")
	var writer sync.WaitGroup
	defer writer.Wait()
	writer.Go(func() {
		for n := uint64(0); n < 5000; n++ {
			if _, err := l.Append(t.Context(), n, fmt.Appendf(nil, "%d", n+1)); err != nil {
				t.Error(err)
				return
			}
		}
	})
	followTo(t, l, eventlog.Cursor{}, 5000)
}

// TestSequence_again ranges over one sequence twice, and leaves it early.
func TestSequence_again(t *testing.T) {
	s := open(t, nil)
	l := s.Log("a")
	appendTexts(t, l, 0, "one", "two", "three")
	events := l.Read(t.Context(), eventlog.Cursor{})
	for range 2 {
		for e, err := range events {
			if err != nil || e.Seq != 1 {
				t.Errorf("got %v, %v", e.Seq, err)
			}
			break
		}
	}
}
