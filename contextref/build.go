package contextref

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// FieldError reports a field with a value that cannot be written on a line of a block so that Parse
// returns it.
type FieldError struct {
	Kind  Kind
	Field string // the name of the Go field
	Value string
	Why   string
}

func (e *FieldError) Error() string {
	return fmt.Sprintf("contextref: %s of %s cannot be %q: %s", e.Field, e.Kind, e.Value, e.Why)
}

// Build returns a message with refs before text. Without refs, or if no ref has a line, it returns
// text unchanged. It rejects a field that Parse would not return with a [*FieldError]: a path with
// a line break or a back quote, a page with a space in its address. It also rejects [Unknown] lines
// without any known one: a block of only such lines is parsed as text.
func Build(text string, refs []Reference, lang Language) (string, error) {
	l := labelsOf(lang)
	var lines []string
	var foreign *Unknown
	known := false
	for _, r := range refs {
		line, err := r.line(l)
		if err != nil {
			return "", err
		}
		if line == "" {
			continue
		}
		lines = append(lines, line)
		if u, ok := r.(*Unknown); ok {
			foreign = u
		} else {
			known = true
		}
	}
	switch {
	case len(lines) == 0:
		return text, nil
	case !known:
		return "", &FieldError{Kind: foreign.Type, Field: "Line", Value: foreign.Line, Why: "no known reference is next to it"}
	}
	var b strings.Builder
	b.WriteString("> **" + l.header + "**\n> \n")
	for _, line := range lines {
		b.WriteString("> - " + line + "\n")
	}
	b.WriteString("\n" + text)
	return b.String(), nil
}

// ImageSize returns the size of a picture for [Image].Size: whole kilobytes, rounded up.
func ImageSize(bytes int64) string {
	return strconv.FormatInt((max(bytes, 0)+1023)/1024, 10) + "KB"
}

// checks collects the errors in the fields of one reference.
type checks struct {
	kind Kind
	err  error
}

func (c *checks) refuse(field, value, why string) {
	if c.err == nil {
		c.err = &FieldError{Kind: c.kind, Field: field, Value: value, Why: why}
	}
}

// text checks that a field fits on its line and does not contain the characters that end it.
func (c *checks) text(field, value, ends string) {
	switch i := strings.IndexAny(value, ends); {
	case i >= 0:
		c.refuse(field, value, fmt.Sprintf("%q ends it on the line", value[i:i+1]))
	case !utf8.ValidString(value):
		c.refuse(field, value, "it is not UTF-8")
	case strings.ContainsFunc(value, breaksLine):
		c.refuse(field, value, "it breaks the line")
	}
}

// some is text for a required field.
func (c *checks) some(field, value, ends string) {
	if value == "" {
		c.refuse(field, value, "it is empty")
	}
	c.text(field, value, ends)
}

// last is some for a field at the end of a line, where white space may be trimmed.
func (c *checks) last(field, value string) {
	c.some(field, value, "")
	if strings.TrimSpace(value) != value {
		c.refuse(field, value, "white space around it may be trimmed")
	}
}

func (c *checks) count(field string, n int) {
	if n < 0 {
		c.refuse(field, strconv.Itoa(n), "it is negative")
	}
}

// breaksLine reports whether some readers treat r as the end of a line, or drop it.
func breaksLine(r rune) bool {
	return unicode.IsControl(r) && r != '\t' || r == '\u2028' || r == '\u2029'
}
