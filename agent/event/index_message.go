package event

import (
	"cmp"
	"container/heap"
	"slices"
)

// messageIndex holds the state of an assistant's message in addition to its blocks.
type messageIndex struct {
	message *Message
	ref     itemRef
	gone    bool             // the message was removed
	blocks  map[int64]*Block // used while the list is not in order
	open    []*Block         // started blocks, until the message is complete
	partial partialBlocks    // incomplete blocks; may contain completed ones, which are skipped
	n       int              // number of blocks
	whole   int              // number of complete blocks
	live    int              // number of streaming blocks
	broken  int              // number of incomplete blocks
}

// partialBlocks is a heap by highest index.
type partialBlocks []*Block

func (h partialBlocks) Len() int           { return len(h) }
func (h partialBlocks) Less(i, j int) bool { return h[i].Index > h[j].Index }
func (h partialBlocks) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *partialBlocks) Push(x any)        { *h = append(*h, x.(*Block)) }
func (h *partialBlocks) Pop() any {
	old := *h
	b := old[len(old)-1]
	*h = old[:len(old)-1]
	return b
}

// count adds n to the counts of a block's state.
func (m *messageIndex) count(b *Block, n int) {
	m.n += n
	if b.Whole {
		m.whole += n
	}
	switch b.State {
	case Streaming:
		m.live += n
	case Incomplete:
		m.broken += n
	}
}

// change changes the state of a block.
func (m *messageIndex) change(b *Block, state State, whole bool) {
	m.count(b, -1)
	b.State, b.Whole = state, whole
	m.count(b, 1)
}

// pending records a block that is not complete or has not stopped.
func (m *messageIndex) pending(b *Block) {
	if b.State == Streaming {
		m.open = append(m.open, b)
	}
	if !b.Whole {
		heap.Push(&m.partial, b)
	}
}

// find returns the block with the index, or nil.
func (m *messageIndex) find(index int64) *Block {
	if m.blocks != nil {
		return m.blocks[index]
	}
	return m.message.Block(index)
}

// has reports whether a block is still part of the message.
func (m *messageIndex) has(b *Block) bool { return !m.gone && m.find(b.Index) == b }

// ensure returns the block with the index, and adds a streaming one if it is new.
func (c *Conversation) ensure(m *messageIndex, index int64, blockType string) *Block {
	if b := m.find(index); b != nil {
		return b
	}
	b := &Block{Index: index, Type: kept(blockType), State: Streaming}
	list := m.message.Blocks
	n := len(list)
	switch {
	case m.blocks != nil:
		m.blocks[index] = b
		m.message.Blocks = append(list, b)
	case n == 0 || list[n-1].Index < index:
		m.message.Blocks = append(list, b)
	case n <= smallList:
		at, _ := m.message.at(index)
		m.message.Blocks = slices.Insert(list, at, b)
		c.index.steps += smallList
	default:
		c.unsettle(m)
		m.blocks[index] = b
		m.message.Blocks = append(list, b)
	}
	m.count(b, 1)
	m.pending(b)
	return b
}

// unsettle switches to a map, so that blocks can be added and removed without moving others.
func (c *Conversation) unsettle(m *messageIndex) {
	if m.blocks != nil {
		return
	}
	m.blocks = make(map[int64]*Block, len(m.message.Blocks))
	for _, b := range m.message.Blocks {
		m.blocks[b.Index] = b
	}
	c.index.steps += int64(len(m.message.Blocks))
	put(&c.index.dirtyMessages, m, true)
}

// drop removes a block.
func (c *Conversation) drop(m *messageIndex, b *Block) {
	if !m.has(b) {
		return
	}
	m.count(b, -1)
	c.forgetTool(b)
	c.unsettle(m)
	delete(m.blocks, b.Index)
	c.index.touchedMessages = append(c.index.touchedMessages, m)
	c.index.block = nil
}

// forgetTool removes the call of a block that is removed or restarted.
func (c *Conversation) forgetTool(b *Block) {
	if b.Tool != nil && c.index.tools[b.Tool.ID] == b.Tool {
		delete(c.index.tools, b.Tool.ID)
	}
}

// dropPartial removes the incomplete blocks from an index on.
func (c *Conversation) dropPartial(m *messageIndex, from int64) {
	for len(m.partial) > 0 && m.partial[0].Index >= from {
		c.index.steps++
		b := heap.Pop(&m.partial).(*Block)
		if !b.Whole {
			c.drop(m, b)
		}
	}
}

// settleBlocks restores the order of the blocks of a message.
func (c *Conversation) settleBlocks(m *messageIndex) {
	list := m.message.Blocks
	c.index.steps += int64(len(list))
	list = slices.DeleteFunc(list, func(b *Block) bool { return m.blocks[b.Index] != b })
	slices.SortFunc(list, func(a, b *Block) int { return cmp.Compare(a.Index, b.Index) })
	m.message.Blocks, m.blocks = list, nil
	delete(c.index.dirtyMessages, m)
}

// at returns the position of the block with the index, or the position to insert it.
func (m *Message) at(index int64) (int, bool) {
	return slices.BinarySearchFunc(m.Blocks, index, func(b *Block, index int64) int { return cmp.Compare(b.Index, index) })
}

// Timestamp returns the time when the message was written, or "" if its events do not have it.
func (m *Message) Timestamp() string {
	switch {
	case m.User != nil:
		return m.User.Timestamp
	case m.Line != nil:
		return m.Line.Timestamp
	}
	return ""
}

// Block returns the block with this index, or nil if the message does not have it yet.
func (m *Message) Block(index int64) *Block {
	if i, ok := m.at(index); ok {
		return m.Blocks[i]
	}
	return nil
}
