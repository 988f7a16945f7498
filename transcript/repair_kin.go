package transcript

import "slices"

// kin holds the connected entries of a file, and finds the most likely parent of an entry. Two
// entries are relatives if one leads up to the other.
type kin struct {
	lines    []*operated
	place    map[*operated]int
	top      map[string]string      // links towards the representative of the relatives
	byUUID   map[string]*operated   // the last line under each uuid
	callers  map[string][]*operated // by tool use id, in the order of the file
	answers  map[string][]*operated // by message id, in the order of the file
	siblings map[side][]*operated   // by side, in the order of the file
	work     *work
}

// side holds the fields that are equal for entries that may follow each other.
type side struct {
	sidechain bool
	team      string
}

func sideOf(l *Link) side { return side{l.IsSidechain, l.TeamName} }

// lookBack is the number of earlier entries that are considered as a parent. Skipped entries are
// descendants, which only happens in a file with lines out of order.
const lookBack = 64

func newKin(p *surgeon) *kin {
	k := &kin{
		lines: p.lines, work: p.work, place: map[*operated]int{}, top: map[string]string{}, byUUID: map[string]*operated{},
		callers: map[string][]*operated{}, answers: map[string][]*operated{}, siblings: map[side][]*operated{},
	}
	for i, l := range p.lines {
		link := linkOrNil(l.entry)
		if link == nil || link.UUID == "" {
			continue
		}
		if p.work.over() {
			break
		}
		k.place[l], k.byUUID[link.UUID] = i, l
		if link.ParentUUID != "" {
			k.join(link.UUID, link.ParentUUID)
		}
		if l.entry.Kind() == "progress" {
			continue
		}
		k.siblings[sideOf(link)] = append(k.siblings[sideOf(link)], l)
		n := &node{entry: l.entry, link: link}
		if id := n.messageID(); id != "" {
			k.answers[id] = append(k.answers[id], l)
		}
		for _, id := range n.toolUses() {
			k.callers[id] = append(k.callers[id], l)
		}
	}
	return k
}

// relative returns the representative of the relatives of an entry.
func (k *kin) relative(uuid string) string {
	for {
		top, ok := k.top[uuid]
		if !ok {
			return uuid
		}
		if above, ok := k.top[top]; ok {
			k.top[uuid] = above // path compression
		}
		uuid = top
	}
}

// join makes two entries relatives.
func (k *kin) join(a, b string) {
	if b == "" {
		return
	}
	if a, b = k.relative(a), k.relative(b); a != b {
		k.top[a] = b
	}
}

// likelyParent returns the line that called the tool, for a result; else the previous line of the
// same answer; else the previous entry in the file. Relatives are excluded: an entry that lost its
// parent, or is in a cycle, is above all of its relatives.
func (k *kin) likelyParent(l *operated) string {
	n := &node{entry: l.entry, link: LinkOf(l.entry)}
	if results := n.toolResults(); len(results) > 0 {
		if id := k.before(l, k.callers[results[0]]); id != "" {
			return id
		}
	}
	if message := n.messageID(); message != "" {
		if id := k.before(l, k.answers[message]); id != "" {
			return id
		}
	}
	return k.before(l, k.siblings[sideOf(n.link)])
}

// before returns the uuid of the last line before l that may be its parent.
func (k *kin) before(l *operated, list []*operated) string {
	link := LinkOf(l.entry)
	at, _ := slices.BinarySearchFunc(list, k.place[l], func(o *operated, place int) int { return k.place[o] - place })
	for i := at - 1; i >= max(0, at-lookBack) && !k.work.over(); i-- {
		other := linkOrNil(list[i].entry)
		if other != nil && other.UUID != link.UUID && sideOf(other) == sideOf(link) && k.relative(other.UUID) != k.relative(link.UUID) {
			return other.UUID
		}
	}
	return ""
}

// circle is a cycle of parents.
type circle struct{ broken bool }

// circles returns the cycles of parents by the uuids of their entries.
func (k *kin) circles() map[string]*circle {
	found := map[string]*circle{}
	const open, done = 1, 2
	state := map[string]int{}
	parent := func(uuid string) string {
		if l := k.byUUID[uuid]; l != nil {
			return LinkOf(l.entry).ParentUUID
		}
		return ""
	}
	for start := range k.byUUID {
		if k.work.over() {
			return found
		}
		var way []string
		id := start
		for ; id != "" && state[id] == 0 && !k.work.over(); id = parent(id) {
			state[id] = open
			way = append(way, id)
		}
		if id != "" && state[id] == open {
			c := &circle{}
			for at := id; found[at] == nil; at = parent(at) {
				found[at] = c
			}
		}
		for _, id := range way {
			state[id] = done
		}
	}
	return found
}
