package claudeevent

import (
	"cmp"
	"container/heap"
	"maps"
	"slices"

	"github.com/seed7221b0f9/parley/agent/event"
)

// keptMessages is how many messages of a thread that are complete are remembered. The
// lines of one message follow each other, so that few would do.
const keptMessages = 64

// What is kept here outlives the lines that it comes from, so it is copied.

// liveThread is what a converter knows of the main thread or of a subagent.
type liveThread struct {
	byID map[string]*liveMessage
	open []*liveMessage // that are streamed, the newest last; ones that are not any more are skipped
	idle []idleMessage  // that are not, the oldest first; ones that are streamed again are skipped
	n    int            // how many of idle count
	c    *Converter
}

// idleMessage is an entry of a thread's queue of messages to forget.
type idleMessage struct {
	m    *liveMessage
	turn int // that of the message when it was put there
}

// liveMessage is what a converter knows of a message.
type liveMessage struct {
	id        string
	turn      int                    // counts how often it became idle
	streaming bool                   // started and not yet complete
	end       *event.MessageComplete // what message_delta said, until message_stop
	usage     event.JSON             // what message_start said
	model     string
	last      *liveBlock // the one of the last lookup
	blocks    map[int64]*liveBlock
	open      map[int64]*liveBlock // those that have not stopped
	max       int64                // the highest index
	waiting   map[waitKey]*blockHeap
	whole     map[wholeKey]*liveBlock
	c         *Converter
}

// liveBlock is what a converter knows of a block.
type liveBlock struct {
	index     int64
	blockType string
	toolUseID string
	open      bool   // started and not yet stopped
	whole     bool   // its whole line was there
	input     []byte // of a tool, while open
	given     event.JSON
}

// waitKey is what a block that is not whole can be confirmed by: the type of its whole,
// or the id of its tool use.
type waitKey struct {
	open  bool
	class blockClass
}

// blockClass says which whole blocks a block can be confirmed by: those of a type, or
// those of a tool use. One whose start was missed has no type or no id.
type blockClass struct {
	tool bool
	name string
}

// wholeKey finds a whole block again: by its tool use, or by its line, its type and its
// place among those of that type in the line.
type wholeKey struct {
	toolUseID, uuid, blockType string
	nth                        int
}

// blockHeap gives the block with the lowest index.
type blockHeap []*liveBlock

func (h blockHeap) Len() int           { return len(h) }
func (h blockHeap) Less(i, j int) bool { return h[i].index < h[j].index }
func (h blockHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *blockHeap) Push(x any)        { *h = append(*h, x.(*liveBlock)) }
func (h *blockHeap) Pop() any {
	old := *h
	b := old[len(old)-1]
	*h = old[:len(old)-1]
	return b
}

func (c *Converter) thread(parent string) *liveThread {
	t := c.threads[parent]
	if t == nil {
		if c.threads == nil {
			c.threads = map[string]*liveThread{}
		}
		t = &liveThread{byID: map[string]*liveMessage{}, c: c}
		c.threads[kept(parent)] = t
	}
	return t
}

// parents lists the threads, so that the same state always gives the same order.
func (c *Converter) parents() []string { return slices.Sorted(maps.Keys(c.threads)) }

// message returns the message of an id, a new one if there is none.
func (t *liveThread) message(id string) *liveMessage {
	if m := t.byID[id]; m != nil {
		return m
	}
	m := &liveMessage{id: kept(id), max: -1, blocks: map[int64]*liveBlock{}, c: t.c}
	t.byID[m.id] = m
	t.rest(m)
	return m
}

// rest puts a message that is not streamed to those that can be forgotten, and forgets
// the oldest if they are too many.
func (t *liveThread) rest(m *liveMessage) {
	m.turn++
	t.idle = append(t.idle, idleMessage{m, m.turn})
	t.n++
	for t.n > keptMessages {
		t.c.steps++
		old := t.idle[0]
		t.idle = t.idle[1:]
		if old.m.streaming || old.m.turn != old.turn {
			continue
		}
		delete(t.byID, old.m.id)
		t.n--
	}
}

// begin makes a message one that is streamed.
func (t *liveThread) begin(m *liveMessage) {
	if m.streaming {
		return
	}
	m.streaming = true
	if t.byID[m.id] == m {
		t.n--
	}
	t.byID[m.id] = m
	t.open = append(t.open, m)
}

// end makes a message one that is not streamed.
func (t *liveThread) end(m *liveMessage) {
	m.streaming, m.end = false, nil
	t.rest(m)
}

// current returns the message that is being streamed, nil if none is.
func (t *liveThread) current() *liveMessage {
	for len(t.open) > 0 {
		if m := t.open[len(t.open)-1]; m.streaming {
			return m
		}
		t.c.steps++
		t.open = t.open[:len(t.open)-1]
	}
	return nil
}

