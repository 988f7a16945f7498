package session

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/server/api"
)

// TestHub_restart checks that a viewer with all durable messages gets the current partial text,
// regardless of earlier requests of another one.
func TestHub_restart(t *testing.T) {
	h := newHub("s", "e", 1)
	text := ""
	publish := func(seq, sub uint64, more string) {
		text += more
		now := text
		h.publish([]Item{{Seq: seq, Sub: sub, msg: []byte(more)}}, func() func() []Item {
			return func() []Item { return []Item{{Seq: seq, Sub: sub, msg: []byte(now)}} }
		})
	}
	want := func(seq uint64, want ...string) {
		t.Helper()
		h.items = nil // a viewer without kept items
		var got []string
		f := h.after(api.Cursor{Epoch: h.epoch, Seq: seq, Sub: 0}, 10, false)
		for _, it := range f.items {
			got = append(got, string(it.msg))
		}
		if !slices.Equal(got, want) || f.behind {
			t.Errorf("a viewer at %d gets %q, behind %v, want %q", seq, got, f.behind, want)
		}
	}
	for i, more := range []string{"a", "b", "c"} {
		publish(1, uint64(i+1), more)
		want(1, "abc"[:i+1])
		want(1, "abc"[:i+1]) // another viewer
	}
	text = ""
	publish(2, 0, "")
	want(2)
	publish(2, 1, "x")
	want(2, "x")
}

// noPartial is for a hub of a session that does not stream.
func noPartial() func() []Item { return nil }

// TestHub_after checks the items for a viewer at each position: everything after it in order, or the
// hint to read the log.
func TestHub_after(t *testing.T) {
	type at struct{ seq, sub uint64 }
	all := []at{{5, 0}, {5, 1}, {5, 2}, {6, 0}, {6, 1}, {7, 0}}
	h := newHub("s", "e", 4)
	for _, a := range all {
		h.publish([]Item{{Seq: a.seq, Sub: a.sub}}, noPartial)
	}
	for _, c := range []struct {
		place  at
		from   int // the first item that it gets
		behind bool
	}{
		{at{3, 0}, 0, true}, {at{4, 0}, 0, false}, {at{5, 0}, 1, false}, {at{5, 1}, 2, false}, {at{5, 2}, 3, false}, {at{5, 9}, 3, false},
		{at{6, 0}, 4, false}, {at{6, 1}, 5, false}, {at{6, 7}, 5, false}, {at{7, 0}, 6, false}, {at{8, 0}, 6, false},
	} {
		for _, most := range []int{1, 2, 100} {
			want := all[c.from:]
			want = want[:min(most, len(want))]
			if c.behind {
				want = nil
			}
			f := h.after(api.Cursor{Epoch: h.epoch, Seq: c.place.seq, Sub: c.place.sub}, most, false)
			var got []at
			for _, it := range f.items {
				got = append(got, at{it.Seq, it.Sub})
			}
			if fmt.Sprint(got) != fmt.Sprint(want) || f.behind != c.behind || (f.wait == nil) != (c.behind || len(want) > 0) {
				t.Errorf("after %v at most %d: %v, behind %v, waits %v, want %v, behind %v", c.place, most, got, f.behind, f.wait != nil, want, c.behind)
			}
		}
	}
}

// TestHub_skipped checks a viewer at a position between dropped deltas. It must read the log, unless the next message
// is durable.
func TestHub_skipped(t *testing.T) {
	h := newHub("s", "e", 4)
	for _, at := range [][2]uint64{{5, 0}, {5, 3}, {5, 4}, {6, 0}, {6, 5}, {7, 0}} {
		h.publish([]Item{{Seq: at[0], Sub: at[1]}}, noPartial)
	}
	for _, tt := range []struct {
		seq, sub uint64
		want     string // of the items
		behind   bool
	}{{5, 1, "", true}, {5, 3, "5.4 6.0 6.5 7.0", false}, {5, 7, "6.0 6.5 7.0", false}, {6, 2, "", true}, {6, 9, "7.0", false}} {
		f := h.after(api.Cursor{Epoch: h.epoch, Seq: tt.seq, Sub: tt.sub}, 100, false)
		var got []string
		for _, it := range f.items {
			got = append(got, fmt.Sprintf("%d.%d", it.Seq, it.Sub))
		}
		if strings.Join(got, " ") != tt.want || f.behind != tt.behind {
			t.Errorf("after %d.%d: %v, behind %v, want %s, behind %v", tt.seq, tt.sub, got, f.behind, tt.want, tt.behind)
		}
	}
}

