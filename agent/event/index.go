package event

// index locates elements of a conversation. It is derived from the conversation alone, so that a
// decoded one has the same index.
type index struct {
	threads  map[string]*threadIndex
	messages map[messageKey]*messageIndex
	users    map[string]*userIndex // by uuid
	tools    map[string]*ToolCall
	// restartOf has the Restart of tools in the conversation from which the index was built.
	restartOf map[string]int64
	orphans   map[string][]itemRef // results without their call, by tool use
	lines     map[lineKey][]lineRef
	tasks     map[string]*Task
	prompts   map[promptKey]*Prompt
	hooks     map[string]*HookRun
	turns     map[string]*Turn
	byTurn    map[string][]itemRef // created on first use

	// Elements that may be running: the calls since the agent started, and the first turn.
	calls     []*ToolCall
	liveTurns int

	// Lists that are not in order, see Settle.
	dirtyThreads  map[*threadIndex]bool
	dirtyMessages map[*messageIndex]bool
	threadsDirty  bool
	promptsDirty  bool
	// Lists changed by the current event; small ones are ordered at once.
	touchedThreads  []*threadIndex
	touchedMessages []*messageIndex

	// The block of the last delta: the next delta is likely for the same block.
	parent, message string
	block           *Block

	steps int64 // counts operations that grow with the conversation, for tests
}

type messageKey struct {
	parent, id string
	restart    int64
}

// lineKey identifies a line of the provider in a thread.
type lineKey struct{ parent, uuid string }

type promptKey struct {
	question  bool
	requestID string
}

// itemRef is an item of a thread.
type itemRef struct {
	thread *threadIndex
	item   *Item
}

// lineRef is a block that a line has confirmed.
type lineRef struct {
	message *messageIndex
	block   *Block
}

// userIndex is a message in the user's role.
type userIndex struct {
	message *Message
	ref     itemRef
}

// ready prepares the conversation for events.
func (c *Conversation) ready() {
	if c.index != nil {
		return
	}
	c.index, c.Version = &index{}, ConversationVersion
	c.index.noThreads()
	c.Threads, c.Tasks, c.Prompts, c.Queue = notNil(c.Threads), notNil(c.Tasks), notNil(c.Prompts), notNil(c.Queue)
	c.Turns, c.Hooks, c.Notices = notNil(c.Turns), notNil(c.Hooks), notNil(c.Notices)
	for _, t := range c.Threads {
		t.Items = notNil(t.Items)
		x := &threadIndex{thread: t}
		c.index.threads[t.ParentToolUseID] = x
		for _, it := range t.Items {
			c.index.item(x, it)
		}
	}
	for _, t := range c.Tasks {
		put(&c.index.tasks, t.ID, t)
	}
	for _, p := range c.Prompts {
		put(&c.index.prompts, p.key(), p)
	}
	for _, h := range c.Hooks {
		put(&c.index.hooks, h.Hook.HookID, h)
	}
	for _, t := range c.Turns {
		put(&c.index.turns, t.ID, t)
	}
	if len(c.Threads) == 0 {
		c.thread("")
	}
	c.index.restartOf = nil
}

// noThreads clears the parts of the index that depend on threads.
func (x *index) noThreads() {
	x.threads, x.messages = map[string]*threadIndex{}, map[messageKey]*messageIndex{}
	x.users, x.tools, x.orphans, x.lines, x.byTurn = nil, nil, nil, nil, nil
	x.block = nil
	clear(x.dirtyThreads)
	clear(x.dirtyMessages)
	x.touchedThreads, x.touchedMessages, x.threadsDirty = nil, nil, false
}

// put sets an element of a map, and creates the map on first use.
func put[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// item indexes the content of an item.
func (x *index) item(t *threadIndex, it *Item) {
	x.steps++
	switch m := it.Message; {
	case it.ToolResult != nil:
		id := it.ToolResult.ToolUseID
		put(&x.orphans, id, append(x.orphans[id], itemRef{t, it}))
	case m == nil:
	case m.Role == "assistant":
		m.Blocks = notNil(m.Blocks)
		mi := &messageIndex{message: m, ref: itemRef{t, it}}
		x.messages[messageKey{t.thread.ParentToolUseID, m.ID, m.Restart}] = mi
		for _, b := range m.Blocks {
			x.steps++
			mi.count(b, 1)
			mi.pending(b)
			x.line(mi, b)
			if b.Tool != nil {
				x.tool(b.Tool, m.Restart)
			}
		}
	default:
		m.Blocks = notNil(m.Blocks)
		if m.UUID != "" {
			put(&x.users, m.UUID, &userIndex{m, itemRef{t, it}})
		}
	}
}

// tool indexes a call of a decoded conversation. Of calls with one id the last counts.
func (x *index) tool(t *ToolCall, restart int64) {
	if t.Status == ToolInProgress {
		x.calls = append(x.calls, t)
	}
	if t.ID == "" || x.tools[t.ID] != nil && restart < x.restartOf[t.ID] {
		return
	}
	put(&x.tools, t.ID, t)
	if restart > 0 {
		put(&x.restartOf, t.ID, restart)
	}
}

// line records the line that confirmed a block.
func (x *index) line(m *messageIndex, b *Block) {
	if b.UUID != "" {
		key := lineKey{m.ref.thread.thread.ParentToolUseID, b.UUID}
		put(&x.lines, key, append(x.lines[key], lineRef{m, b}))
	}
}

// Thread returns the thread of a subagent by its tool use, the main thread for "", or nil.
func (c *Conversation) Thread(parentToolUseID string) *Thread {
	c.Settle()
	if t := c.index.threads[parentToolUseID]; t != nil {
		return t.thread
	}
	return nil
}

// Tool returns the tool call with the id, or nil.
func (c *Conversation) Tool(id string) *ToolCall {
	c.ready()
	return c.index.tools[id]
}

// answer returns an assistant's message, and adds one in the given state if it is new.
func (c *Conversation) answer(h *Header, state State) *messageIndex {
	if m := c.known(h); m != nil {
		return m
	}
	m := &Message{Role: "assistant", ID: kept(h.MessageID), State: state, Blocks: []*Block{}, Restart: c.Restarts}
	mi := &messageIndex{message: m, ref: c.add(h.ParentToolUseID, &Item{Kind: ItemMessage, Message: m})}
	c.index.messages[messageKey{mi.ref.thread.thread.ParentToolUseID, m.ID, m.Restart}] = mi
	return mi
}

// known returns an assistant's message, or nil.
func (c *Conversation) known(h *Header) *messageIndex {
	return c.index.messages[messageKey{h.ParentToolUseID, h.MessageID, c.Restarts}]
}

// turn returns the running or last turn, nil before the first.
func (c *Conversation) turn() *Turn {
	if len(c.Turns) == 0 {
		return nil
	}
	return c.Turns[len(c.Turns)-1]
}
