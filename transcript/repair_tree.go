package transcript

import (
	"bytes"

	"github.com/seed7221b0f9/parley/internal/random"
)

// dropBad removes a line that is not an entry. It keeps a complete line that was glued to it.
func (p *surgeon) dropBad(l *operated, f *Finding) {
	if l.entry != nil { // only the line feed is missing
		l.torn = false
		p.note(f.Fault, l, "changed", l.lineText(), l.lineText(), "a line feed ends it now")
		return
	}
	if glued := gluedLine(l.text); glued != "" {
		p.change(f.Fault, l, glued, "the line that was glued to the broken one is kept")
		return
	}
	p.remove(f.Fault, l, "the rest of it cannot be read")
}

// maxGlued is the number of positions in a broken line that are tried as the start of another line.
// An appended line is the last one; text inside a line looks different.
const maxGlued = 16

// gluedLine returns the line that was appended to a broken one, or "".
func gluedLine(text string) string {
	b := []byte(text)
	for _, prefix := range [][]byte{treePrefix, typePrefix} {
		tried := 0
		for end := len(b); tried < maxGlued; {
			i := bytes.LastIndex(b[:end], prefix)
			if i <= 0 {
				break
			}
			// Such a text inside of a line follows one of these characters.
			if bytes.IndexByte([]byte(`:,[\"`), b[i-1]) < 0 {
				tried++
				if _, ok := checkObject(text[i:]); ok {
					return text[i:]
				}
			}
			end = i
		}
	}
	return ""
}

// renameAll gives the entries new uuids, in the order of the lines. A later reference to an old
// uuid refers to the latest entry with it, and is updated.
func (p *surgeon) renameAll(_ *examination, patients []patient) {
	sick := make(map[*operated]*Finding, len(patients))
	for _, one := range patients {
		sick[one.line] = one.finding
	}
	fresh := map[string]string{} // new uuids by the old uuids that later entries refer to
	seen := map[string]bool{}    // texts of the earlier lines
	for _, l := range p.lines {
		link := linkOrNil(l.entry)
		if link == nil {
			continue
		}
		if p.work.over() {
			return
		}
		delete(fresh, link.UUID) // the next entry with this uuid
		if uuid, ok := fresh[link.ParentUUID]; ok {
			p.setParent(DuplicateUUID, l, uuid, "it follows the entry that got a new uuid")
			link = LinkOf(l.entry)
		}
		if sick[l] != nil {
			if seen[l.lineText()] {
				// Not with remove: its followers belong to the other entry.
				l.removed = true
				p.note(DuplicateUUID, l, "removed", l.lineText(), "", "the same line occurs before it")
				continue
			}
			uuid := random.UUID()
			o := parseObject(link.text)
			o.setString("uuid", uuid)
			fresh[link.UUID] = uuid
			p.change(DuplicateUUID, l, o.text(), "it has a new uuid now")
		}
		seen[l.lineText()] = true
	}
}

// relinkAll attaches entries that lost their parent to their most likely parents.
func (p *surgeon) relinkAll(_ *examination, patients []patient) {
	k := newKin(p)
	for _, one := range patients {
		if p.work.over() {
			return
		}
		p.relink(k, one)
	}
}

// relink attaches an entry to its most likely parent.
func (p *surgeon) relink(k *kin, one patient) {
	parent := k.likelyParent(one.line)
	note := "it follows the entry before it now"
	if parent == "" {
		note = "it is the first entry now"
	}
	k.join(LinkOf(one.line.entry).UUID, parent)
	p.setParent(one.finding.Fault, one.line, parent, note)
}

// breakCircles attaches the first entry of each cycle to the entry before it. A cycle that exists
// only because of the preserved messages of a compaction is broken at the compaction.
func (p *surgeon) breakCircles(x *examination, patients []patient) {
	k := newKin(p)
	circles := k.circles()
	preserving := p.preserving()
	cured := map[*operated]bool{}
	for _, one := range patients {
		if p.work.over() {
			return
		}
		if circle := circles[one.finding.UUID]; circle != nil {
			if !circle.broken {
				circle.broken = true
				p.relink(k, one)
			}
			continue
		}
		first := x.graph.byID[one.finding.UUID]
		for n := first; n != nil; {
			for _, l := range preserving[n.link.UUID] {
				if !cured[l] {
					cured[l] = true
					p.forgetPreserved(one.finding.Fault, l)
				}
			}
			if n = x.graph.parentOf(n); n == first || p.work.over() {
				break
			}
		}
	}
}

// preserving returns the boundaries of compactions by the uuids that they preserve.
func (p *surgeon) preserving() map[string][]*operated {
	lines := map[string][]*operated{}
	for _, l := range p.lines {
		b := boundaryOf(l.entry)
		if b == nil {
			continue
		}
		for _, id := range append(b.preserved(), b.anchor()) {
			if list := lines[id]; len(list) == 0 || list[len(list)-1] != l {
				lines[id] = append(list, l)
			}
		}
	}
	return lines
}

// forgetPreserved removes the list of preserved messages from a compaction.
func (p *surgeon) forgetPreserved(fault Fault, l *operated) {
	b := boundaryOf(l.entry)
	if b == nil {
		return
	}
	o := parseObject(b.text)
	metadata := parseObject(o.values["compactMetadata"])
	metadata.remove("preservedMessages", "preservedSegment")
	o.set("compactMetadata", metadata.text())
	p.change(fault, l, o.text(), "the messages that it preserved lead back to it")
}
