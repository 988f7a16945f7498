package claudeevent

import (
	"cmp"
	"container/heap"
	"maps"
	"slices"

	"github.com/seed7221b0f9/parley/agent/event"
)

// keptMessages is the number of complete messages that a thread remembers. The lines of one
// message follow each other, so a few are enough.
const keptMessages = 64

// The state below outlives the lines that it comes from, so strings are copied.

// liveThread is the state of the main thread or of a subagent.
type liveThread struct {
	byID map[string]*liveMessage
	open []*liveMessage // streaming messages, newest last; may contain ended ones, which are skipped
	idle []idleMessage  // complete messages, oldest first; may contain streaming ones, which are skipped
	n    int            // number of entries of idle that count
	c    *Converter
}

// idleMessage is an entry in a thread's queue of messages to forget.
type idleMessage struct {
	m    *liveMessage
	turn int // the message's turn when it was queued
}

// liveMessage is the state of a message.
type liveMessage struct {
	id        string
	turn      int                    // counts how often it became idle
	streaming bool                   // started and not yet complete
	end       *event.MessageComplete // the end from message_delta, until message_stop
	usage     event.JSON             // usage of message_start
	model     string
	last      *liveBlock // the block of the last lookup
	blocks    map[int64]*liveBlock
	open      map[int64]*liveBlock // blocks without a stop
	max       int64                // the highest index
	waiting   map[waitKey]*blockHeap
	whole     map[wholeKey]*liveBlock
	c         *Converter
}

// liveBlock is the state of a block.
type liveBlock struct {
	index     int64
	blockType string
	toolUseID string
	open      bool   // started and not yet stopped
	whole     bool   // its whole line has arrived
	input     []byte // of a tool, while open
	given     event.JSON
}

// waitKey selects the whole blocks that can confirm an incomplete block: by type, or by the id
// of the tool use.
type waitKey struct {
	open  bool
	class blockClass
}

// blockClass tells which whole blocks can confirm a block: those of a type, or those of a tool
// use. A block with a missing start has no type or no id.
type blockClass struct {
	tool bool
	name string
}

// wholeKey identifies a whole block: by its tool use, or by its line, its type and its position
// among the blocks of that type in the line.
type wholeKey struct {
	toolUseID, uuid, blockType string
	nth                        int
}

// blockHeap is a heap of blocks ordered by index.
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

// parents lists the threads in sorted order, so that equal states give equal output.
func (c *Converter) parents() []string { return slices.Sorted(maps.Keys(c.threads)) }

// message returns the message with an id and creates it if necessary.
func (t *liveThread) message(id string) *liveMessage {
	if m := t.byID[id]; m != nil {
		return m
	}
	m := &liveMessage{id: kept(id), max: -1, blocks: map[int64]*liveBlock{}, c: t.c}
	t.byID[m.id] = m
	t.rest(m)
	return m
}

// rest queues a message that is not streaming to be forgotten, and forgets the oldest one if
// the queue is too long.
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

// begin marks a message as streaming.
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

// end marks a message as no longer streaming.
func (t *liveThread) end(m *liveMessage) {
	m.streaming, m.end = false, nil
	t.rest(m)
}

// current returns the message that is being streamed, or nil.
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

// block returns the block of an index, or nil.
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

// setOpen marks a block as open or stopped.
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

// wait registers a block under the key of the whole blocks that can confirm it.
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

// first returns the first block that waits under a key, or nil.
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

// place returns the block for a whole block: an existing one with the same key, the one that it
// confirms, or a new one after all others.
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

// confirmed returns the block that a whole block confirms, or nil. It prefers open blocks,
// because the CLI writes the whole line before the stop of the block.
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

// lineKeys generates the keys of the blocks of one line.
type lineKeys struct {
	uuid string
	seen map[string]int
}

// next returns the key of the next block of the line. A block that cannot be distinguished from
// others has an empty key.
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
