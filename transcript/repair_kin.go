package transcript

import "slices"

// kin knows which entries of a file hang together, and finds the entry that another one
// most likely followed. Entries of which one leads up to the other are relatives.
type kin struct {
	lines    []*operated
	place    map[*operated]int
	top      map[string]string      // on the way to the one that stands for all relatives
	byUUID   map[string]*operated   // the last line under each uuid
	callers  map[string][]*operated // by tool use id, in the order of the file
	answers  map[string][]*operated // by message id, in the order of the file
	siblings map[side][]*operated   // by the side that they are on, in the order of the file
	work     *work
}

// side is what entries have in common that may follow each other.
type side struct {
	sidechain bool
	team      string
}

func sideOf(l *Link) side { return side{l.IsSidechain, l.TeamName} }

// lookBack is how many entries before an entry are looked at for one that it may follow.
// Those that are passed over follow it themselves, which only happens in a file whose
// lines are out of order.
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

// relative stands for all relatives of an entry.
func (k *kin) relative(uuid string) string {
	for {
		top, ok := k.top[uuid]
		if !ok {
			return uuid
		}
		if above, ok := k.top[top]; ok {
			k.top[uuid] = above // the next one has it shorter
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

// likelyParent is the line that called the tool, for a result; the line before in
// the same answer; else the entry before it in the file. None of them is a relative: an
// entry that lost its parent, or is in a circle, is above all of its relatives.
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

// before is the uuid of the last of some lines that is before l and may be its parent.
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

// circle is a circle of parents.
type circle struct{ broken bool }

// circles are the circles that entries are in, by uuid.
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
