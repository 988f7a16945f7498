package transcript

import (
	"slices"
)

// cutAt is the beginning of a session up to a message, such that the message is
// the end of its conversation.
func cutAt(tree []Entry, uuid string) ([]Entry, error) {
	at := indexOfMessage(tree, uuid)
	if at < 0 {
		return nil, ErrNoMessage
	}
	cut := beforeBoundary(tree[:at+1])
	cut = withoutPreserved(cut, LinkOf(tree[at]).UUID)
	return withoutBranches(cut), nil
}

// indexOfMessage is where a message is in the file. It is first looked for in the
// conversation and behind it, then everywhere; the uuid of a queued prompt will do.
func indexOfMessage(tree []Entry, uuid string) int {
	first := map[string]int{}
	for i, e := range tree {
		if _, ok := first[LinkOf(e).UUID]; !ok {
			first[LinkOf(e).UUID] = i
		}
	}
	end := -1
	var order []Entry
	g := newGraph(tree)
	for _, n := range g.conversation() {
		order = append(order, n.entry)
		end = max(end, first[n.link.UUID])
	}
	order = append(order, tree[end+1:]...)
	for _, list := range [][]Entry{order, tree} {
		i := slices.IndexFunc(list, func(e Entry) bool { return LinkOf(e).UUID == uuid })
		if i < 0 {
			i = slices.IndexFunc(list, func(e Entry) bool { q := queuedOf(e); return q != nil && q.SourceUUID == uuid })
		}
		if i >= 0 {
			return first[LinkOf(list[i]).UUID]
		}
	}
	return -1
}

// conversation is the chain to the leaf with what ran in parallel.
func (g *graph) conversation() []*node {
	leaf := g.leaf()
	if leaf == nil {
		return nil
	}
	return g.withParallel(g.chain(leaf))
}

// boundaryOf is an entry as the boundary of a compaction, nil if it is none.
func boundaryOf(e Entry) *SystemEntry {
	s, ok := e.(*SystemEntry)
	if !ok || s.Subtype != "compact_boundary" {
		return nil
	}
	return s
}

// anchor is the uuid that preserved messages follow, "" if none are.
func (s *SystemEntry) anchor() string {
	switch m := s.CompactMetadata; {
	case m == nil:
	case m.PreservedMessages != nil:
		return m.PreservedMessages.AnchorUUID
	case m.PreservedSegment != nil:
		return m.PreservedSegment.AnchorUUID
	}
	return ""
}

// preserved are the uuids of messages that a compaction preserved.
func (s *SystemEntry) preserved() (uuids []string) {
	m := s.CompactMetadata
	if m == nil {
		return nil
	}
	if m.PreservedMessages != nil {
		uuids = append(uuids, m.PreservedMessages.UUIDs...)
	}
	if m.PreservedSegment != nil {
		uuids = append(uuids, m.PreservedSegment.HeadUUID, m.PreservedSegment.TailUUID)
	}
	return uuids
}

// isMark reports whether a boundary only marks a place, and nothing was compacted.
func (s *SystemEntry) isMark() bool {
	m := s.CompactMetadata
	return m != nil && m.DurationMS != nil && *m.DurationMS == 0 && s.anchor() == s.UUID
}

// beforeBoundary is, of a list that ends in a compaction before anything was said,
// what the compaction found: the conversation before it.
func beforeBoundary(list []Entry) []Entry {
	talk := -1
	for i, e := range list {
		if k := e.Kind(); k == "user" || k == "assistant" {
			talk = i
		}
	}
	at := slices.IndexFunc(list[talk+1:], func(e Entry) bool { b := boundaryOf(e); return b != nil && !b.isMark() })
	if at < 0 {
		return list
	}
	at += talk + 1
	boundary, before := boundaryOf(list[at]), list[:at]
	kept := map[string]bool{}
	if boundary.anchor() != boundary.UUID || boundary.UUID == "" {
		kept[boundary.LogicalParentUUID] = true
		for _, id := range boundary.preserved() {
			kept[id] = true
		}
	}
	delete(kept, "")
	end := lastIndex(before, func(e Entry) bool { return kept[LinkOf(e).UUID] })
	if i := lastIndex(before, func(e Entry) bool { return boundaryOf(e) != nil }); end >= 0 && i >= 0 {
		earlier := boundaryOf(before[i])
		if !earlier.isMark() && slices.Contains(earlier.preserved(), LinkOf(before[end]).UUID) {
			end = max(end, lastIndex(before, func(e Entry) bool { return LinkOf(e).UUID == earlier.anchor() }))
		}
	}
	if end >= 0 {
		before = before[:end+1]
	}
	if slices.ContainsFunc(before, func(e Entry) bool { return e.Kind() != "progress" }) {
		return before
	}
	return list
}

