package transcript

import (
	"container/heap"
	"slices"

	"github.com/seed7221b0f9/parley/internal/random"
)

// cutter removes side branches that would be taken for the conversation of a fork.
type cutter struct {
	work     *work
	list     []Entry
	plain    []Entry // as they will be in the fork
	byID     map[string]Entry
	children map[string][]string // uuids by the uuid of their parent
	live     map[string]bool     // on the path to the end
	wanted   []*node             // the conversation that the fork should have
	index    map[string]int
	start    int // the start of the conversation
	leftOut  map[string]bool
	named    map[string]bool // uuids that compactions refer to
	stale    bool            // an entry that a compaction refers to was removed
	compared int
}

// maxCompared limits how often a conversation is built to compare it with the wanted one, and how
// often the cut restarts because a compaction was removed. After that all side branches are
// removed, harmless ones too.
const maxCompared = 32

func withoutBranches(w *work, list []Entry) []Entry {
	if len(list) == 0 {
		return list
	}
	c := newCutter(w, list)
	if c == nil {
		return list
	}
	for _, e := range list {
		if b := boundaryOf(e); b != nil && c.mayGo(e) && !slices.ContainsFunc(b.preserved(), func(id string) bool { return c.live[id] }) {
			c.leaveOut(e)
		}
	}
	for range maxCompared {
		if c.stale = false; c.cut() || w.ended() {
			return c.remaining()
		}
	}
	for _, e := range list {
		if c.mayGo(e) {
			c.leftOut[LinkOf(e).UUID] = true
		}
	}
	return c.remaining()
}

func newCutter(w *work, list []Entry) *cutter {
	c := &cutter{
		work: w, list: list, byID: map[string]Entry{}, children: map[string][]string{}, live: map[string]bool{},
		index: map[string]int{}, leftOut: map[string]bool{}, named: map[string]bool{},
	}
	for i, e := range list {
		if w.over() {
			return nil
		}
		c.add(i, e)
	}
	last := LinkOf(list[len(list)-1])
	end := &SystemEntry{Link: Link{source: source{kind: "system"}, UUID: random.UUID(), ParentUUID: last.UUID, Timestamp: last.Timestamp}}
	c.wanted = newGraph(w, append(slices.Clone(c.plain), end)).conversation()
	if len(c.wanted) == 0 {
		return nil
	}
	start, ok := c.index[c.wanted[0].link.UUID]
	if !ok {
		return nil
	}
	c.start = start
	from := []string{last.UUID}
	for _, n := range c.wanted {
		from = append(from, n.link.UUID)
	}
	for _, id := range from {
		for e := c.byID[id]; e != nil && !c.live[LinkOf(e).UUID]; e = c.byID[LinkOf(e).ParentUUID] {
			c.live[LinkOf(e).UUID] = true
		}
	}
	return c
}

func (c *cutter) add(i int, e Entry) {
	l := LinkOf(e)
	c.plain = append(c.plain, plainEntry(e))
	c.byID[l.UUID] = e
	if _, ok := c.index[l.UUID]; !ok {
		c.index[l.UUID] = i
	}
	if l.ParentUUID != "" {
		c.children[l.ParentUUID] = append(c.children[l.ParentUUID], l.UUID)
	}
	if b := boundaryOf(e); b != nil {
		for _, id := range append(b.preserved(), b.UUID) {
			c.named[id] = true
		}
	}
}

// mayGo reports whether an entry is within the conversation but not on the path to its end.
func (c *cutter) mayGo(e Entry) bool {
	id := LinkOf(e).UUID
	return !c.live[id] && c.index[id] >= c.start
}

// leaveOut removes an entry, its ancestors up to the path to the end, and all their descendants. It
// returns the removed uuids.
func (c *cutter) leaveOut(e Entry) (gone []string) {
	for ; e != nil && c.mayGo(e) && !c.leftOut[LinkOf(e).UUID]; e = c.byID[LinkOf(e).ParentUUID] {
		c.leftOut[LinkOf(e).UUID] = true
		gone = append(gone, LinkOf(e).UUID)
	}
	for i := 0; i < len(gone) && !c.work.over(); i++ {
		c.stale = c.stale || c.named[gone[i]]
		for _, id := range c.children[gone[i]] {
			if !c.leftOut[id] {
				c.leftOut[id] = true
				gone = append(gone, id)
			}
		}
	}
	return gone
}

