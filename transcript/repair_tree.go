package transcript

import (
	"bytes"
	"slices"
)

// dropBad takes a line out that is no entry. If a whole line was glued to it, that
// one stays.
func (p *surgeon) dropBad(l *operated, f *Finding) {
	if l.entry != nil { // all that is missing is the line feed
		l.torn = false
		p.note(f.Fault, l, "changed", l.lineText(), l.lineText(), "a line feed ends it now")
		return
	}
	if glued := gluedLine(l.text); glued != "" {
		p.change(f.Fault, l, glued, "the line that was glued to the broken one is kept")
		return
	}
	p.remove(f.Fault, l, "what is left of it cannot be read")
}

// gluedLine is the line that was appended to a broken one, "" if there is none.
func gluedLine(text string) string {
	b := []byte(text)
	for _, prefix := range [][]byte{treePrefix, typePrefix} {
		for end := len(b); ; {
			i := bytes.LastIndex(b[:end], prefix)
			if i <= 0 {
				break
			}
			// Inside of a line such a text stands behind one of these.
			if bytes.IndexByte([]byte(`:,[\"`), b[i-1]) < 0 {
				if _, ok := checkObject(text[i:]); ok {
					return text[i:]
				}
			}
			end = i
		}
	}
	return ""
}

// rename gives an entry a uuid of its own. What comes behind it and follows that
// uuid means this one: the latest before it.
func (p *surgeon) rename(l *operated, f *Finding) {
	link, i := LinkOf(l.entry), p.index(l)
	for _, earlier := range p.lines[:i] {
		if linkOrNil(earlier.entry) != nil && earlier.lineText() == l.lineText() {
			// Without a look at what follows it: that follows the other one.
			p.lines = append(p.lines[:i:i], p.lines[i+1:]...)
			p.note(f.Fault, l, "removed", l.lineText(), "", "the same line is there before")
			return
		}
	}
	uuid := newUUID()
	o := parseObject(link.text)
	o.setString("uuid", uuid)
	p.change(f.Fault, l, o.text(), "it has a uuid of its own now")
	for _, c := range p.lines[i+1:] {
		child := linkOrNil(c.entry)
		switch {
		case child == nil:
		case child.UUID == link.UUID:
			return // the next one under this uuid
		case child.ParentUUID == link.UUID:
			p.setParent(f.Fault, c, uuid, "it follows the entry that got a new uuid")
		}
	}
}

// relink lets an entry follow the one that it most likely followed.
func (p *surgeon) relink(l *operated, f *Finding) {
	parent := p.likelyParent(l)
	note := "it follows the entry before it now"
	if parent == "" {
		note = "it is the first entry now"
	}
	p.setParent(f.Fault, l, parent, note)
}

// breakCircle lets the first entry of a circle follow what is before it. A circle that
// is only there because of what a compaction says it preserved is the compaction's.
func (p *surgeon) breakCircle(l *operated, f *Finding) {
	if p.followers(f.UUID)[f.UUID] {
		p.relink(l, f)
		return
	}
	g := p.examine().graph
	circle := map[string]bool{}
	for n := g.byID[f.UUID]; n != nil && !circle[n.link.UUID]; n = g.parentOf(n) {
		circle[n.link.UUID] = true
	}
	for _, c := range p.lines {
		b := boundaryOf(c.entry)
		if b == nil || !slices.ContainsFunc(append(b.preserved(), b.anchor()), func(id string) bool { return circle[id] }) {
			continue
		}
		o := parseObject(b.text)
		metadata := parseObject(o.values["compactMetadata"])
		metadata.remove("preservedMessages", "preservedSegment")
		o.set("compactMetadata", metadata.text())
		p.change(f.Fault, c, o.text(), "what it says it preserved leads back to itself")
	}
}

// likelyParent is the line that called the tool, for a result; the line before in
// the same answer; else the entry before it in the file. None of them follows l.
func (p *surgeon) likelyParent(l *operated) string {
	i := p.index(l)
	link := LinkOf(l.entry)
	follows := p.followers(link.UUID)
	mine := &node{entry: l.entry, link: link}
	results, message := mine.toolResults(), mine.messageID()
	nearest, same := "", ""
	for j := i - 1; j >= 0; j-- {
		other := linkOrNil(p.lines[j].entry)
		if other == nil || other.UUID == "" || other.UUID == link.UUID || follows[other.UUID] ||
			other.IsSidechain != link.IsSidechain || other.TeamName != link.TeamName || p.lines[j].entry.Kind() == "progress" {
			continue
		}
		n := &node{entry: p.lines[j].entry, link: other}
		for _, id := range n.toolUses() {
			if len(results) > 0 && id == results[0] {
				return other.UUID
			}
		}
		if same == "" && message != "" && n.messageID() == message {
			same = other.UUID
		}
		if nearest == "" {
			nearest = other.UUID
		}
		if len(results) == 0 && (message == "" || same != "") {
			break
		}
	}
	if same != "" {
		return same
	}
	return nearest
}

// followers are the uuids of the entries that follow one, near or far.
func (p *surgeon) followers(uuid string) map[string]bool {
	children := map[string][]string{}
	for _, l := range p.lines {
		if link := linkOrNil(l.entry); link != nil && link.ParentUUID != "" {
			children[link.ParentUUID] = append(children[link.ParentUUID], link.UUID)
		}
	}
	found := map[string]bool{}
	for todo := []string{uuid}; len(todo) > 0; {
		next := children[todo[0]]
		todo = todo[1:]
		for _, id := range next {
			if !found[id] {
				found[id] = true
				todo = append(todo, id)
			}
		}
	}
	return found
}
