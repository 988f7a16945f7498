package transcript

import (
	"slices"
)

// cutAt returns the beginning of a session up to a message, such that the message is the end of its
// conversation.
func cutAt(w *work, tree []Entry, uuid string) ([]Entry, error) {
	at := indexOfMessage(w, tree, uuid)
	if at < 0 {
		return nil, ErrNoMessage
	}
	cut := beforeBoundary(tree[:at+1])
	cut = withoutPreserved(cut, LinkOf(tree[at]).UUID)
	return withoutBranches(w, cut), nil
}

// indexOfMessage returns the index of a message in the file. It searches the conversation and the
// entries after it first, then all entries; it also accepts the uuid of a queued prompt.
func indexOfMessage(w *work, tree []Entry, uuid string) int {
	first := map[string]int{}
	for i, e := range tree {
		if _, ok := first[LinkOf(e).UUID]; !ok {
			first[LinkOf(e).UUID] = i
		}
	}
	end := -1
	var order []Entry
	g := newGraph(w, tree)
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

// conversation returns the chain to the leaf with parallel branches.
func (g *graph) conversation() []*node {
	leaf := g.leaf()
	if leaf == nil {
		return nil
	}
	return g.withParallel(g.chain(leaf))
}

// boundaryOf returns an entry as the boundary of a compaction, or nil.
func boundaryOf(e Entry) *SystemEntry {
	s, ok := e.(*SystemEntry)
	if !ok || s.Subtype != "compact_boundary" {
		return nil
	}
	return s
}

// anchor returns the uuid that preserved messages follow, or "" if no messages are preserved.
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

// preserved returns the uuids of messages that a compaction preserved.
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

// isMark reports whether a boundary only marks a position without a compaction.
func (s *SystemEntry) isMark() bool {
	m := s.CompactMetadata
	return m != nil && m.DurationMS != nil && *m.DurationMS == 0 && s.anchor() == s.UUID
}

// beforeBoundary returns the conversation before the compaction, for a list that ends in a
// compaction before any later message.
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

// withoutPreserved removes the list of preserved messages from the compaction with the summary end.
// Otherwise readers would insert those messages after it.
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

// plainEntry returns an entry without the marks of another session.
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

func sameNodes(a, b []*node) bool {
	in := map[string]bool{}
	for _, n := range b {
		in[n.link.UUID] = true
	}
	return len(a) == len(in) && !slices.ContainsFunc(a, func(n *node) bool { return !in[n.link.UUID] })
}
