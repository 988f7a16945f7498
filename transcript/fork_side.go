package transcript

import (
	"github.com/seed7221b0f9/parley/internal/jsonwire"
	"github.com/seed7221b0f9/parley/internal/random"
)

// sideRecords are the records outside the tree that forks keep.
type sideRecords struct {
	suppressed   bool
	replacements []string
	atis         string // JSON texts, "" if missing
	tools        string
	relocated    string
	flow         []string // records of data flow
	hasFlow      bool
	lostFlow     bool // some are missing
	derived      []string
	hasDerived   bool
	ancestors    []string        // sessions that entries were forked from
	known        map[string]bool // those in ancestors
}

// add keeps the relevant data of a record of the session.
func (r *sideRecords) add(e Entry, session string) {
	o := e.line()
	member := func(name string) string { return string(o.Member(name)) }
	if o.kind == "history-suppression" {
		r.suppressed = true
	}
	if stringOf(member("sessionId")) != session {
		return
	}
	switch o.kind {
	case "content-replacement":
		r.replacements = append(r.replacements, elements(member("replacements"))...)
	case "atis-latch":
		r.atis = member("atis")
	case "tools-used":
		if elements(member("tools")) != nil {
			r.tools = member("tools")
		}
	case "relocated":
		if cwd := member("relocatedCwd"); stringOf(cwd) != "" {
			r.relocated = cwd
		}
	case "data-flow-records", "data-flow-incomplete":
		if member("agentId") == "" {
			r.addFlow(o.kind, elements(member("records")), member("snapshot") == "true")
		}
	case "derived-from":
		r.hasDerived = true
		r.derived = elements(member("sessions"))
	}
}

func (r *sideRecords) addFlow(kind string, records []string, snapshot bool) {
	r.hasFlow = true
	switch {
	case kind == "data-flow-incomplete" || records == nil:
		r.lostFlow = true
	case snapshot:
		r.flow = records
	default:
		r.flow = append(r.flow, records...)
	}
}

// forked records the session that an entry was forked from.
func (r *sideRecords) forked(l *Link) {
	if l.ForkedFrom == nil || l.ForkedFrom.SessionID == "" || r.known[l.ForkedFrom.SessionID] {
		return
	}
	if r.known == nil {
		r.known = map[string]bool{}
	}
	r.known[l.ForkedFrom.SessionID] = true
	r.ancestors = append(r.ancestors, l.ForkedFrom.SessionID)
}

// record returns a line of the fork outside the tree: names and JSON values of members alternate.
func (f *forker) record(kind string, members ...string) string {
	o := parseObject("{}")
	o.setString("type", kind)
	o.setString("sessionId", f.id)
	for i := 0; i+1 < len(members); i += 2 {
		o.set(members[i], members[i+1])
	}
	return o.text()
}

// sideLines returns the lines of the fork outside the tree, in the official SDK's order.
func (f *forker) sideLines() (lines []string) {
	r := &f.side
	if len(r.replacements) > 0 {
		lines = append(lines, f.record("content-replacement", "replacements", array(r.replacements), "uuid", quote(random.UUID()), "timestamp", quote(f.now)))
	}
	if r.atis != "" {
		lines = append(lines, f.record("atis-latch", "atis", r.atis))
	}
	if r.tools != "" {
		lines = append(lines, f.record("tools-used", "tools", r.tools))
	}
	if r.hasFlow {
		lines = append(lines, f.record("data-flow-records", "v", "1", "records", array(r.flow), "snapshot", "true"))
		if r.lostFlow {
			lines = append(lines, f.record("data-flow-incomplete", "v", "1"))
		}
	}
	if r.hasFlow || r.hasDerived {
		lines = append(lines, f.record("derived-from", "v", "1", "sessions", array(f.derivedFrom())))
	}
	if r.relocated != "" {
		lines = append(lines, f.record("relocated", "relocatedCwd", r.relocated))
	}
	return lines
}

// derivedFrom returns the ancestors of the fork, each once.
func (f *forker) derivedFrom() []string {
	list := f.side.derived
	seen := map[string]bool{}
	for _, s := range list {
		seen[lastString(s, "id")] = true
	}
	for _, id := range append(f.side.ancestors, f.from.ID) {
		if seen[id] {
			continue
		}
		seen[id] = true
		o := parseObject(`{"type":"claude_code_session"}`)
		o.setString("id", id)
		o.setString("via", "fork")
		list = append(list, o.text())
	}
	return list
}

// stringOf returns the value of a JSON string, "" for any other JSON.
func stringOf(text string) string {
	s, _ := jsonwire.NewDecoder(text).String()
	return s
}
