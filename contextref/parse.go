package contextref

import (
	"regexp"
	"strconv"
	"strings"
)

// The block matches the expression of the format,
//
//	^> \*\*上下文资料\*\*\n(?:> \n)?((?:> - .+\n)+)\n
//
// and possible changes in transit: CRLF, white space trimmed at the end of lines and of the
// message, English labels.
var block = regexp.MustCompile(`\A> \*\*(上下文资料|Context)\*\*[ \t]*\r?\n(?:>[ \t]*\r?\n)?((?:> - [^\r\n]+\r?(?:\n|\z))+)[ \t]*\r?(?:\n|\z)`)

// Parse splits a message into text and references. A message that does not begin with a block has
// no references and is returned as text. So is a message that only resembles one: every line of the
// block must be one that [Build] could have written, or begin with an unknown icon, and at least
// one line must be known.
func Parse(message string) (text string, refs []Reference) {
	if !strings.HasPrefix(message, "> **") {
		return message, nil
	}
	m := block.FindStringSubmatchIndex(message)
	if m == nil {
		return message, nil
	}
	header, lines := message[m[2]:m[3]], message[m[4]:m[5]]
	known := false
	for line := range strings.Lines(lines) {
		r := parseLine(strings.TrimRight(line[len("> - "):], " \t\r\n"), header)
		if r == nil {
			return message, nil
		}
		_, unknown := r.(*Unknown)
		known = known || !unknown
		refs = append(refs, r)
	}
	if !known {
		return message, nil
	}
	return message[m[1]:], refs
}

// parseLine parses a line in the language of the header, or else in the other; it returns nil if
// the line is invalid.
func parseLine(s, header string) Reference {
	for _, own := range []bool{true, false} {
		for _, l := range languages {
			if (l.header == header) != own {
				continue
			}
			if r := parseIn(s, l); r != nil {
				return r
			}
		}
	}
	if r := (&Unknown{Line: s}); foreignIcon(s) {
		if _, err := r.line(nil); err == nil {
			return r
		}
	}
	return nil
}

// parseIn parses a line and compares it with the line built from the result: this rejects lines
// that the parser accepted too leniently.
func parseIn(s string, l *labels) Reference {
	icon, rest, _ := strings.Cut(s, " ")
	read := readers[strings.ReplaceAll(icon, variation, "")]
	if read == nil {
		return nil
	}
	r := read(rest, l)
	if r == nil {
		return nil
	}
	line, err := r.line(l)
	if err != nil || canonical(line) != canonical(s) {
		return nil
	}
	return r
}

// canonical removes insignificant differences from a line.
func canonical(s string) string {
	for _, noun := range []string{"file", "line"} {
		s = strings.ReplaceAll(s, "(1 "+noun+"s)", "(1 "+noun+")")
	}
	return strings.ReplaceAll(s, variation, "")
}

// readers parse the text after an icon; nil means that it is not a line of the kind.
var readers map[string]func(s string, l *labels) Reference

// The table is created here because some of its functions use it.
func init() {
	readers = map[string]func(s string, l *labels) Reference{
		bare(iconFile):      readFile,
		bare(iconWeb):       readWeb,
		bare(iconFolder):    readFolder,
		bare(iconSymbol):    readSymbol,
		bare(iconTerminal):  readTerminal,
		bare(iconProblems):  readProblems,
		bare(iconGit):       readGit,
		bare(iconSelection): func(string, *labels) Reference { return &Selection{} },
		bare(iconWorkspace): func(string, *labels) Reference { return &Workspace{} },
		bare(iconImage):     readImage,
	}
}

func bare(icon string) string { return strings.ReplaceAll(icon, variation, "") }

func readFile(s string, _ *labels) Reference {
	path, _ := cutQuoted(s)
	return &File{Path: path}
}

func readWeb(s string, _ *labels) Reference {
	url, title, _ := strings.Cut(s, " ")
	return &Web{URL: url, Title: trimBrackets(title)}
}

func readFolder(s string, _ *labels) Reference {
	path, rest := cutQuoted(s)
	r := &Folder{Path: path}
	if rest != "" {
		n := leadingInt(trimBrackets(rest))
		r.FileCount = &n
	}
	return r
}

func readSymbol(s string, _ *labels) Reference {
	name, rest := cutQuoted(s)
	r := &Symbol{Name: name}
	if strings.HasPrefix(rest, "(") {
		r.SymbolType, rest, _ = strings.Cut(rest[1:], ")")
		rest = strings.TrimPrefix(rest, " ")
	}
	if place, ok := strings.CutPrefix(rest, "- "); ok {
		r.File, r.Line, _ = cutNumber(place)
	}
	return r
}

func readTerminal(s string, l *labels) Reference {
	rest := strings.TrimPrefix(s, l.terminal+" ")
	bracket, _, marked := strings.Cut(rest, " "+bare(warning))
	return &Terminal{Lines: leadingInt(strings.TrimPrefix(bracket, "(")), IsError: marked}
}

func readProblems(s string, l *labels) Reference {
	rest := strings.TrimPrefix(s, l.problems+" ")
	r := &Problems{Count: leadingInt(strings.TrimPrefix(rest, "("))}
	if _, severity, ok := strings.Cut(rest, " ["); ok {
		r.Severity = strings.TrimSuffix(severity, "]")
	}
	return r
}

func readGit(s string, _ *labels) Reference {
	return &Git{GitType: strings.TrimPrefix(s, "Git ")}
}

func readImage(s string, _ *labels) Reference {
	name, rest := cutQuoted(s)
	return &Image{Name: name, Size: trimBrackets(rest)}
}

// cutQuoted removes `name` and the space after it from the start of s.
func cutQuoted(s string) (name, rest string) {
	name, rest, _ = strings.Cut(strings.TrimPrefix(s, "`"), "`")
	return name, strings.TrimPrefix(rest, " ")
}

func trimBrackets(s string) string {
	return strings.TrimSuffix(strings.TrimPrefix(s, "("), ")")
}

// leadingInt returns the number at the start of s, or -1.
func leadingInt(s string) int {
	end := 0
	for end < len(s) && '0' <= s[end] && s[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(s[:end])
	if err != nil {
		return -1
	}
	return n
}
