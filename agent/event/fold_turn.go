package event

import (
	"slices"
	"strconv"
)

// applyTurn folds events about turns.
func (c *Conversation) applyTurn(ev Event) {
	switch ev := ev.(type) {
	case *TurnStart:
		c.turnStart(ev)
	case *Plan:
		c.thread(ev.ParentToolUseID).thread.Plan = keep(ev)
	case *TurnDiff:
		c.turnDiff(ev)
	case *Usage:
		c.Usage = over(c.Usage, ev)
	case *Truncate:
		c.truncate(ev)
	default:
		c.applyNotice(ev)
	}
}

func (c *Conversation) turnStart(ev *TurnStart) {
	id, known := kept(ev.TurnID), c.findTurn(ev.TurnID)
	switch {
	case known != nil && known.Restart == c.Restarts:
		return
	case known != nil: // of an agent that has ended
		id = c.again(id)
	}
	c.beginTurn(&Turn{ID: id, Start: keep(ev), Restart: c.Restarts})
	if u := c.index.users[ev.PromptID]; u != nil && ev.PromptID != "" {
		// The prompt preceded the turn that it started.
		c.inTurn(u.ref, c.turn())
	}
	c.Retry = nil
	if u := c.Usage; u != nil { // the context is unchanged, the turn has no usage yet
		u.TurnID, u.InputTokens, u.OutputTokens, u.CacheCreationInputTokens, u.CacheReadInputTokens = "", nil, nil, nil, nil
		u.ReasoningTokens, u.Data = nil, ""
	}
}

// again returns the id for a turn id that a restarted agent has reused.
func (c *Conversation) again(id string) string { return id + "#" + strconv.FormatInt(c.Restarts, 10) }

// findTurn returns the turn that an agent refers to by an id, or nil.
func (c *Conversation) findTurn(id string) *Turn {
	if c.Restarts > 0 {
		if t := c.index.turns[c.again(id)]; t != nil {
			return t
		}
	}
	return c.index.turns[id]
}

func (c *Conversation) beginTurn(t *Turn) *Turn {
	c.Turns = append(c.Turns, t)
	put(&c.index.turns, t.ID, t)
	return t
}

func (c *Conversation) turnDiff(ev *TurnDiff) {
	t := c.findTurn(ev.TurnID)
	switch {
	case ev.TurnID == "" && c.turn() != nil:
		t = c.turn()
	case t == nil:
		t = c.beginTurn(&Turn{ID: kept(ev.TurnID), Restart: c.Restarts})
	}
	if ev.Replace {
		t.Changes = nil
	}
	t.Changes = append(t.Changes, keep(ev).Files...)
}

// truncate removes a part of the conversation.
func (c *Conversation) truncate(ev *Truncate) {
	switch {
	case ev.From != "":
		c.cutFrom(ev.ParentToolUseID, ev.From)
	case ev.TurnID != "":
		if t := c.findTurn(ev.TurnID); t != nil {
			c.cutTurns(t.ID)
		}
	case len(ev.Lines) > 0:
		c.retract(ev.ParentToolUseID, ev.Lines)
	case ev.All:
		c.Threads, c.Turns, c.Answer, c.Usage, c.Retry = []*Thread{}, []*Turn{}, nil, nil, nil
		c.index.noThreads()
		c.index.turns, c.index.liveTurns = nil, 0
		c.thread("")
	}
}

// cutFrom removes the message with a uuid and all after it in its thread. Turns that started after
// it are removed as well.
func (c *Conversation) cutFrom(parent, uuid string) {
	var ref itemRef
	if u := c.index.users[uuid]; u != nil {
		ref = u.ref
	} else {
		for _, l := range c.index.lines[lineKey{parent, uuid}] {
			if l.block.UUID == uuid && l.message.has(l.block) {
				ref = l.message.ref
				break
			}
		}
	}
	if ref.item == nil {
		return
	}
	turn := ref.item.TurnID
	at, ok := c.position(ref)
	if !ok {
		return
	}
	for _, it := range slices.Clone(ref.thread.thread.Items[at:]) {
		c.forget(itemRef{ref.thread, it})
	}
	if t := c.index.turns[turn]; t != nil && ref.thread.thread.ParentToolUseID == "" {
		if t.Start != nil && t.Start.PromptID == uuid {
			c.cutTurns(t.ID)
		} else if i := c.turnPlace(t); i+1 < len(c.Turns) {
			c.cutTurns(c.Turns[i+1].ID)
		}
	}
}

// turnPlace returns the index of a turn. It searches from the end, because everything after it is
// removed next.
func (c *Conversation) turnPlace(t *Turn) int {
	for i := len(c.Turns) - 1; i >= 0; i-- {
		c.index.steps++
		if c.Turns[i] == t {
			return i
		}
	}
	return len(c.Turns)
}

// cutTurns removes a turn and those after it.
func (c *Conversation) cutTurns(id string) {
	t := c.index.turns[id]
	if t == nil {
		return
	}
	c.indexTurns()
	at := c.turnPlace(t)
	for _, gone := range c.Turns[at:] {
		for _, ref := range c.index.byTurn[gone.ID] {
			c.index.steps++
			if ref.item.TurnID == gone.ID { // a prompt may have moved to a later turn
				c.forget(ref)
			}
		}
		delete(c.index.byTurn, gone.ID)
		delete(c.index.turns, gone.ID)
	}
	c.Turns = c.Turns[:at]
	c.index.liveTurns = min(c.index.liveTurns, at)
}

// indexTurns indexes the items by turn.
func (c *Conversation) indexTurns() {
	x := c.index
	if x.byTurn != nil {
		return
	}
	x.byTurn = map[string][]itemRef{}
	for _, t := range x.threads {
		for _, it := range t.thread.Items {
			x.steps++
			if it.TurnID != "" {
				x.byTurn[it.TurnID] = append(x.byTurn[it.TurnID], itemRef{t, it})
			}
		}
	}
}

// forget removes an item from the conversation, with the threads of the subagents that it called.
func (c *Conversation) forget(ref itemRef) {
	if _, ok := c.position(ref); !ok || c.index.threads[ref.thread.thread.ParentToolUseID] != ref.thread {
		return
	}
	m := ref.item.Message
	if m != nil && m.Role == "assistant" {
		mi := c.index.messages[messageKey{ref.thread.thread.ParentToolUseID, m.ID, m.Restart}]
		for _, b := range m.Blocks {
			c.index.steps++
			if b.Tool != nil && c.index.tools[b.Tool.ID] == b.Tool {
				delete(c.index.tools, b.Tool.ID)
				c.forgetThread(b.Tool.ID)
			}
		}
		if mi != nil && mi.message == m {
			c.remove(mi)
			return
		}
	} else if m != nil && c.index.users[m.UUID] != nil && c.index.users[m.UUID].message == m {
		delete(c.index.users, m.UUID)
	}
	c.leave(ref)
	c.emptied(ref.thread)
}

// forgetThread removes the thread of a subagent from the conversation.
func (c *Conversation) forgetThread(parent string) {
	t := c.index.threads[parent]
	if t == nil || parent == "" {
		return
	}
	for _, it := range slices.Clone(t.thread.Items) {
		c.forget(itemRef{t, it})
	}
	if c.index.threads[parent] == t {
		delete(c.index.threads, parent)
		c.index.threadsDirty = true
	}
}
