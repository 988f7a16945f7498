package session

import (
	"slices"
	"sync"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
)

// The limits of a hub's memory for its viewers. A viewer that is further behind reads the log.
const (
	ringItems = 256
	ringBytes = 1 << 20
)

// Item is a message for viewers.
type Item struct {
	Seq, Sub uint64
	ts       string
	msg      []byte
	large    bool        // msg is absent: viewers read the log for it, except those with brief
	brief    []byte      // a large message with a placeholder for its text; nil for others
	progress bool        // only for viewers with the capability output_delta
	queue    *told       // for a published change of the queue; nil otherwise
	delta    event.Event // for a stream, may be joined with the next; nil otherwise
	shared   *shared     // by all viewers; nil for an item of one viewer
}

// Message returns the message of the log, without its envelope. It must not be modified.
func (it Item) Message() []byte { return it.msg }

// shared is the encoded form of an item for sockets. It is encoded once, when the first viewer
// needs it.
type shared struct {
	once  sync.Once
	frame []byte
}

// hub is the buffer between an actor and its viewers. A viewer that does not fetch costs no memory
// and delays no one: the hub drops items, and the viewer reads the log.
type hub struct {
	session string
	epoch   string // written by the loop, with mu held

	mu      sync.Mutex
	items   []Item // the newest last
	bytes   int
	seq     uint64        // of the newest durable message
	sub     uint64        // of the newest delta after it
	restart []Item        // takes a viewer from (seq, 0) to (seq, sub); nil until requested
	partial func() []Item // creates restart; called with mu held; nil while items has every delta after seq
	changed chan struct{} // closed at the next change
	viewers int
	closed  bool
}

func newHub(session, epoch string, seq uint64) *hub {
	return &hub{session: session, epoch: epoch, seq: seq, changed: make(chan struct{})}
}

// publish adds messages and wakes the viewers. partial returns a function that creates the items for a viewer with
// only the durable messages. It is called only if the hub has dropped some of the deltas, because reading the
// loop's state would cost as much as the rest of this.
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
	few := min(h.viewers, 1) // a large one is kept only for current viewers
	for len(h.items)-drop > ringItems || h.bytes > ringBytes && len(h.items)-drop > few {
		h.bytes -= len(h.items[drop].msg)
		drop++
	}
	clear(h.items[:drop]) // moving the rest down would cost more than all else here
	h.items = h.items[drop:]
	last := items[len(items)-1]
	h.seq, h.sub, h.restart, h.partial = last.Seq, last.Sub, nil, nil
	if h.sub > 0 && (len(h.items) == 0 || h.items[0].Seq == h.seq && h.items[0].Sub > 0) {
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

// setEpoch changes the epoch. Viewers with a cursor of an earlier epoch have to start again.
func (h *hub) setEpoch(epoch string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.epoch != epoch {
		h.epoch = epoch
		h.wake()
	}
}

// close informs the viewers that no more messages follow from this hub.
func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.closed = true
		h.wake()
	}
}

// fetched is the result for a viewer at a cursor.
type fetched struct {
	items  []Item
	behind bool          // the viewer has to read the log first
	stale  bool          // the viewer has to start again, because its cursor has another epoch
	wait   chan struct{} // closed when there is a new item
	closed bool
}

// after returns the items after a cursor, at most max messages. A large one is brief, or has to be read from the log.
func (h *hub) after(cursor api.Cursor, max int, brief bool) fetched {
	seq, sub := cursor.Seq, cursor.Sub
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case cursor.Epoch != h.epoch:
		return fetched{stale: true}
	case seq == h.seq && sub >= h.sub:
		return fetched{wait: h.changed, closed: h.closed}
	case seq > h.seq:
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
		return readable(h.items[i+1:min(i+1+max, len(h.items))], brief)
	case i > 0 && i < len(h.items) && h.items[i].Seq == seq+1 && h.items[i].Sub == 0:
		// The cursor is inside deltas that were never kept here: the next durable message replaces
		// them.
		return readable(h.items[i:min(i+max, len(h.items))], brief)
	case seq < h.seq:
		if len(h.items) > 0 && h.items[0].Seq == seq+1 && h.items[0].Sub == 0 {
			return readable(h.items[:min(max, len(h.items))], brief)
		}
		return fetched{behind: true}
	}
	// All durable messages are available, but deltas are missing.
	if h.restart == nil && h.partial != nil {
		h.restart = h.partial()
	}
	return fetched{items: h.restart, wait: h.changed}
}

// readable returns the items up to the first large one, which is first read from the log. If brief is set, it returns all,
// and large ones without their text.
func readable(items []Item, brief bool) fetched {
	items = slices.Clone(items)
	for i := range items {
		switch it := &items[i]; {
		case !it.large:
		case brief:
			it.msg = it.brief
		default:
			return fetched{items: items[:i], behind: i == 0}
		}
	}
	return fetched{items: items}
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

// joined joins consecutive deltas of one block, so that a slow viewer gets fewer and longer ones.
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
