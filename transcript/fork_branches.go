package transcript

import (
	"container/heap"
	"slices"

	"github.com/seed7221b0f9/parley/internal/random"
)

// cutter leaves out the branches beside the way to the end of a fork, so far as
// they would be taken for the conversation.
type cutter struct {
	work     *work
	list     []Entry
	plain    []Entry // as the fork will have them
	byID     map[string]Entry
	children map[string][]string // uuids by that of their parent
	live     map[string]bool     // on the way to the end
	wanted   []*node             // the conversation that the fork shall have
	index    map[string]int
	start    int // where the conversation begins
	leftOut  map[string]bool
	named    map[string]bool // what compactions are about
	stale    bool            // something that compactions are about was left out
	compared int
}

// maxCompared bounds how often a conversation is made to see whether it is the one that
// is wanted, and how often everything is looked at anew because a compaction was left
// out. After that all branches go, those that do no harm as well.
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
			return c.left()
		}
	}
	for _, e := range list {
		if c.mayGo(e) {
			c.leftOut[LinkOf(e).UUID] = true
		}
	}
	return c.left()
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

// mayGo reports whether an entry is beside the way and within the conversation.
func (c *cutter) mayGo(e Entry) bool {
	id := LinkOf(e).UUID
	return !c.live[id] && c.index[id] >= c.start
}

// leaveOut leaves an entry out, what it alone leads to, and what hangs off that. It
// returns the uuids of all.
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

// left are the entries that were not left out.
func (c *cutter) left() []Entry {
	return slices.DeleteFunc(slices.Clone(c.list), func(e Entry) bool { return c.leftOut[LinkOf(e).UUID] })
}

// cut leaves branches out, the one that would be taken for the conversation first, until
// the conversation is the one that is wanted, or the branch must stay. It is false if
// everything has to be looked at anew: something that a compaction is about is gone.
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

// fringe are the entries of the main conversation that none of it follows, the last in
// the file first.
type fringe struct {
	g         *graph
	ends      []*node
	followers map[string]int // of the main conversation, by the uuid that they follow
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

// upToTalk is the message that an end leads to, nil if it leads to none, or is gone.
func (f *fringe) upToTalk(end *node, leftOut map[string]bool, talks map[*node]*node) *node {
	if leftOut[end.link.UUID] {
		return nil
	}
	return f.g.upToTalk(end, talks)
}

// without takes entries off that were left out: what they followed may be an end now.
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

// Len is how many ends there are.
func (f *fringe) Len() int { return len(f.ends) }

// Less orders ends by their places in the file, the last one first.
func (f *fringe) Less(i, j int) bool { return f.ends[i].index > f.ends[j].index }

// Swap swaps two ends.
func (f *fringe) Swap(i, j int) { f.ends[i], f.ends[j] = f.ends[j], f.ends[i] }

// Push adds an end.
func (f *fringe) Push(n any) { f.ends = append(f.ends, n.(*node)) }

// Pop takes an end off.
func (f *fringe) Pop() any {
	n := f.ends[len(f.ends)-1]
	f.ends = f.ends[:len(f.ends)-1]
	return n
}