// streaming returns the messages that are being streamed, in the order of their starts.
func (t *liveThread) streaming() []*liveMessage {
	t.c.steps += int64(len(t.open))
	t.open = slices.DeleteFunc(t.open, func(m *liveMessage) bool { return !m.streaming })
	return slices.Clone(t.open)
}

// block returns the block of an index, nil if there is none.
func (m *liveMessage) block(index int64) *liveBlock {
	if m.last != nil && m.last.index == index {
		return m.last
	}
	if b := m.blocks[index]; b != nil {
		m.last = b
		return b
	}
	return nil
}

// put adds a block, in place of one with the same index.
func (m *liveMessage) put(b *liveBlock) {
	delete(m.open, b.index)
	m.blocks[b.index] = b
	m.max = max(m.max, b.index)
	m.last = b
	if b.open {
		m.setOpen(b, true)
	} else {
		m.wait(b)
	}
}

// setOpen makes a block one that has not stopped, or one that has.
func (m *liveMessage) setOpen(b *liveBlock, open bool) {
	b.open = open
	if open {
		if m.open == nil {
			m.open = map[int64]*liveBlock{}
		}
		m.open[b.index] = b
	} else {
		delete(m.open, b.index)
	}
	m.wait(b)
}

// unstopped returns the blocks that have not stopped, by their index.
func (m *liveMessage) unstopped() []*liveBlock {
	m.c.steps += int64(len(m.open))
	return slices.SortedFunc(maps.Values(m.open), func(a, b *liveBlock) int { return cmp.Compare(a.index, b.index) })
}

// wait notes what a block can be confirmed by now.
func (m *liveMessage) wait(b *liveBlock) {
	if b.whole {
		return
	}
	key := waitKey{b.open, b.class()}
	if m.waiting == nil {
		m.waiting = map[waitKey]*blockHeap{}
	}
	if m.waiting[key] == nil {
		m.waiting[key] = &blockHeap{}
	}
	m.c.steps++
	heap.Push(m.waiting[key], b)
}

func (b *liveBlock) class() blockClass {
	if event.IsTool(b.blockType) {
		return blockClass{true, b.toolUseID}
	}
	return blockClass{false, b.blockType}
}

// first returns the first block that waits under a key, nil if none does.
func (m *liveMessage) first(key waitKey) *liveBlock {
	h := m.waiting[key]
	for h != nil && h.Len() > 0 {
		m.c.steps++
		b := (*h)[0]
		if m.blocks[b.index] == b && !b.whole && b.open == key.open && b.class() == key.class {
			return b
		}
		heap.Pop(h)
	}
	return nil
}

// place returns the block that a whole block is the whole of: the one that was there
// before, the one that it confirms, or a new one after all others.
func (m *liveMessage) place(content *event.Content, key wholeKey) *liveBlock {
	b := m.whole[key]
	if b == nil || m.blocks[b.index] != b {
		b = m.confirmed(content)
	}
	if b == nil {
		b = &liveBlock{index: m.max + 1}
		m.blocks[b.index], m.max = b, b.index
	}
	b.blockType, b.toolUseID, b.whole = kept(content.Type), kept(content.ToolUseID), true
	if key != (wholeKey{}) {
		if m.whole == nil {
			m.whole = map[wholeKey]*liveBlock{}
		}
		key.toolUseID, key.uuid, key.blockType = kept(key.toolUseID), kept(key.uuid), kept(key.blockType)
		m.whole[key] = b
	}
	return b
}

// confirmed returns the block that a whole block confirms, nil if there is none. The
// CLI writes the whole line before it ends the block, so one that is open comes first.
func (m *liveMessage) confirmed(content *event.Content) *liveBlock {
	classes := []blockClass{{false, content.Type}, {false, ""}}
	if event.IsTool(content.Type) {
		classes = []blockClass{{true, content.ToolUseID}, {true, ""}, {false, ""}}
	}
	for _, open := range []bool{true, false} {
		var found *liveBlock
		for _, class := range classes {
			if b := m.first(waitKey{open, class}); b != nil && (found == nil || b.index < found.index) {
				found = b
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}

// lineKeys gives the keys of the blocks of one line.
type lineKeys struct {
	uuid string
	seen map[string]int
}

// next returns the key of the next block of the line. A block that cannot be distinguished from
// others has none.
func (l *lineKeys) next(content *event.Content) wholeKey {
	if event.IsTool(content.Type) {
		return wholeKey{toolUseID: content.ToolUseID}
	}
	if l.uuid == "" {
		return wholeKey{}
	}
	if l.seen == nil {
		l.seen = map[string]int{}
	}
	l.seen[content.Type]++
	return wholeKey{uuid: l.uuid, blockType: content.Type, nth: l.seen[content.Type]}
}
