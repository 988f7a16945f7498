package transcript

import "strings"

// badLines finds lines that are not entries or are too long, and a torn last line.
func (x *examination) badLines() {
	for i, l := range x.lines {
		if x.work.over() {
			return
		}
		last := i == len(x.lines)-1
		switch {
		case l.bad != nil && l.torn && last:
			x.report(TornTail, lostLine(l.text), l.pos, "", "the file ends in the middle of this line (%d bytes): %v", l.pos.Size, l.bad.Err)
		case l.bad != nil:
			x.report(BadLine, lostLine(l.text), l.pos, "", "%v", l.bad.Err)
		case l.torn && last:
			x.report(TornTail, BreaksDisplay, l.pos, "", "the file does not end with a line feed: the next record is lost with this line")
		}
		if l.pos.Size > x.maxLine {
			x.report(OversizedLine, x.weight(l), l.pos, uuidOf(l.entry), "%d bytes, more than %d", l.pos.Size, x.maxLine)
		}
	}
}

// lostLine returns the severity of a lost line: a line that began as an entry of the tree was part
// of the conversation.
func lostLine(text string) Severity {
	if strings.HasPrefix(text, string(treePrefix)) || strings.Contains(text, `"parentUuid":"`) {
		return BreaksResume
	}
	return BreaksDisplay
}

// weight returns the severity of an oversized line. The API rejects a message of that size; other
// oversized content only slows readers down.
func (x *examination) weight(l *fileLine) Severity {
	link := linkOrNil(l.entry)
	if link == nil {
		return Harmless
	}
	if len(memberOf(l.entry.line().text, "message")) > x.maxLine {
		return x.severityOf(x.graph.byID[link.UUID])
	}
	return BreaksDisplay
}

// linkOrNil is like LinkOf but accepts nil.
func linkOrNil(e Entry) *Link {
	if e == nil {
		return nil
	}
	return LinkOf(e)
}

func uuidOf(e Entry) string {
	if l := linkOrNil(e); l != nil {
		return l.UUID
	}
	return ""
}
