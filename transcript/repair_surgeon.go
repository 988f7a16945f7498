package transcript

import (
	"context"
	"strings"
)

// surgeon repairs the lines of one file, in memory, fault by fault.
type surgeon struct {
	path    string
	as      *examination // how the file is looked at
	lines   []*operated
	changes []*Change
}

// operated is a line under repair.
type operated struct {
	fileLine
	number int // in the file; 0 for a line that is new
}

func newSurgeon(path string, lines []*fileLine, as *examination) *surgeon {
	p := &surgeon{path: path, as: as}
	for _, l := range lines {
		p.lines = append(p.lines, &operated{fileLine: *l, number: l.pos.Line})
	}
	return p
}

// asLines are the lines as they are now.
func (p *surgeon) asLines() []*fileLine {
	var lines []*fileLine
	for _, l := range p.lines {
		lines = append(lines, &l.fileLine)
	}
	return lines
}

// examine looks at the lines as they are now.
func (p *surgeon) examine() *examination {
	return examine(p.path, p.asLines(), &examination{maxLine: p.as.maxLine, agent: p.as.agent, outside: p.as.outside})
}

// operations are the cures, in the order in which they are tried: what they need to
// be right is cured before.
var operations = []struct {
	fault Fault
	cure  func(p *surgeon, l *operated, f *Finding)
}{
	{TornTail, (*surgeon).dropBad},
	{BadLine, (*surgeon).dropBad},
	{OversizedLine, (*surgeon).shrink},
	{DuplicateUUID, (*surgeon).rename},
	{MissingParent, (*surgeon).relink},
	{ParentCycle, (*surgeon).breakCircle},
	{EmptiedThinking, (*surgeon).dropThinking},
	{OrphanToolResult, (*surgeon).resultToText},
	{OrphanToolUse, (*surgeon).addResult},
}

// rounds bounds how often the lines are looked at again: a cure can bring to light
// what was hidden.
const rounds = 40

func (p *surgeon) operate(ctx context.Context) error {
	for range rounds {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !p.cureOne(p.examine().findings) {
			return nil
		}
	}
	return nil
}

// cureOne cures all findings of the first fault of the list; false if there are none.
func (p *surgeon) cureOne(findings []*Finding) bool {
	for _, op := range operations {
		type patient struct {
			line    *operated
			finding *Finding
		}
		var patients []patient
		for _, f := range findings {
			if f.Fault == op.fault {
				patients = append(patients, patient{p.at(f), f})
			}
		}
		for _, patient := range patients {
			op.cure(p, patient.line, patient.finding)
		}
		if len(patients) > 0 {
			return true
		}
	}
	return false
}

// at is the line of a finding. Lines keep their numbers, so that findings and
// changes say where in the file they are; a new line has none and is found by its
// uuid.
func (p *surgeon) at(f *Finding) *operated {
	for _, l := range p.lines {
		if l.number == f.Line && (f.Line > 0 || uuidOf(l.entry) == f.UUID) {
			return l
		}
	}
	return nil
}

func (p *surgeon) index(l *operated) int {
	for i, m := range p.lines {
		if m == l {
			return i
		}
	}
	return -1
}

func (p *surgeon) note(fault Fault, l *operated, action, before, after, note string) {
	p.changes = append(p.changes, &Change{Fault: fault, Path: p.path, Line: l.number, Action: action, Note: note, Before: before, After: after})
}

// lineText is the text of a line, good or bad.
func (l *operated) lineText() string {
	if l.entry != nil {
		return l.entry.line().text
	}
	return l.text
}

// change gives a line another text.
func (p *surgeon) change(fault Fault, l *operated, text, note string) {
	before := l.lineText()
	pos := l.pos
	pos.Size = len(text)
	e, err := parseEntry(text, pos)
	if err != nil {
		return // no cure makes bad JSON of good
	}
	l.entry, l.bad, l.text, l.torn, l.pos = e, nil, "", false, pos
	p.note(fault, l, "changed", before, text, note)
}

// setParent lets an entry follow another one, "" for none.
func (p *surgeon) setParent(fault Fault, l *operated, parent, note string) {
	o := parseObject(l.entry.line().text)
	o.set("parentUuid", orNullText(parent))
	p.change(fault, l, o.text(), note)
}

func orNullText(s string) string {
	if s == "" {
		return "null"
	}
	return quote(s)
}

// remove takes a line out. What followed it follows what it followed.
func (p *surgeon) remove(fault Fault, l *operated, note string) {
	i := p.index(l)
	p.lines = append(p.lines[:i:i], p.lines[i+1:]...)
	p.note(fault, l, "removed", l.lineText(), "", note)
	link := linkOrNil(l.entry)
	if link == nil || link.UUID == "" {
		return
	}
	for _, c := range p.lines {
		child := linkOrNil(c.entry)
		switch {
		case child == nil || child.UUID == link.UUID:
		case child.ParentUUID == link.UUID:
			p.setParent(fault, c, link.ParentUUID, "it followed the line that was removed")
		default:
			p.unpreserve(fault, c, link.UUID)
		}
	}
}

// unpreserve takes an entry off the list of those that a compaction preserved: with
// one that is not there the whole list counts for nothing.
func (p *surgeon) unpreserve(fault Fault, l *operated, uuid string) {
	b := boundaryOf(l.entry)
	if b == nil || b.CompactMetadata == nil || b.CompactMetadata.PreservedMessages == nil {
		return
	}
	o := parseObject(b.text)
	metadata := parseObject(o.values["compactMetadata"])
	preserved := parseObject(metadata.values["preservedMessages"])
	var kept []string
	list := elements(preserved.values["uuids"])
	for _, id := range list {
		if stringOf(id) != uuid {
			kept = append(kept, id)
		}
	}
	if len(kept) == len(list) {
		return
	}
	preserved.set("uuids", array(kept))
	metadata.set("preservedMessages", preserved.text())
	o.set("compactMetadata", metadata.text())
	p.change(fault, l, o.text(), "it preserved the line that was removed")
}

// text is the repaired file, as the file of another session. Its file history stays
// behind: the files that it names belong to the session.
func (p *surgeon) text(session, id string) string {
	var b strings.Builder
	for _, l := range p.lines {
		if l.entry == nil {
			continue
		}
		if _, ok := l.entry.(*FileHistoryEntry); ok {
			continue
		}
		text := l.entry.line().text
		if lastString(text, "sessionId") == session {
			o := parseObject(text)
			o.setString("sessionId", id)
			text = o.text()
		}
		b.WriteString(text)
		b.WriteByte('\n')
	}
	return b.String()
}
