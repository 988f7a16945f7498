package contextref

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The line of each kind. parseLine must return the fields of these lines.

func (r *File) line(*labels) (string, error) {
	c := checks{kind: KindFile}
	c.some("Path", r.Path, "`")
	return iconFile + " `" + r.Path + "`", c.err
}

func (r *Web) line(*labels) (string, error) {
	c := checks{kind: KindWeb}
	c.some("URL", r.URL, "")
	if strings.ContainsFunc(r.URL, unicode.IsSpace) {
		c.refuse("URL", r.URL, "white space ends it on the line")
	}
	c.text("Title", r.Title, "")
	return iconWeb + " " + r.URL + inBrackets(r.Title), c.err
}

func (r *Folder) line(l *labels) (string, error) {
	c := checks{kind: KindFolder}
	c.some("Path", r.Path, "`")
	s := iconFolder + " `" + r.Path + "`"
	if r.FileCount != nil {
		c.count("FileCount", *r.FileCount)
		s += inBrackets(l.files(*r.FileCount))
	}
	return s, c.err
}

func (r *Symbol) line(*labels) (string, error) {
	c := checks{kind: KindSymbol}
	c.some("Name", r.Name, "`")
	c.text("SymbolType", r.SymbolType, ")")
	c.count("Line", r.Line)
	s := iconSymbol + " `" + r.Name + "`" + inBrackets(r.SymbolType)
	switch {
	case r.File == "" && r.Line != 0:
		c.refuse("Line", strconv.Itoa(r.Line), "file not found")
	case r.File == "":
	case r.Line == 0:
		c.last("File", r.File)
		if _, _, numbered := cutNumber(r.File); numbered {
			c.refuse("File", r.File, "its end reads as the number of a line")
		}
		s += " - " + r.File
	default:
		c.some("File", r.File, "")
		s += " - " + r.File + ":" + strconv.Itoa(r.Line)
	}
	return s, c.err
}

func (r *Terminal) line(l *labels) (string, error) {
	c := checks{kind: KindTerminal}
	c.count("Lines", r.Lines)
	s := iconTerminal + " " + l.terminal + inBrackets(l.lines(r.Lines))
	if r.IsError {
		s += " " + warning
	}
	return s, c.err
}

func (r *Problems) line(l *labels) (string, error) {
	c := checks{kind: KindProblems}
	c.count("Count", r.Count)
	c.text("Severity", r.Severity, "]")
	s := iconProblems + " " + l.problems + inBrackets(l.count(r.Count))
	if r.Severity != "" {
		s += " [" + r.Severity + "]"
	}
	return s, c.err
}

func (r *Git) line(*labels) (string, error) {
	c := checks{kind: KindGit}
	c.last("GitType", r.GitType)
	return iconGit + " Git " + r.GitType, c.err
}

func (r *Selection) line(l *labels) (string, error) { return iconSelection + " " + l.selection, nil }
func (r *Workspace) line(l *labels) (string, error) { return iconWorkspace + " " + l.workspace, nil }

func (r *Image) line(*labels) (string, error) {
	c := checks{kind: KindImage}
	c.some("Name", r.Name, "`")
	c.text("Size", r.Size, "")
	return iconImage + " `" + r.Name + "`" + inBrackets(r.Size), c.err
}

func (r *Unknown) line(*labels) (string, error) {
	if r.Line == "" {
		return "", nil
	}
	c := checks{kind: r.Type}
	c.last("Line", r.Line)
	if !foreignIcon(r.Line) {
		c.refuse("Line", r.Line, "it does not begin with its icon")
	}
	return r.Line, c.err
}

func inBrackets(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

// cutNumber splits a line number off a location: Main.kt:45.
func cutNumber(s string) (file string, n int, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return s, 0, false
	}
	n, err := strconv.Atoi(s[i+1:])
	if err != nil || n <= 0 || strconv.Itoa(n) != s[i+1:] {
		return s, 0, false
	}
	return s[:i], n, true
}

// foreignIcon reports whether a line begins with an unknown icon: a symbol, with its joiners, and a
// space.
func foreignIcon(line string) bool {
	icon, _, found := strings.Cut(line, " ")
	first, _ := utf8.DecodeRuneInString(icon)
	return found && unicode.Is(unicode.So, first) && readers[strings.ReplaceAll(icon, variation, "")] == nil
}
