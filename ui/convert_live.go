package ui

import (
	"maps"
	"slices"
	"sort"

	"github.com/seed7221b0f9/parley/claude"
)

// keptMessages is how many messages of a thread are remembered. The lines of one
// message follow each other, so that few would do.
const keptMessages = 64

// What is kept here outlives the lines that it comes from, so it is copied.

// liveThread is what a converter knows of the main thread or of a subagent.
type liveThread struct {
	messages []*liveMessage // the newest last
}

// liveMessage is what a converter knows of a message.
type liveMessage struct {
	id        string
	streaming bool             // started and not yet complete
	end       *MessageComplete // what message_delta said, until message_stop
	blocks    []*liveBlock     // by index
}

// liveBlock is what a converter knows of a block.
type liveBlock struct {
	index     int64
	blockType string
	toolUseID string
	uuid      string // of the whole line
	open      bool   // started and not yet stopped
	whole     bool   // its whole line was there
	input     []byte // of a tool, while open
	given     claude.JSON
}

func (c *Converter) thread(parent string) *liveThread {
	t := c.threads[parent]
	if t == nil {
		if c.threads == nil {
			c.threads = map[string]*liveThread{}
		}
		t = &liveThread{}
		c.threads[parent] = t
	}
	return t
}

// parents lists the threads, so that the same state always gives the same order.
func (c *Converter) parents() []string { return slices.Sorted(maps.Keys(c.threads)) }

// find returns the message of an id, nil if there is none.
func (t *liveThread) find(id string) *liveMessage {
	for i := len(t.messages) - 1; i >= 0; i-- {
		if t.messages[i].id == id {
			return t.messages[i]
		}
	}
	return nil
}

// message returns the message of an id, a new one if there is none.
func (t *liveThread) message(id string) *liveMessage {
	if m := t.find(id); m != nil {
		return m
	}
	m := &liveMessage{id: kept(id)}
	t.messages = append(t.messages, m)
	if len(t.messages) > keptMessages && !t.messages[0].streaming {
		t.messages = slices.Delete(t.messages, 0, 1)
	}
	return m
}

// current returns the message that is being streamed, nil if none is.
func (t *liveThread) current() *liveMessage {
	for i := len(t.messages) - 1; i >= 0; i-- {
		if t.messages[i].streaming {
			return t.messages[i]
		}
	}
	return nil
}

func (m *liveMessage) at(index int64) (int, bool) {
	i := sort.Search(len(m.blocks), func(i int) bool { return m.blocks[i].index >= index })
	return i, i < len(m.blocks) && m.blocks[i].index == index
}

// block returns the block of an index, nil if there is none.
func (m *liveMessage) block(index int64) *liveBlock {
	if i, ok := m.at(index); ok {
		return m.blocks[i]
	}
	return nil
}

// put adds a block, in place of one with the same index.
func (m *liveMessage) put(b *liveBlock) {
	i, ok := m.at(b.index)
	if ok {
		m.blocks[i] = b
		return
	}
	m.blocks = slices.Insert(m.blocks, i, b)
}

// place returns the block that a whole block is the whole of: the one that it
// confirms, or a new one behind all others.
func (m *liveMessage) place(content *Content, uuid string) *liveBlock {
	var stopped *liveBlock
	for _, b := range m.blocks {
		switch {
		case b.whole && b.is(content, uuid):
			return b // the same once more
		case b.whole || !b.fits(content):
		case b.open:
			// The CLI writes the whole line before it ends the block.
			return b.become(content)
		case stopped == nil:
			stopped = b
		}
	}
	if stopped != nil {
		return stopped.become(content)
	}
	next := int64(0)
	if n := len(m.blocks); n > 0 {
		next = m.blocks[n-1].index + 1
	}
	b := (&liveBlock{index: next}).become(content)
	m.put(b)
	return b
}

// is reports whether a whole block was there before: as the same tool use, or in the
// same line.
func (b *liveBlock) is(content *Content, uuid string) bool {
	if isTool(content.Type) {
		return content.ToolUseID != "" && b.toolUseID == content.ToolUseID
	}
	return uuid != "" && b.uuid == uuid && b.blockType == content.Type
}

// fits reports whether a block can be what a whole block is the whole of. One whose
// start was missed has no type or no id.
func (b *liveBlock) fits(content *Content) bool {
	if isTool(content.Type) && isTool(b.blockType) {
		return b.toolUseID == "" || b.toolUseID == content.ToolUseID
	}
	return b.blockType == content.Type || b.blockType == ""
}

func (b *liveBlock) become(content *Content) *liveBlock {
	b.blockType, b.toolUseID = kept(content.Type), kept(content.ToolUseID)
	return b
}
