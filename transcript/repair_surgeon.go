package transcript

import (
	"slices"
	"strings"
)

// surgeon repairs the lines of one file in memory, one kind of fault at a time. All findings of a
// fault are repaired together, so that the required lookups are made once.
type surgeon struct {
	path     string
	as       *examination // options of the examination
	work     *work
	lines    []*operated // in the order of the file, including removed lines
	numbered map[int]*operated
	added    map[string]*operated // new lines, by uuid
	gone     map[string]string    // the parents of entries that were removed, by uuid
	changes  []*Change
}

// operated is a line under repair.
type operated struct {
	fileLine
	number  int         // in the file; 0 for a new line
	removed bool        // the line is deleted
	after   []*operated // new lines that follow, last first
}

func newSurgeon(path string, lines []*fileLine, as *examination) *surgeon {
	p := &surgeon{
		path: path, as: as, work: as.work, numbered: make(map[int]*operated, len(lines)),
		added: map[string]*operated{}, gone: map[string]string{},
	}
	for _, l := range lines {
		o := &operated{fileLine: *l, number: l.pos.Line}
		p.lines = append(p.lines, o)
		p.numbered[o.number] = o
	}
	return p
}

// settle inserts new lines at their positions and drops removed ones. Entries that followed a
// removed entry follow its parent, and compactions no longer list it as preserved.
func (p *surgeon) settle(fault Fault) {
	lines := make([]*operated, 0, len(p.lines))
	for _, l := range p.lines {
		if !l.removed {
			lines = append(lines, l)
		}
		for _, a := range slices.Backward(l.after) {
			lines = append(lines, a)
		}
		l.after = nil
	}
	p.lines = lines
	if len(p.gone) == 0 {
		return
	}
	for _, l := range p.lines {
		if p.work.over() {
			return
		}
		link := linkOrNil(l.entry)
		if link == nil {
			continue
		}
		if _, ok := p.gone[link.UUID]; ok && link.UUID != "" {
			continue
		}
		if _, ok := p.gone[link.ParentUUID]; ok {
			p.setParent(fault, l, p.heir(link.ParentUUID), "it followed a line that was removed")
		}
		p.unpreserve(fault, l)
	}
	clear(p.gone)
}

// heir returns the nearest remaining ancestor of a removed entry, or "". Results are cached,
// because paths share their upper part.
func (p *surgeon) heir(uuid string) string {
	var way []string
	seen := map[string]bool{}
	for {
		parent, ok := p.gone[uuid]
		if !ok {
			break
		}
		if seen[uuid] {
			uuid = "" // a cycle
			break
		}
		seen[uuid] = true
		way = append(way, uuid)
		uuid = parent
	}
	for _, id := range way {
		p.gone[id] = uuid
	}
	return uuid
}

// asLines returns the current lines.
func (p *surgeon) asLines() []*fileLine {
	var lines []*fileLine
	for _, l := range p.lines {
		lines = append(lines, &l.fileLine)
	}
	return lines
}

// examine examines the current lines.
func (p *surgeon) examine() (*examination, error) {
	x := &examination{work: p.work, maxLine: p.as.maxLine, agent: p.as.agent, outside: p.as.outside}
	return x, x.examine(p.path, p.asLines())
}

// patient is a line with a finding.
type patient struct {
	line    *operated
	finding *Finding
}

// operations are the repairs in the order in which they are tried: each relies on the earlier ones.
var operations = []struct {
	fault Fault
	cure  func(p *surgeon, x *examination, patients []patient)
}{
	{TornTail, each((*surgeon).dropBad)},
	{BadLine, each((*surgeon).dropBad)},
	{OversizedLine, each((*surgeon).shrink)},
	{DuplicateUUID, (*surgeon).renameAll},
	{MissingParent, (*surgeon).relinkAll},
	{ParentCycle, (*surgeon).breakCircles},
	{EmptiedThinking, each((*surgeon).dropThinking)},
	{OrphanToolResult, (*surgeon).resultsToText},
	{OrphanToolUse, (*surgeon).addResults},
}

// each applies a repair of a single line to many lines.
func each(cure func(p *surgeon, l *operated, f *Finding)) func(*surgeon, *examination, []patient) {
	return func(p *surgeon, _ *examination, patients []patient) {
		for _, one := range patients {
			if p.work.over() {
				return
			}
			cure(p, one.line, one.finding)
		}
	}
}

// rounds limits how often the lines are examined again: a repair can reveal hidden faults.
const rounds = 40

func (p *surgeon) operate(x *examination) error {
	for range rounds {
		if !p.cureOne(x) {
			return nil
		}
		var err error
		if x, err = p.examine(); err != nil {
			return err
		}
	}
	return nil
}

// cureOne repairs all findings of the first fault of the list; it returns false if there are no findings.
func (p *surgeon) cureOne(x *examination) bool {
	for _, op := range operations {
		var patients []patient
		for _, f := range x.findings {
			if l := p.at(f); f.Fault == op.fault && l != nil {
				patients = append(patients, patient{l, f})
			}
		}
		if len(patients) > 0 {
			op.cure(p, x, patients)
			p.settle(op.fault)
			return true
		}
	}
	return false
}

// at returns the line of a finding. Lines keep their numbers, so that findings and changes refer to
// the file; a new line has no number and is found by its uuid.
func (p *surgeon) at(f *Finding) *operated {
	if f.Line == 0 {
		return p.added[f.UUID]
	}
	return p.numbered[f.Line]
}

func (p *surgeon) note(fault Fault, l *operated, action, before, after, note string) {
	p.changes = append(p.changes, &Change{Fault: fault, Path: p.path, Line: l.number, Action: action, Note: note, Before: before, After: after})
}

// lineText returns the text of a line, good or bad.
func (l *operated) lineText() string {
	if l.entry != nil {
		return l.entry.line().text
	}
	return l.text
}

// change replaces the text of a line.
func (p *surgeon) change(fault Fault, l *operated, text, note string) {
	before := l.lineText()
	pos := l.pos
	pos.Size = len(text)
	e, err := parseEntry(text, pos)
	if err != nil {
		return // no repair turns valid JSON into invalid JSON
	}
	l.entry, l.bad, l.text, l.torn, l.pos = e, nil, "", false, pos
	p.note(fault, l, "changed", before, text, note)
}

// setParent sets the parent of an entry, "" for a root.
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

// remove removes a line. When the repair ends, entries that followed it follow its parent.
func (p *surgeon) remove(fault Fault, l *operated, note string) {
	l.removed = true
	p.note(fault, l, "removed", l.lineText(), "", note)
	if link := linkOrNil(l.entry); link != nil && link.UUID != "" {
		p.gone[link.UUID] = link.ParentUUID
	}
}

// unpreserve removes deleted entries from the list of preserved messages of a compaction: one
// missing entry invalidates the whole list.
func (p *surgeon) unpreserve(fault Fault, l *operated) {
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
		if _, gone := p.gone[stringOf(id)]; !gone {
			kept = append(kept, id)
		}
	}
	if len(kept) == len(list) {
		return
	}
	preserved.set("uuids", array(kept))
	metadata.set("preservedMessages", preserved.text())
	o.set("compactMetadata", metadata.text())
	p.change(fault, l, o.text(), "it preserved a line that was removed")
}

// text returns the repaired file as the file of another session. File history is not copied: the
// files that it names belong to the original session.
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
