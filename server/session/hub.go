package session

import (
	"slices"
	"sync"

	"github.com/seed7221b0f9/parley/agent/event"
)

// The bounds of what a hub keeps in memory for its viewers. A viewer that lacks more reads the
// log.
const (
	ringItems = 256
	ringBytes = 1 << 20
)

// Item is a message on its way to viewers.
type Item struct {
	Seq, Sub uint64
	ts       string
	msg      []byte
	progress bool        // only for viewers with the capability output_delta
	queue    *told       // of a change of the queue that is published; nil otherwise
	delta    event.Event // of a stream, which may be joined with the next; nil otherwise
	shared   *shared     // by all viewers; nil for an item that one viewer has
}

// shared is an item as a socket sends it. It is made when the first viewer needs it, and once.
type shared struct {
	once  sync.Once
	frame []byte
}

// hub is where an actor leaves messages and viewers fetch them. A viewer that does not
// fetch costs nothing and delays no one: the hub forgets, and the viewer reads the log.
type hub struct {
	session, epoch string

	mu      sync.Mutex
	items   []Item // the newest last
	bytes   int
	seq     uint64        // of the newest durable message
	sub     uint64        // of the newest delta after it
	restart []Item        // gives a viewer at (seq, 0) everything up to (seq, sub); nil until asked for
	partial func() []Item // makes restart; called with mu held; nil while items has every delta after seq
	changed chan struct{} // closed at the next change
	viewers int
	closed  bool
}

func newHub(session, epoch string, seq uint64) *hub {
	return &hub{session: session, epoch: epoch, seq: seq, changed: make(chan struct{})}
}

// publish adds messages and wakes the viewers. Partial returns a function that makes what a viewer needs which has
// the durable messages alone. It is called only if the hub has forgotten some of the deltas, because what it takes
// from the loop would cost as much as the rest of this.
func (h *hub) publish(items []Item, partial func() func() []Item) {
	if len(items) == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range items {
		h.bytes += len(items[i].msg)
		items[i].shared = &shared{}
	}
	h.items = append(h.items, items...)
	drop := 0
	for len(h.items)-drop > ringItems || h.bytes > ringBytes && len(h.items)-drop > 1 {
		h.bytes -= len(h.items[drop].msg)
		drop++
	}
	clear(h.items[:drop]) // moving the rest down would cost more than all else here
	h.items = h.items[drop:]
	last := items[len(items)-1]
	h.seq, h.sub, h.restart, h.partial = last.Seq, last.Sub, nil, nil
	if first := h.items[0]; first.Seq == h.seq && first.Sub > 0 {
		h.partial = partial()
	}
	h.wake()
}

func (h *hub) wake() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// next returns a channel that is closed at the next change.
func (h *hub) next() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.changed
}

// close tells the viewers that nothing more comes from this hub.
func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.closed = true
		h.wake()
	}
}

// fetched is what a viewer at a cursor gets.
type fetched struct {
	items  []Item
	behind bool          // it has to read the log first
	wait   chan struct{} // nothing is new until this is closed
	closed bool
}

// after returns what follows a cursor, at most max messages.
func (h *hub) after(seq, sub uint64, max int) fetched {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case seq == h.seq && sub >= h.sub:
		return fetched{wait: h.changed, closed: h.closed}
	case seq > h.seq: // of another life of the log; the caller has checked the epoch
		return fetched{wait: h.changed, closed: h.closed}
	}
	i, found := slices.BinarySearchFunc(h.items, Item{Seq: seq, Sub: sub}, func(a, b Item) int {
		if a.Seq != b.Seq {
			return compare(a.Seq, b.Seq)
		}
		return compare(a.Sub, b.Sub)
	})
	switch {
	case found:
		return fetched{items: slices.Clone(h.items[i+1 : min(i+1+max, len(h.items))])}
	case i > 0 && i < len(h.items) && h.items[i].Seq == seq+1 && h.items[i].Sub == 0:
		// The cursor is inside deltas that were never kept here: the next durable message
		// replaces them.
		return fetched{items: slices.Clone(h.items[i:min(i+max, len(h.items))])}
	case seq < h.seq:
		if len(h.items) > 0 && h.items[0].Seq == seq+1 && h.items[0].Sub == 0 {
			return fetched{items: slices.Clone(h.items[:min(max, len(h.items))])}
		}
		return fetched{behind: true}
	}
	// All durable messages are there, and deltas are missing.
	if h.restart == nil && h.partial != nil {
		h.restart = h.partial()
	}
	return fetched{items: h.restart, wait: h.changed}
}

func compare(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (h *hub) watch(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.viewers += n
}

func (h *hub) watching() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.viewers
}

// joined joins deltas that follow each other in one block, so that a slow viewer gets fewer and
// longer ones.
func joined(items []Item) []Item {
	if len(items) < 2 {
		return items
	}
	out := items[:0:0]
	for _, it := range items {
		if n := len(out); n > 0 && it.delta != nil && out[n-1].delta != nil {
			if both, ok := event.Join(out[n-1].delta, it.delta); ok {
				if msg, ok := event.Reframe(it.msg, both); ok {
					out[n-1] = Item{Seq: it.Seq, Sub: it.Sub, ts: it.ts, msg: msg, delta: both}
					continue
				}
			}
		}
		out = append(out, it)
	}
	return out
}