// remaining returns the entries that were not removed.
func (c *cutter) remaining() []Entry {
	return slices.DeleteFunc(slices.Clone(c.list), func(e Entry) bool { return c.leftOut[LinkOf(e).UUID] })
}

// cut removes branches, starting with the branch that would be taken for the conversation, until
// the conversation is the wanted one or the branch must stay. It returns false if the cut must
// restart because an entry that a compaction refers to was removed.
func (c *cutter) cut() bool {
	plain := slices.DeleteFunc(slices.Clone(c.plain), func(e Entry) bool { return c.leftOut[LinkOf(e).UUID] })
	g := newGraph(c.work, plain)
	inWanted := map[string]bool{}
	for _, n := range c.wanted {
		inWanted[n.link.UUID] = true
	}
	f := newFringe(g)
	talks := map[*node]*node{}
	for f.Len() > 0 && !c.work.over() {
		end := heap.Pop(f).(*node)
		leaf := f.upToTalk(end, c.leftOut, talks)
		if leaf == nil {
			continue
		}
		if inWanted[leaf.link.UUID] && c.compared < maxCompared {
			c.compared++
			if sameNodes(g.withParallel(g.chain(leaf)), c.wanted) {
				return true
			}
		}
		if !c.mayGo(end.entry) {
			return true
		}
		gone := c.leaveOut(end.entry)
		if c.stale {
			return false
		}
		f.without(gone, c.leftOut)
	}
	return true
}

// fringe holds the entries of the main conversation without a follower, last in the file first.
type fringe struct {
	g         *graph
	ends      []*node
	followers map[string]int // number of followers in the main conversation, by parent uuid
}

func newFringe(g *graph) *fringe {
	f := &fringe{g: g, followers: map[string]int{}}
	for _, n := range g.nodes {
		if n.parent != "" && n.mainThread() {
			f.followers[n.parent]++
		}
	}
	for _, n := range g.nodes {
		if n.mainThread() && f.followers[n.link.UUID] == 0 && !g.work.over() {
			f.ends = append(f.ends, n)
		}
	}
	heap.Init(f)
	return f
}

// upToTalk returns the message that an end leads to, or nil if it leads to no message or the
// message was removed.
func (f *fringe) upToTalk(end *node, leftOut map[string]bool, talks map[*node]*node) *node {
	if leftOut[end.link.UUID] {
		return nil
	}
	return f.g.upToTalk(end, talks)
}

// without removes entries: their parents may become ends.
func (f *fringe) without(gone []string, leftOut map[string]bool) {
	for _, id := range gone {
		n := f.g.byID[id]
		if n == nil || n.parent == "" || !n.mainThread() || f.g.work.over() {
			continue
		}
		f.followers[n.parent]--
		parent := f.g.byID[n.parent]
		if parent != nil && f.followers[n.parent] == 0 && parent.mainThread() && !leftOut[n.parent] {
			heap.Push(f, parent)
		}
	}
}

// Len returns the number of ends.
func (f *fringe) Len() int { return len(f.ends) }

// Less orders ends by their position in the file, last first.
func (f *fringe) Less(i, j int) bool { return f.ends[i].index > f.ends[j].index }

// Swap swaps two ends.
func (f *fringe) Swap(i, j int) { f.ends[i], f.ends[j] = f.ends[j], f.ends[i] }

// Push adds an end.
func (f *fringe) Push(n any) { f.ends = append(f.ends, n.(*node)) }

// Pop removes an end.
func (f *fringe) Pop() any {
	n := f.ends[len(f.ends)-1]
	f.ends = f.ends[:len(f.ends)-1]
	return n
}
