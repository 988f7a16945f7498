package transcript

import (
	"bytes"
	"strings"
	"unicode"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// The functions of this file look for single members in the first or the last
// bytes of a file without decoding what is around them. They follow the official
// SDK to the letter, also where it looks at text and not at members, since a list
// that differs from the CLI's own would be worse than a wrong branch in a list.

// firstText is the value of the first text "key":"…" in b.
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

// lastTextStep is how much of the end is looked through at once: what is looked
// for is nearly always in the last few lines.
const lastTextStep = 8 << 10

// lastTextOf is the value of the last text "key":"…" in b, and where it is; -1 if
// there is none.
func lastTextOf(b []byte, key string) (value string, at int) {
	pattern := []byte(`"` + key + `":"`)
	// Quotes are everywhere; a capital letter inside of the key is quickly found.
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

// textAt is the value of the JSON string whose opening quote is just before b;
// false if it has no end.
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

// part is the first or the last bytes of a file, and its lines in order. The first
// line and the last one can be parts of lines.
type part struct {
	text     []byte
	lines    []line
	noTitles bool // it was looked, and there are none
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

// The CLI begins a record beside the tree with its type, and an entry of the tree
// with its parent.
var (
	typePrefix = []byte(`{"type":"`)
	treePrefix = []byte(`{"parentUuid":`)
)

// kindOf is the kind of a line by how it begins. The types that lists ask for are
// known; the others need no name.
func kindOf(text []byte) string {
	if bytes.HasPrefix(text, treePrefix) {
		return tree
	}
	if text[0] != '{' && text[0] > ' ' {
		return "(other)" // the rest of a line that was cut
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

// hasGlued reports whether a record of a type stands in the middle of a line: it was
// appended to a line that had been torn.
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

// lastRecord is the string member of the last record of a type; ok is false if
// there is none. glued also takes a record that was appended to a torn line.
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

// lastTitle is lastRecord for titles: most files have none, and their name has a
// capital letter, which is quickly looked for.
func (p *part) lastTitle(kind, member string) (value string, ok bool) {
	if p.noTitles || !bytes.Contains(p.text, []byte(`Title":`)) {
		p.noTitles = true
		return "", false
	}
	return p.lastRecord(kind, member, true)
}

// lastMember is the string member of the last line that has one of that name,
// whatever its type.
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

// firstMember is the string member of the first line that has one of that name.
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

// recordMember is the string member of a line, if the line has that type; kind ""
// is any. valid is false for a line that is not JSON.
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
