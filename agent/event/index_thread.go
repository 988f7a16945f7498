package event

import (
	"slices"
	"strings"
)

// smallList is the length up to which a list is ordered at once. In longer lists, removals and
// insertions in the middle wait for [Conversation.Settle], so that n changes do not move n²
// elements.
const smallList = 512

// threadIndex holds the state of a thread in addition to its items.
type threadIndex struct {
	thread *Thread
	at     map[*Item]int // positions of items; created on first use
	from   int           // the first position that is not in order
}

// thread returns the thread of a parent tool use, and adds it if it is new.
func (c *Conversation) thread(parent string) *threadIndex {
	x := c.index
	t := x.threads[parent]
	if t != nil {
		return t
	}
	if parent != "" {
		c.thread("") // the main thread is always the first
	}
	t = &threadIndex{thread: &Thread{ParentToolUseID: kept(parent), Items: []*Item{}}}
	x.threads[t.thread.ParentToolUseID] = t
	n := len(c.Threads)
	switch {
	case n == 0 || c.Threads[n-1].ParentToolUseID < parent && !x.threadsDirty:
		c.Threads = append(c.Threads, t.thread)
	case n <= smallList && !x.threadsDirty:
		at, _ := slices.BinarySearchFunc(c.Threads, parent, func(t *Thread, parent string) int {
			return strings.Compare(t.ParentToolUseID, parent)
		})
		c.Threads = slices.Insert(c.Threads, at, t.thread)
		x.steps += smallList
	default:
		c.Threads = append(c.Threads, t.thread)
		x.threadsDirty = true
	}
	return t
}

// add appends an item to a thread, in the running turn.
func (c *Conversation) add(parent string, it *Item) itemRef {
	t := c.thread(parent)
	ref := itemRef{t, it}
	t.push(it)
	c.inTurn(ref, c.turn())
	return ref
}

// inTurn records the turn of an item.
func (c *Conversation) inTurn(ref itemRef, turn *Turn) {
	if turn == nil || ref.item.TurnID == turn.ID {
		return
	}
	ref.item.TurnID = turn.ID
	if c.index.byTurn != nil {
		c.index.byTurn[turn.ID] = append(c.index.byTurn[turn.ID], ref)
	}
}

func (t *threadIndex) push(it *Item) {
	if t.at != nil {
		t.at[it] = len(t.thread.Items)
	}
	t.thread.Items = append(t.thread.Items, it)
}

// position returns the index of an item; false if it was removed.
func (c *Conversation) position(ref itemRef) (int, bool) {
	t := ref.thread
	if t.at == nil {
		t.at = make(map[*Item]int, len(t.thread.Items))
		for i, it := range t.thread.Items {
			t.at[it] = i
		}
		c.index.steps += int64(len(t.thread.Items))
	}
	i, ok := t.at[ref.item]
	return i, ok
}

// leave removes an item from its thread; [Conversation.Settle] completes the removal.
func (c *Conversation) leave(ref itemRef) {
	i, ok := c.position(ref)
	if !ok {
		return
	}
	t := ref.thread
	delete(t.at, ref.item)
	if !c.index.dirtyThreads[t] {
		put(&c.index.dirtyThreads, t, true)
		t.from = i
	}
	t.from = min(t.from, i)
	c.index.touchedThreads = append(c.index.touchedThreads, t)
}

// toEnd moves a message to the end of its thread, into the running turn.
func (c *Conversation) toEnd(m *messageIndex) {
	c.inTurn(m.ref, c.turn())
	items := m.ref.thread.thread.Items
	if n := len(items); n > 0 && items[n-1] == m.ref.item {
		return
	}
	c.leave(m.ref)
	m.ref.thread.push(m.ref.item)
}

// remove removes a message from the conversation.
func (c *Conversation) remove(m *messageIndex) {
	t := m.ref.thread
	c.leave(m.ref)
	m.gone = true
	delete(c.index.messages, messageKey{t.thread.ParentToolUseID, m.message.ID, m.message.Restart})
	c.index.block = nil
	c.emptied(t)
}

// emptied removes a subagent's thread from the conversation if it has no items.
func (c *Conversation) emptied(t *threadIndex) {
	parent := t.thread.ParentToolUseID
	if parent == "" || t.at == nil || len(t.at) > 0 || c.index.threads[parent] != t {
		return
	}
	delete(c.index.threads, parent)
	delete(c.index.dirtyThreads, t)
	c.index.threadsDirty = true
}

// settleItems restores the order of the items of a thread.
func (c *Conversation) settleItems(t *threadIndex) {
	items := t.thread.Items
	n := t.from
	for i := t.from; i < len(items); i++ {
		if at, ok := t.at[items[i]]; ok && at == i {
			items[n] = items[i]
			t.at[items[n]] = n
			n++
		}
	}
	c.index.steps += int64(len(items) - t.from)
	clear(items[n:])
	t.thread.Items = items[:n]
	delete(c.index.dirtyThreads, t)
}
