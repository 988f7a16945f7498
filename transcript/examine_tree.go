package transcript

// duplicates finds entries with the uuid of an earlier entry.
func (x *examination) duplicates() {
	first := map[string]*fileLine{}
	for _, l := range x.lines {
		if x.work.over() {
			return
		}
		link := linkOrNil(l.entry)
		if link == nil || link.UUID == "" {
			continue
		}
		earlier := first[link.UUID]
		switch {
		case earlier == nil:
			first[link.UUID] = l
		case earlier.entry.line().text == l.entry.line().text:
			x.report(DuplicateUUID, x.repeats(), l.pos, link.UUID, "the same entry as line %d, once more", earlier.pos.Line)
		default:
			x.report(DuplicateUUID, x.hides(earlier, l), l.pos, link.UUID, "another entry than line %d under its uuid, which hides that one", earlier.pos.Line)
		}
	}
}

// repeats returns the severity of a repeated entry: harmless, unless readers take its second
// position for the end of the conversation.
func (x *examination) repeats() Severity {
	if x.repeated == "" {
		x.repeated = x.weighRepeated()
	}
	return x.repeated
}

func (x *examination) weighRepeated() Severity {
	seen := map[string]bool{}
	var once []Entry
	for _, l := range x.lines {
		if x.work.over() {
			return Harmless
		}
		if linkOrNil(l.entry) != nil && !seen[l.entry.line().text] {
			seen[l.entry.line().text] = true
			once = append(once, l.entry)
		}
	}
	if sameNodes(newGraph(x.work, once).conversation(), x.chain) {
		return Harmless
	}
	return BreaksResume
}

// hides returns the severity of an entry that replaces another one: if both are messages and have
// different parents, the conversation changes.
func (x *examination) hides(earlier, later *fileLine) Severity {
	a, b := LinkOf(earlier.entry), LinkOf(later.entry)
	if a.ParentUUID != b.ParentUUID && x.onChain[x.graph.byID[a.UUID]] {
		return BreaksResume
	}
	return BreaksDisplay
}

// missingParents finds entries with a parent that is not in the file.
func (x *examination) missingParents() {
	for _, n := range x.graph.nodes {
		if x.work.over() {
			return
		}
		parent := n.link.ParentUUID
		if parent == "" || x.graph.byID[parent] != nil || x.outside[parent] != nil {
			continue
		}
		severity := Harmless
		switch {
		case x.onChain[n] && x.graph.byID[n.parent] == nil && x.offChain < n.index: // an earlier message exists
			severity = BreaksResume
		case n.isTalk():
			severity = BreaksDisplay
		}
		x.report(MissingParent, severity, n.entry.Position(), n.link.UUID, "it follows %s, which is not there", parent)
	}
}

// cycles finds cycles of parents. A cycle is one finding, at its first line.
func (x *examination) cycles() {
	const (
		open = 1 + iota // on the path up from the current entry
		done
	)
	state := map[*node]int{}
	for _, start := range x.graph.nodes {
		if x.work.over() {
			return
		}
		var way []*node
		n := start
		for ; n != nil && state[n] == 0 && !x.work.over(); n = x.graph.parentOf(n) {
			state[n] = open
			way = append(way, n)
		}
		if n != nil && state[n] == open {
			x.cycle(n)
		}
		for _, m := range way {
			state[m] = done
		}
	}
}

func (x *examination) cycle(n *node) {
	first, size, severity := n, 0, BreaksDisplay
	for m := n; !x.work.over(); {
		size++
		if m.index < first.index {
			first = m
		}
		if x.onChain[m] {
			severity = BreaksResume
		}
		if m = x.graph.parentOf(m); m == n {
			break
		}
	}
	if len(x.chain) == 0 {
		severity = BreaksResume
	}
	x.report(ParentCycle, severity, first.entry.Position(), first.link.UUID, "%d entries that follow each other in a circle", size)
}
