package transcript

import (
	"bytes"
	"strings"
	"unicode"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// The functions of this file search the first or the last bytes of a file for single members
// without decoding the rest. They follow the official SDK exactly, even where it matches text
// instead of members, because a list that differs from the CLI's list would be worse than a wrong
// branch in a list.

// firstText returns the value of the first text "key":"…" in b.
func firstText(b []byte, key string) string {
	for _, pattern := range []string{`"` + key + `":"`, `"` + key + `": "`} {
		if i := bytes.Index(b, []byte(pattern)); i >= 0 {
			if s, ok := textAt(b[i+len(pattern):]); ok {
				return s
			}
		}
	}
	return ""
}

// lastTextStep is the number of bytes that are searched at once, from the end: the text is nearly
// always in the last few lines.
const lastTextStep = 8 << 10

// lastTextOf returns the value of the last text "key":"…" in b, and its index, or -1.
func lastTextOf(b []byte, key string) (value string, at int) {
	pattern := []byte(`"` + key + `":"`)
	// Quotes are frequent; an upper-case letter of the key is found faster.
	skip := max(0, strings.IndexFunc(string(pattern), unicode.IsUpper))
	for end := len(b); end > 0; {
		start := max(0, end-lastTextStep)
		// A match may begin in this part and end in the next.
		part := b[start:min(len(b), end+len(pattern))]
		at = -1
		for i := 0; ; {
			n := bytes.Index(part[i:], pattern[skip:])
			if n < 0 {
				break
			}
			i += n + len(pattern) - skip
			if i < len(pattern) || !bytes.HasSuffix(part[:i], pattern) {
				continue
			}
			if s, whole := textAt(b[start+i:]); whole {
				value, at = s, start+i
			}
		}
		if at >= 0 {
			return value, at
		}
		end = start
	}
	return "", -1
}

// textAt returns the value of the JSON string with its opening quote just before b; false if it is
// not terminated.
func textAt(b []byte) (string, bool) {
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			raw := string(b[:i])
			if strings.IndexByte(raw, '\\') < 0 {
				return strings.ToValidUTF8(raw, "\uFFFD"), true
			}
			if s, ok := jsonwire.NewDecoder(`"` + raw + `"`).String(); ok {
				return s, true
			}
			return raw, true
		}
	}
	return "", false
}

// line is a line of a part of a file.
type line struct {
	text []byte
	kind string // the type, if the line begins with it; tree for an entry of the tree; else ""
}

// part is the first or the last bytes of a file, and its lines in order. The first and the last
// line can be incomplete.
type part struct {
	text     []byte
	lines    []line
	noTitles bool // the search found no titles
}

// tree is the kind of a line that begins as entries of the tree do.
const tree = "(tree)"

// split finds the lines of text.
func (p *part) split(text []byte) {
	p.text, p.lines, p.noTitles = text, p.lines[:0], false
	for len(text) > 0 {
		end := bytes.IndexByte(text, '\n')
		rest := []byte(nil)
		if end >= 0 {
			text, rest = text[:end], text[end+1:]
		}
		if len(text) > 0 {
			p.lines = append(p.lines, line{text: text, kind: kindOf(text)})
		}
		text = rest
	}
}

// The CLI starts a record outside the tree with its type, and an entry of the tree with its parent.
var (
	typePrefix = []byte(`{"type":"`)
	treePrefix = []byte(`{"parentUuid":`)
)

// kindOf returns the kind of a line from its beginning. It distinguishes only the types that lists
// need.
func kindOf(text []byte) string {
	if bytes.HasPrefix(text, treePrefix) {
		return tree
	}
	if text[0] != '{' && text[0] > ' ' {
		return "(other)" // the rest of a cut line
	}
	rest, ok := bytes.CutPrefix(text, typePrefix)
	if !ok {
		return ""
	}
	end := bytes.IndexByte(rest[:min(len(rest), 32)], '"')
	if end < 0 {
		return ""
	}
	switch string(rest[:end]) {
	case "custom-title":
		return "custom-title"
	case "ai-title":
		return "ai-title"
	case "tag":
		return "tag"
	case "relocated":
		return "relocated"
	case "continued-in":
		return "continued-in"
	}
	return "(other)"
}

// mayBe reports whether a line may be a record of a type.
func (l *line) mayBe(kind string) bool {
	if l.kind != "" {
		return l.kind == kind
	}
	return has(l.text, `"type":"`+kind+`"`, `"type": "`+kind+`"`)
}

// hasGlued reports whether a record of a type is in the middle of a line: it was appended to a torn
// line.
func (p *part) hasGlued(kind string) bool {
	pattern := []byte(`{"type":"` + kind + `"`)
	for at := 0; ; {
		i := bytes.Index(p.text[at:], pattern)
		if i < 0 {
			return false
		}
		if at += i; at > 0 && p.text[at-1] != '\n' {
			return true
		}
		at += len(pattern)
	}
}

// lastRecord returns a string member of the last record of a type; ok is false if there is no such
// record. With glued it also accepts a record that was appended to a torn line.
func (p *part) lastRecord(kind, member string, glued bool) (value string, ok bool) {
	glued = glued && p.hasGlued(kind)
	for i := len(p.lines) - 1; i >= 0; i-- {
		l := &p.lines[i]
		if !l.mayBe(kind) && !glued {
			continue
		}
		value, ok, valid := recordMember(l.text, kind, member)
		if !valid && glued {
			at := bytes.LastIndex(l.text, []byte(`{"type":"`+kind+`"`))
			if at > 0 && !bytes.Contains([]byte(":,["), l.text[at-1:at]) {
				value, ok, _ = recordMember(l.text[at:], kind, member)
			}
		}
		if ok {
			return value, true
		}
	}
	return "", false
}

// lastTitle is lastRecord for titles: most files do not have one, and the upper-case letter of
// their type makes the search fast.
func (p *part) lastTitle(kind, member string) (value string, ok bool) {
	if p.noTitles || !bytes.Contains(p.text, []byte(`Title":`)) {
		p.noTitles = true
		return "", false
	}
	return p.lastRecord(kind, member, true)
}

// lastMember returns the string member of the last line that has it, of any type.
func (p *part) lastMember(member string) string {
	pattern := []byte(`"` + member + `":`)
	for i := len(p.lines) - 1; i >= 0; i-- {
		if !bytes.Contains(p.lines[i].text, pattern) {
			continue
		}
		if value, ok, _ := recordMember(p.lines[i].text, "", member); ok {
			return value
		}
	}
	return ""
}

// firstMember returns the string member of the first line that has it.
func (p *part) firstMember(member string) string {
	pattern := []byte(`"` + member + `":`)
	for _, l := range p.lines {
		if !bytes.Contains(l.text, pattern) {
			continue
		}
		if value, ok, _ := recordMember(l.text, "", member); ok {
			return value
		}
	}
	return ""
}

// recordMember returns a string member of a line, if the line has that type; kind "" matches any.
// valid is false for a line that is not JSON.
func recordMember(line []byte, kind, member string) (value string, ok, valid bool) {
	text := string(line)
	if !jsonwire.Valid(text) {
		return "", false, false
	}
	if kind != "" && lastString(text, "type") != kind {
		return "", false, true
	}
	value, ok = jsonwire.NewDecoder(memberOf(text, member)).String()
	return strings.Clone(value), ok, true
}
