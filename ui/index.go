package ui

import (
	"slices"
	"strings"
)

// index finds things in a conversation. It is made from the conversation alone, so a
// decoded one has the same.
type index struct {
	threads  map[string]*Thread
	messages map[messageKey]*Message
	users    map[string]*Message // by uuid
	tools    map[string]*ToolCall
	orphans  map[string]*Thread // results without their tool, by tool use
	tasks    map[string]*Task

	// The block that the last delta went to: the next one most likely does too.
	parent, message string
	block           *Block
}

type messageKey struct{ parent, id string }

// ready makes the conversation one that events can be applied to.
func (c *Conversation) ready() {
	if c.index != nil {
		return
	}
	c.index = &index{
		threads: map[string]*Thread{}, messages: map[messageKey]*Message{}, users: map[string]*Message{},
		tools: map[string]*ToolCall{}, orphans: map[string]*Thread{}, tasks: map[string]*Task{},
	}
	c.Threads, c.Tasks, c.Prompts, c.Queue = notNil(c.Threads), notNil(c.Tasks), notNil(c.Prompts), notNil(c.Queue)
	for _, t := range c.Threads {
		c.index.threads[t.ParentToolUseID] = t
		t.Items = notNil(t.Items)
		for _, it := range t.Items {
			c.index.item(t, it)
		}
	}
	for _, t := range c.Tasks {
		c.index.tasks[t.ID] = t
	}
	if len(c.Threads) == 0 {
		c.thread("")
	}
}

func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// item finds what is in an item.
func (x *index) item(t *Thread, it *Item) {
	switch m := it.Message; {
	case it.ToolResult != nil:
		x.orphans[it.ToolResult.ToolUseID] = t
	case m == nil:
	case m.Role == "assistant":
		m.Blocks = notNil(m.Blocks)
		x.messages[messageKey{t.ParentToolUseID, m.ID}] = m
		for _, b := range m.Blocks {
			if b.Tool != nil && b.Tool.ID != "" {
				x.tools[b.Tool.ID] = b.Tool
			}
		}
	default:
		m.Blocks = notNil(m.Blocks)
		if m.UUID != "" {
			x.users[m.UUID] = m
		}
	}
}

// thread returns the thread of a parent tool use, a new one if there is none.
func (c *Conversation) thread(parent string) *Thread {
	t := c.index.threads[parent]
	if t == nil {
		if parent != "" {
			c.thread("") // the main thread is always the first
		}
		t = &Thread{ParentToolUseID: kept(parent), Items: []*Item{}}
		at, _ := slices.BinarySearchFunc(c.Threads, parent, func(t *Thread, parent string) int {
			return strings.Compare(t.ParentToolUseID, parent)
		})
		c.Threads = slices.Insert(c.Threads, at, t)
		c.index.threads[t.ParentToolUseID] = t
	}
	return t
}

// Thread returns the thread of a subagent by the tool use that it answers, the main
// thread for "", nil if there is none.
func (c *Conversation) Thread(parentToolUseID string) *Thread {
	c.ready()
	return c.index.threads[parentToolUseID]
}

// Tool returns the call of a tool by its id, nil if it has not been seen.
func (c *Conversation) Tool(id string) *ToolCall {
	c.ready()
	return c.index.tools[id]
}

// answer returns an assistant's message, a new one in the given state if there is
// none.
func (c *Conversation) answer(h *Header, state State) *Message {
	if m := c.index.messages[messageKey{h.ParentToolUseID, h.MessageID}]; m != nil {
		return m
	}
	m := &Message{Role: "assistant", ID: kept(h.MessageID), State: state, Blocks: []*Block{}}
	t := c.thread(h.ParentToolUseID)
	t.add(&Item{Kind: ItemMessage, Message: m})
	c.index.messages[messageKey{t.ParentToolUseID, m.ID}] = m
	return m
}

func (t *Thread) add(it *Item) { t.Items = append(t.Items, it) }

// position returns where a message is in its thread, -1 if it is not.
func (t *Thread) position(m *Message) int {
	for i := len(t.Items) - 1; i >= 0; i-- {
		if t.Items[i].Message == m {
			return i
		}
	}
	return -1
}

// toEnd moves a message to the end of its thread.
func (t *Thread) toEnd(m *Message) {
	i := t.position(m)
	if i < 0 || i == len(t.Items)-1 {
		return
	}
	it := t.Items[i]
	t.Items = append(slices.Delete(t.Items, i, i+1), it)
}

// remove takes a message out of the conversation.
func (c *Conversation) remove(parent string, m *Message) {
	t := c.thread(parent)
	if i := t.position(m); i >= 0 {
		t.Items = slices.Delete(t.Items, i, i+1)
	}
	delete(c.index.messages, messageKey{parent, m.ID})
	c.index.block = nil
	if len(t.Items) == 0 && parent != "" {
		c.Threads = slices.DeleteFunc(c.Threads, func(other *Thread) bool { return other == t })
		delete(c.index.threads, parent)
	}
}

// at returns where the block of an index is or belongs.
func (m *Message) at(index int64) (int, bool) {
	return slices.BinarySearchFunc(m.Blocks, index, func(b *Block, index int64) int {
		switch {
		case b.Index < index:
			return -1
		case b.Index > index:
			return 1
		}
		return 0
	})
}

// Block returns the block of an index, nil if there is none.
func (m *Message) Block(index int64) *Block {
	if i, ok := m.at(index); ok {
		return m.Blocks[i]
	}
	return nil
}

// block returns the block of an index, a new one that streams if there is none.
func (m *Message) block(index int64, blockType string) *Block {
	i, ok := m.at(index)
	if !ok {
		m.Blocks = slices.Insert(m.Blocks, i, &Block{Index: index, Type: kept(blockType), State: Streaming})
	}
	return m.Blocks[i]
}

// drop removes the blocks that gone accepts.
func (c *Conversation) drop(m *Message, gone func(*Block) bool) {
	m.Blocks = slices.DeleteFunc(m.Blocks, func(b *Block) bool {
		if !gone(b) {
			return false
		}
		if b.Tool != nil && c.index.tools[b.Tool.ID] == b.Tool {
			delete(c.index.tools, b.Tool.ID)
		}
		return true
	})
	c.index.block = nil
}