func lastIndex(list []Entry, is func(Entry) bool) int {
	for i := len(list) - 1; i >= 0; i-- {
		if is(list[i]) {
			return i
		}
	}
	return -1
}

// withoutPreserved takes the preserved messages off the compaction whose summary
// is the end: they would come behind it.
func withoutPreserved(list []Entry, end string) []Entry {
	out := slices.Clone(list)
	for i, e := range out {
		b := boundaryOf(e)
		if b == nil || b.isMark() || b.anchor() == "" || b.anchor() != end {
			continue
		}
		metadata := parseObject(string(b.Member("compactMetadata")))
		metadata.remove("preservedMessages", "preservedSegment", "postTokens")
		o := parseObject(b.text)
		o.set("compactMetadata", metadata.text())
		if changed, err := parseEntry(o.text(), b.pos); err == nil {
			out[i] = changed
		}
	}
	return out
}

// cutter leaves out the branches beside the way to the end of a fork, so far as
// they would be taken for the conversation.
type cutter struct {
	list    []Entry
	byID    map[string]Entry
	live    map[string]bool // on the way to the end
	index   map[string]int
	start   int // where the conversation begins
	leftOut map[string]bool
}

func withoutBranches(list []Entry) []Entry {
	if len(list) == 0 {
		return list
	}
	plain := make([]Entry, len(list)) // as the fork will have them
	for i, e := range list {
		plain[i] = plainEntry(e)
	}
	last := LinkOf(list[len(list)-1])
	end := &SystemEntry{Link: Link{source: source{kind: "system"}, UUID: newUUID(), ParentUUID: last.UUID, Timestamp: last.Timestamp}}
	wanted := newGraph(append(slices.Clone(plain), end)).conversation()
	c := newCutter(list, last.UUID, wanted)
	if c == nil {
		return list
	}
	for _, e := range list {
		if b := boundaryOf(e); b != nil && c.mayGo(e) && !slices.ContainsFunc(b.preserved(), func(id string) bool { return c.live[id] }) {
			c.leaveOut(e)
		}
	}
	for {
		g := newGraph(slices.DeleteFunc(slices.Clone(plain), func(e Entry) bool { return c.leftOut[LinkOf(e).UUID] }))
		leaf, terminal := g.ends()
		if leaf == nil {
			break
		}
		if sameNodes(g.withParallel(g.chain(leaf)), wanted) || terminal == nil || !c.mayGo(terminal.entry) {
			break
		}
		c.leaveOut(terminal.entry)
	}
	return slices.DeleteFunc(slices.Clone(list), func(e Entry) bool { return c.leftOut[LinkOf(e).UUID] })
}

// plainEntry is an entry without what marks it as somebody else's.
func plainEntry(e Entry) Entry {
	l := LinkOf(e)
	if l.TeamName == "" && !l.IsSidechain {
		return e
	}
	o := parseObject(l.text)
	o.remove("teamName", "isSidechain")
	if plain, err := parseEntry(o.text(), l.pos); err == nil {
		return plain
	}
	return e
}

func newCutter(list []Entry, end string, wanted []*node) *cutter {
	c := &cutter{list: list, byID: map[string]Entry{}, live: map[string]bool{}, index: map[string]int{}, leftOut: map[string]bool{}}
	for i, e := range list {
		id := LinkOf(e).UUID
		c.byID[id] = e
		if _, ok := c.index[id]; !ok {
			c.index[id] = i
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	start, ok := c.index[wanted[0].link.UUID]
	if !ok {
		return nil
	}
	c.start = start
	from := []string{end}
	for _, n := range wanted {
		from = append(from, n.link.UUID)
	}
	for _, id := range from {
		for e := c.byID[id]; e != nil && !c.live[LinkOf(e).UUID]; e = c.byID[LinkOf(e).ParentUUID] {
			c.live[LinkOf(e).UUID] = true
		}
	}
	return c
}

// mayGo reports whether an entry is beside the way and within the conversation.
func (c *cutter) mayGo(e Entry) bool {
	id := LinkOf(e).UUID
	return !c.live[id] && c.index[id] >= c.start
}

// leaveOut leaves an entry out, what it alone leads to, and what hangs off that.
func (c *cutter) leaveOut(e Entry) {
	for ; e != nil && c.mayGo(e) && !c.leftOut[LinkOf(e).UUID]; e = c.byID[LinkOf(e).ParentUUID] {
		c.leftOut[LinkOf(e).UUID] = true
	}
	for _, e := range c.list {
		if l := LinkOf(e); l.ParentUUID != "" && c.leftOut[l.ParentUUID] {
			c.leftOut[l.UUID] = true
		}
	}
}

func sameNodes(a, b []*node) bool {
	in := map[string]bool{}
	for _, n := range b {
		in[n.link.UUID] = true
	}
	return len(a) == len(in) && !slices.ContainsFunc(a, func(n *node) bool { return !in[n.link.UUID] })
}
