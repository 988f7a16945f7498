package transcript

import (
	"bytes"
	"strings"

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

// lastTextOf is the value of the last text "key":"…" in b.
func lastTextOf(b []byte, key string) string {
	pattern := []byte(`"` + key + `":"`)
	for end := len(b); end > 0; {
		start := max(0, end-lastTextStep)
		// A match may begin in this part and end in the next.
		part := b[start:min(len(b), end+len(pattern))]
		found, ok := "", false
		for i := 0; ; {
			n := bytes.Index(part[i:], pattern)
			if n < 0 {
				break
			}
			i += n + len(pattern)
			if s, whole := textAt(b[start+i:]); whole {
				found, ok = s, true
			}
		}
		if ok {
			return found
		}
		end = start
	}
	return ""
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

// lines are the lines of a part of a file, in order. The first and the last can
// be parts of lines.
type lines [][]byte

func splitLines(b []byte, into lines) lines {
	into = into[:0]
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			return append(into, b)
		}
		into = append(into, b[:i])
		b = b[i+1:]
	}
	return into
}

// typePrefix is how every record beside the tree begins, and treePrefix how the
// entries of the tree do, as the CLI writes them.
var (
	typePrefix = []byte(`{"type":"`)
	treePrefix = []byte(`{"parentUuid":`)
)

// mayBe reports whether a line can be a record of a type. It says yes too often,
// never too seldom.
func mayBe(line []byte, kind string) bool {
	if rest, ok := bytes.CutPrefix(line, typePrefix); ok && len(rest) > len(kind) && rest[len(kind)] == '"' {
		if string(rest[:len(kind)]) == kind {
			return true
		}
	}
	if bytes.HasPrefix(line, treePrefix) && line[len(line)-1] == '}' {
		// Whole, as it seems. A line that was torn, with a record glued to it, begins
		// like this and ends like this too.
		return bytes.Contains(line, []byte(`{"type":"`+kind+`"`))
	}
	return bytes.Contains(line, []byte(`"type":"`+kind+`"`)) || bytes.Contains(line, []byte(`"type": "`+kind+`"`))
}

// lastRecord is the string member of the last record of a type; ok is false if
// there is none. glued also takes a record that was appended to a torn line.
func (ls lines) lastRecord(kind, member string, glued bool) (value string, ok bool) {
	for i := len(ls) - 1; i >= 0; i-- {
		line := ls[i]
		if len(line) == 0 || !mayBe(line, kind) {
			continue
		}
		value, ok, valid := recordMember(line, kind, member)
		if !valid && glued {
			at := bytes.LastIndex(line, []byte(`{"type":"`+kind+`"`))
			if at > 0 && !bytes.Contains([]byte(":,["), line[at-1:at]) {
				value, ok, _ = recordMember(line[at:], kind, member)
			}
		}
		if ok {
			return value, true
		}
	}
	return "", false
}

// lastMember is the string member of the last line that has one of that name,
// whatever its type.
func (ls lines) lastMember(member string) string {
	pattern := []byte(`"` + member + `":`)
	for i := len(ls) - 1; i >= 0; i-- {
		if !bytes.Contains(ls[i], pattern) {
			continue
		}
		if value, ok, _ := recordMember(ls[i], "", member); ok {
			return value
		}
	}
	return ""
}

// firstMember is the string member of the first line that has one of that name.
func (ls lines) firstMember(member string) string {
	pattern := []byte(`"` + member + `":`)
	for _, line := range ls {
		if !bytes.Contains(line, pattern) {
			continue
		}
		if value, ok, _ := recordMember(line, "", member); ok {
			return value
		}
	}
	return ""
}

// recordMember is the string member of a line, if the line has that type; kind ""
// is any. valid is false for a line that is no JSON.
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
