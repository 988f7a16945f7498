package session

import (
	"context"
	"strings"
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

// TestAttachAt checks at which cursors a viewer continues: those that have the epoch of the log and
// are not too far behind.
func TestAttachAt(t *testing.T) {
	c := newStage(t, Opened{})
	var epoch string
	if err := c.with(t.Context(), c.id, func(a *actor) error {
		c.log.memLog.mu.Lock()
		defer c.log.memLog.mu.Unlock()
		for len(c.log.events) < resyncAfter+2 {
			c.log.events = append(c.log.events, []byte(`{}`))
		}
		a.seq, epoch = resyncAfter+2, a.hub.epoch
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		after    *api.Cursor
		snapshot bool
	}{
		{nil, true}, {&api.Cursor{Epoch: epoch, Seq: resyncAfter + 2}, false}, {&api.Cursor{Epoch: epoch, Seq: resyncAfter + 3}, true}, {&api.Cursor{Epoch: "other", Seq: resyncAfter + 2}, true},
		{&api.Cursor{Epoch: epoch, Seq: 2}, false}, {&api.Cursor{Epoch: epoch, Seq: 1}, true},
	} {
		r, err := c.Attach(t.Context(), api.AttachParams{SessionID: c.id, After: tt.after})
		if err != nil || (r.Snapshot != "") != tt.snapshot || r.Resync != (tt.snapshot && tt.after != nil) || !tt.snapshot && r.Cursor != *tt.after || tt.snapshot && r.Cursor.Seq != resyncAfter+2 {
			t.Errorf("after %+v a viewer is at %+v with %d bytes of snapshot, starts again: %v, %v; want a snapshot: %v", tt.after, r.Cursor, len(r.Snapshot), r.Resync, err, tt.snapshot)
		}
	}
	c.log.set("Read", errFault)
	if r, err := c.Attach(t.Context(), api.AttachParams{SessionID: c.id, After: &api.Cursor{Epoch: epoch, Seq: 2}}); err != nil || r.Snapshot == "" {
		t.Errorf("with a log that cannot be read: %d bytes of snapshot, %v, want a snapshot", len(r.Snapshot), err)
	}
}

// TestViewer_withoutChanges checks that a viewer without support for changes gets complete queues, and other viewers get
// changes.
func TestViewer_withoutChanges(t *testing.T) {
	items := []Item{{Seq: 1, msg: []byte(`{"type":"notice"}`)}, {Seq: 2, msg: []byte(`{"type":"queue_updated"}`), queue: &told{inputs: []input{{ID: "q-1", Content: `"x"`, Status: inputHeld}}}}}
	plain := (&Viewer{}).whole(items)
	if len(plain) != 2 || string(plain[0].msg) != `{"type":"notice"}` || !strings.Contains(string(plain[1].msg), `"queue_changed"`) || !strings.Contains(string(plain[1].msg), `"q-1"`) {
		t.Errorf("the viewer gets %s and %s, want the whole queue", plain[0].msg, plain[1].msg)
	}
	if got := (&Viewer{can: Capabilities{Queue: true}}).whole(items); string(got[1].msg) != `{"type":"queue_updated"}` {
		t.Errorf("another viewer gets %s, want the change", got[1].msg)
	}
}
