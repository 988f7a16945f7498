package session

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed7221b0f9/parley/server/api"
)

// testViewer returns a viewer of a session without a loop, at the beginning.
func testViewer(h *hub) *Viewer {
	return &Viewer{
		srv:   &Sessions{opts: Options{ViewerInterval: 20 * time.Millisecond}},
		actor: &actor{journal: &journal{loop: &loop{id: h.session}, hub: h}}, Cursor: api.Cursor{Epoch: h.epoch},
	}
}

// TestViewer_pace checks that messages soon after another are sent together after the interval, and that later
// ones do not wait.
func TestViewer_pace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub("s", "e", 0)
		v := testViewer(h)
		began := time.Now()
		for i, ms := range []time.Duration{0, 5, 15, 100, 101} {
			time.AfterFunc(ms*time.Millisecond, func() { h.publish([]Item{{Seq: uint64(i + 1), msg: []byte(`{}`)}}, nil) })
		}
		for i, want := range []struct {
			at    time.Duration
			items int
		}{{0, 1}, {20, 2}, {100, 1}, {120, 1}} {
			items, err := v.Next(context.Background())
			if at := time.Since(began) / time.Millisecond; err != nil || at != want.at || len(items) != want.items {
				t.Errorf("write %d: %d messages after %d ms, %v; want %d after %d ms", i, len(items), at, err, want.items, want.at)
			}
		}
	})
}

// TestViewer_paceEnds checks that a paced viewer ends with its connection.
func TestViewer_paceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub("s", "e", 0)
		v := testViewer(h)
		h.publish([]Item{{Seq: 1, msg: []byte(`{}`)}}, nil)
		if _, err := v.Next(context.Background()); err != nil {
			t.Fatal(err)
		}
		h.publish([]Item{{Seq: 2, msg: []byte(`{}`)}}, nil)
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		began := time.Now()
		if _, _ = v.Next(ctx); time.Since(began) != time.Millisecond { // it may return items
			t.Errorf("it ended after %v", time.Since(began))
		}
	})
}

// TestFrame_shared checks that a message is encoded once for any number of viewers.
func TestFrame_shared(t *testing.T) {
	h := newHub("s", "e", 0)
	h.publish([]Item{{Seq: 1, msg: []byte(`{"type":"x"}`)}}, nil)
	var first []byte
	frame := func() {
		v := testViewer(h)
		items, err := v.Next(context.Background())
		if err != nil || len(items) != 1 {
			t.Fatalf("%d messages, %v", len(items), err)
		}
		f := v.Frame(items[0])
		if first == nil {
			first = f
		}
		if &f[0] != &first[0] {
			t.Error("two viewers have a copy each")
		}
		if n := testing.AllocsPerRun(10, func() { v.Frame(items[0]) }); n > 0 {
			t.Errorf("a frame that there is costs %v allocations", n)
		}
	}
	frame()
	frame()
}
