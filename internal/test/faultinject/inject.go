package faultinject

import (
	"slices"
	"strings"
)

// Faults are the names of the faults that [Session.Inject] knows.
var Faults = []string{
	"torn-tail", "bad-line", "missing-parent", "parent-cycle", "duplicate-uuid",
	"orphan-tool-use", "orphan-tool-result", "emptied-thinking", "oversized-line",
}

// Injury is the place of a fault in a session.
type Injury struct {
	Line int    // of the file, counted from 1; 0 if UUID is set
	UUID string // of the faulty entry
	Main bool   // the entry is part of the resumed conversation
}

// Inject breaks a session in one way. size is the length of an oversized line.
func (s *Session) Inject(fault string, size int) Injury {
	switch fault {
	case "torn-tail":
		return s.tear()
	case "bad-line":
		return s.garble()
	case "missing-parent":
		return s.lose()
	case "parent-cycle":
		return s.circle()
	case "duplicate-uuid":
		return s.double()
	case "orphan-tool-use":
		return s.dropResult()
	case "orphan-tool-result":
		return s.dropCall()
	case "emptied-thinking":
		return s.emptyThinking()
	case "oversized-line":
		return s.inflate(size)
	}
	panic("faultinject: no such fault: " + fault)
}

// pick returns one of the lines that ok accepts.
func (s *Session) pick(ok func(*line) bool) *line {
	var found []*line
	for _, l := range s.lines {
		if l.entry != nil && !l.fixed && ok(l) {
			found = append(found, l)
		}
	}
	return found[s.rng.IntN(len(found))]
}

func (s *Session) index(l *line) int { return slices.Index(s.lines, l) }

func (s *Session) children(l *line) (found []*line) {
	for _, c := range s.lines {
		if c.entry != nil && c.ParentUUID != nil && *c.ParentUUID == l.UUID {
			found = append(found, c)
		}
	}
	return found
}

func has(l *line, block string) bool {
	return l.Message != nil && slices.ContainsFunc(l.Message.blocks(), func(b map[string]any) bool { return b["type"] == block })
}

// main reports whether an entry is after the last compaction.
func (s *Session) main(l *line) bool {
	for _, c := range s.lines[s.index(l):] {
		if c.entry != nil && c.Subtype == "compact_boundary" {
			return false
		}
	}
	return true
}

// at returns the injury of an entry.
func (s *Session) at(l *line) Injury {
	return Injury{Line: s.index(l) + 1, UUID: l.UUID, Main: s.main(l)}
}

// tear cuts the file in its last line, an entry or a record.
func (s *Session) tear() Injury {
	if s.rng.IntN(2) == 0 {
		s.lines = s.lines[:len(s.lines)-1] // so that it is an entry
	}
	n := len(s.lines)
	last := s.lines[n-1].text()
	cut := 1 + s.rng.IntN(len(last)-1)
	if s.rng.IntN(10) == 0 {
		cut = len(last) // only the line feed is missing
	}
	s.lines, s.tail = s.lines[:n-1], last[:cut]
	return Injury{Line: n, Main: true}
}

// garble replaces a line in the middle by one that is not an entry.
func (s *Session) garble() Injury {
	l := s.pick(func(l *line) bool { return s.index(l) < len(s.lines)-1 })
	text := l.text()
	if s.rng.IntN(2) == 0 { // otherwise later entries lose their parent too
		for _, c := range s.children(l) {
			c.ParentUUID = l.ParentUUID
		}
	}
	broken := []string{
		text[:1+s.rng.IntN(len(text)-1)], strings.ReplaceAll(text, `":`, `"`), "[" + text + "]", `"text"`, "\x00\x00" + text[:10],
	}[s.rng.IntN(5)]
	i := s.index(l)
	s.lines[i] = &line{raw: broken}
	return Injury{Line: i + 1}
}

// lose removes the parent of an entry: its line, or the reference to it.
func (s *Session) lose() Injury {
	if s.rng.IntN(2) == 0 {
		l := s.pick(func(l *line) bool { return l.ParentUUID != nil })
		id := s.uuid()
		l.ParentUUID = &id
		return s.at(l)
	}
	l := s.pick(func(l *line) bool {
		return slices.ContainsFunc(s.children(l), func(c *line) bool { return !c.fixed })
	})
	children := s.children(l)
	s.lines = slices.Delete(s.lines, s.index(l), s.index(l)+1)
	return s.at(children[0])
}

// circle makes an entry the child of one of its descendants.
func (s *Session) circle() Injury {
	l := s.pick(func(l *line) bool {
		return !slices.ContainsFunc(s.lines, func(c *line) bool { return c.fixed }) || s.main(l)
	})
	way := []*line{l}
	for range s.rng.IntN(6) {
		children := slices.DeleteFunc(s.children(way[len(way)-1]), func(c *line) bool { return c.fixed || slices.Contains(way, c) })
		if len(children) == 0 {
			break
		}
		way = append(way, children[s.rng.IntN(len(children))])
	}
	id := way[len(way)-1].UUID
	l.ParentUUID = &id
	return s.at(l)
}

// double gives an entry the uuid of an earlier one, or duplicates it.
func (s *Session) double() Injury {
	first := s.lines[slices.IndexFunc(s.lines, func(l *line) bool { return l.entry != nil })]
	l := s.pick(func(l *line) bool { return l != first })
	if s.rng.IntN(2) == 0 {
		copied := *l.entry
		s.lines = append(s.lines, &line{entry: &copied, rest: l.rest})
		return Injury{Line: len(s.lines), UUID: l.UUID}
	}
	l.UUID = first.UUID
	return s.at(l)
}

// cut removes a line; its children move to its parent.
func (s *Session) cut(l *line) {
	for _, c := range s.children(l) {
		c.ParentUUID = l.ParentUUID
	}
	s.lines = slices.Delete(s.lines, s.index(l), s.index(l)+1)
}

// dropResult removes the result of a tool, or everything after it too.
func (s *Session) dropResult() Injury {
	result := s.pick(func(l *line) bool { return has(l, "tool_result") && s.main(l) })
	var call *line
	for _, l := range s.lines {
		if l.entry != nil && l.UUID == result.SourceToolAssistantUUID {
			call = l
		}
	}
	if s.rng.IntN(2) == 0 {
		s.lines = s.lines[:s.index(result)]
	} else {
		s.cut(result)
	}
	return s.at(call)
}

// dropCall removes the call of a tool.
func (s *Session) dropCall() Injury {
	call := s.pick(func(l *line) bool { return has(l, "tool_use") && s.main(l) })
	i := slices.IndexFunc(s.lines, func(l *line) bool { return l.entry != nil && l.SourceToolAssistantUUID == call.UUID })
	result := s.lines[i]
	s.cut(call)
	return s.at(result)
}

func (s *Session) emptyThinking() Injury {
	l := s.pick(func(l *line) bool { return has(l, "thinking") })
	l.Message.blocks()[0]["thinking"] = ""
	return s.at(l)
}

// inflate makes a line too long: in the content for the model, or in other members.
func (s *Session) inflate(size int) Injury {
	text := strings.Repeat("much output\n", size/12+1)
	if s.rng.IntN(2) == 0 {
		l := s.pick(func(l *line) bool { return has(l, "tool_result") })
		l.Message.blocks()[0]["content"] = text
		return s.at(l)
	}
	l := s.pick(func(l *line) bool { return l.ToolUseResult != nil })
	l.ToolUseResult = map[string]any{"stdout": text}
	in := s.at(l)
	in.Main = false
	return in
}
