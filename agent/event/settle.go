package event

import (
	"slices"
	"strings"
)

// Settle restores the order of all lists. [Conversation.MarshalJSON] and [Conversation.Thread] call
// it; a program that reads the lists of a possibly large conversation directly has to call it
// first. It is cheap if the lists are in order.
func (c *Conversation) Settle() {
	c.ready()
	x := c.index
	for t := range x.dirtyThreads {
		c.settleItems(t)
	}
	for m := range x.dirtyMessages {
		c.settleBlocks(m)
	}
	if x.threadsDirty {
		c.settleThreads()
	}
	if x.promptsDirty {
		c.settlePrompts()
	}
}

// Steps returns the number of steps of the fold that can grow with the conversation: elements
// visited, moved or sorted. It is at most n log n for n events, and exists to check this.
func (c *Conversation) Steps() int64 {
	c.ready()
	return c.index.steps
}

// settleSmall restores the order of small lists that an event has changed.
func (c *Conversation) settleSmall() {
	x := c.index
	for _, t := range x.touchedThreads {
		if x.dirtyThreads[t] && len(t.thread.Items)-t.from <= smallList {
			c.settleItems(t)
		}
	}
	for _, m := range x.touchedMessages {
		if x.dirtyMessages[m] && len(m.message.Blocks) <= smallList {
			c.settleBlocks(m)
		}
	}
	x.touchedThreads, x.touchedMessages = x.touchedThreads[:0], x.touchedMessages[:0]
	if x.threadsDirty && len(c.Threads) <= smallList {
		c.settleThreads()
	}
	if x.promptsDirty && len(c.Prompts) <= smallList {
		c.settlePrompts()
	}
}

func (c *Conversation) settleThreads() {
	x := c.index
	x.steps += int64(len(c.Threads))
	c.Threads = slices.DeleteFunc(c.Threads, func(t *Thread) bool {
		known := x.threads[t.ParentToolUseID]
		return known == nil || known.thread != t
	})
	slices.SortFunc(c.Threads, func(a, b *Thread) int { return strings.Compare(a.ParentToolUseID, b.ParentToolUseID) })
	x.threadsDirty = false
}

func (c *Conversation) settlePrompts() {
	x := c.index
	x.steps += int64(len(c.Prompts))
	c.Prompts = slices.DeleteFunc(c.Prompts, func(p *Prompt) bool { return x.prompts[p.key()] != p })
	x.promptsDirty = false
}
