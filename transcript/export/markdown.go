package export

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// roles are the headings of turns.
var roles = map[string]string{"user": "User", "assistant": "Assistant", "system": "System", "summary": "Summary of what was before"}

func (d *document) writeMarkdown(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# %s\n\n", oneLine(d.Title))
	for _, f := range d.Facts {
		fmt.Fprintf(b, "- %s: %s\n", f.Name, codeSpan(f.Value))
	}
	writeTurns(b, d.Turns, 2)
	return b.Flush()
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// codeSpan formats a text as inline code, with enough backquotes.
func codeSpan(s string) string {
	s = oneLine(s)
	if !strings.Contains(s, "`") {
		return "`" + s + "`"
	}
	ticks := strings.Repeat("`", longestRun(s)+1)
	return ticks + " " + s + " " + ticks
}

func longestRun(s string) int {
	longest, run := 0, 0
	for _, c := range s {
		if c != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// fenced formats a text as a code block, with a fence longer than any in the text.
func fenced(text, language string) string {
	fence := strings.Repeat("`", max(3, longestRun(text)+1))
	return fence + language + "\n" + strings.TrimSuffix(text, "\n") + "\n" + fence + "\n"
}

func writeTurns(b *bufio.Writer, turns []*turn, level int) {
	for _, t := range turns {
		fmt.Fprintf(b, "\n%s %s", strings.Repeat("#", min(level, 6)), roles[t.Role])
		if t.Time != "" {
			fmt.Fprintf(b, " · %s", t.Time)
		}
		b.WriteString("\n")
		for _, p := range t.Parts {
			b.WriteString("\n")
			writePart(b, p, level)
		}
	}
}

func writePart(b *bufio.Writer, p part, level int) {
	switch p.Kind {
	case "text":
		b.WriteString(strings.TrimRight(p.Text, "\n") + "\n")
	case "thinking":
		b.WriteString("> *Thinking*\n>\n> " + strings.ReplaceAll(strings.TrimSpace(p.Text), "\n", "\n> ") + "\n")
	case "tool":
		writeTool(b, p, level)
	case "image":
		fmt.Fprintf(b, "*An image (%s, %d bytes of base64)*\n", oneLine(p.Text), len(p.Data))
	default:
		fmt.Fprintf(b, "*A block of type %s*\n\n%s", codeSpan(p.Text), fenced(indented([]byte(p.Data)), "json"))
	}
}

func writeTool(b *bufio.Writer, p part, level int) {
	fmt.Fprintf(b, "**%s**", oneLine(p.Tool.Name))
	if s := p.Tool.summary(); s != "" {
		b.WriteString(" " + codeSpan(s))
	}
	b.WriteString("\n")
	for _, l := range p.Tool.listings() {
		language := l.Language
		if language == "" {
			language = strings.TrimPrefix(filepath.Ext(l.File), ".")
		}
		b.WriteString("\n" + fenced(l.Text, language))
	}
	if len(p.Agent) > 0 {
		writeTurns(b, p.Agent, level+1)
	}
	switch {
	case !p.Tool.Done:
		b.WriteString("\nNo result.\n")
		return
	case p.Tool.Failed:
		b.WriteString("\nFailed:\n")
	default:
		b.WriteString("\nResult:\n")
	}
	for _, r := range p.Tool.Result {
		b.WriteString("\n")
		if r.Kind == "text" {
			b.WriteString(fenced(r.Text, ""))
			continue
		}
		writePart(b, r, level)
	}
}