// TestHub_bounds checks the limits of a hub: messages and bytes, and always the newest.
func TestHub_bounds(t *testing.T) {
	for name, c := range map[string]struct{ size, count, want int }{
		"messages":           {1, ringItems, ringItems},
		"one message more":   {1, ringItems + 1, ringItems},
		"bytes":              {ringBytes / 4, 4, 4},
		"one more of them":   {ringBytes / 4, 5, 4},
		"one that is larger": {ringBytes + 1, 2, 1},
	} {
		h := newHub("s", "e", 0)
		h.watch(1)
		for i := range c.count {
			h.publish([]Item{{Seq: uint64(i + 1), msg: make([]byte, c.size)}}, noPartial)
		}
		if n := len(h.items); n != c.want || h.items[n-1].Seq != uint64(c.count) || h.bytes != n*c.size {
			t.Errorf("%s: %d are kept with %d bytes, the last %d, want %d", name, n, h.bytes, h.items[n-1].Seq, c.want)
		}
	}
}

// TestHub_largeUnwatched checks that a message above the limit is not kept without viewers: a later viewer reads the log,
// and continues with new messages.
func TestHub_largeUnwatched(t *testing.T) {
	h := newHub("s", "e", 0)
	h.publish([]Item{{Seq: 1, msg: make([]byte, ringBytes+1)}}, noPartial)
	if len(h.items) != 0 || h.bytes != 0 {
		t.Errorf("%d messages are kept with %d bytes, want none", len(h.items), h.bytes)
	}
	if f := h.after(api.Cursor{Epoch: "e", Seq: 0}, 10, false); !f.behind {
		t.Errorf("a viewer at the start gets %+v, want that it is behind", f)
	}
	if f := h.after(api.Cursor{Epoch: "e", Seq: 1}, 10, false); f.behind || f.wait == nil {
		t.Errorf("a viewer that has the message gets %+v, want that it waits", f)
	}
	h.publish([]Item{{Seq: 2, msg: []byte("small")}}, noPartial)
	if f := h.after(api.Cursor{Epoch: "e", Seq: 1}, 10, false); len(f.items) != 1 || f.items[0].Seq != 2 {
		t.Errorf("then it gets %+v, want message 2", f)
	}
	if f := h.after(api.Cursor{Epoch: "e", Seq: 0}, 10, false); !f.behind {
		t.Errorf("the one at the start gets %+v, want that it is behind", f)
	}
}

// TestHub_partial checks the items for a viewer with only the durable messages: the deltas while the hub has all
// of them, and the partial text when it has dropped some. Until then the loop's state is not read.
func TestHub_partial(t *testing.T) {
	h := newHub("s", "e", 0)
	asked := 0
	partial := func() func() []Item {
		asked++
		sub := h.sub
		return func() []Item { return []Item{{Seq: 1, Sub: sub}} }
	}
	h.publish([]Item{{Seq: 1}}, partial)
	for sub := uint64(1); sub < ringItems; sub++ {
		h.publish([]Item{{Seq: 1, Sub: sub}}, partial)
	}
	if got := h.after(api.Cursor{Epoch: h.epoch, Seq: 1, Sub: 0}, ringItems, false).items; len(got) != ringItems-1 || got[0].Sub != 1 || asked != 0 {
		t.Errorf("%d of %d deltas; what is partial was taken %d times", len(got), ringItems-1, asked)
	}
	for _, sub := range []uint64{ringItems, ringItems + 1} { // the durable message is dropped, then a delta
		h.publish([]Item{{Seq: 1, Sub: sub}}, partial)
	}
	if got := h.after(api.Cursor{Epoch: h.epoch, Seq: 1, Sub: 0}, ringItems, false).items; len(got) != 1 || got[0].Sub != ringItems+1 {
		t.Errorf("a viewer that misses deltas gets %v", got)
	}
	if got := h.after(api.Cursor{Epoch: h.epoch, Seq: 1, Sub: ringItems}, ringItems, false).items; len(got) != 1 || got[0].Sub != ringItems+1 {
		t.Errorf("a viewer that has the one before gets %v", got)
	}
	h.publish([]Item{{Seq: 2}}, partial)
	if got := h.after(api.Cursor{Epoch: h.epoch, Seq: 1, Sub: ringItems + 1}, ringItems, false); len(got.items) != 1 || got.items[0].Seq != 2 || h.partial != nil {
		t.Errorf("after the next durable message a viewer gets %v", got.items)
	}
}

// A hub that closes wakes each viewer once and reports the end to it.
func TestHub_close(t *testing.T) {
	h := newHub("s", "e", 1)
	wake := h.next()
	if f := h.after(api.Cursor{Epoch: "e", Seq: 1}, 10, false); f.closed {
		t.Error("an open hub is closed")
	}
	for range 2 {
		h.close()
		select {
		case <-wake:
		default:
			t.Error("the viewers still wait")
		}
		if f := h.after(api.Cursor{Epoch: "e", Seq: 1}, 10, false); !f.closed {
			t.Error("a closed hub is open")
		}
	}
}
