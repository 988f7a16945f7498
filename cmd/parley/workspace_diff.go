package main

import (
	"fmt"
	"strings"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/workspace"
)

// diffStyle paints the lines of a diff; nil functions leave them as they are.
type diffStyle struct{ file, hunk, added, removed func(string) string }

func painted(f func(string) string, s string) string {
	if f == nil {
		return s
	}
	return f(s)
}

// diffText is a diff in the unified format with git's headings, so that git apply takes it.
func diffText(d api.WorkspaceDiffResult, style diffStyle) string {
	var lines []string
	for _, f := range d.Files {
		lines = append(lines, fileHead(f, style)...)
		for _, h := range f.Hunks {
			lines = append(lines, hunkLines(h, style)...)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// fileHead are the lines before the hunks of a file.
func fileHead(f api.WorkspaceFile, style diffStyle) []string {
	old := f.OldPath
	if old == "" {
		old = f.Path
	}
	head := []string{"diff --git " + gitPath("a/"+old) + " " + gitPath("b/"+f.Path)}
	from, to := gitPath("a/"+old), gitPath("b/"+f.Path)
	switch {
	case f.Kind == workspace.Added:
		head, from = append(head, "new file mode "+f.NewMode), "/dev/null"
	case f.Kind == workspace.Deleted:
		head, to = append(head, "deleted file mode "+f.OldMode), "/dev/null"
	default:
		if f.OldMode != f.NewMode && f.OldMode != "" && f.NewMode != "" {
			head = append(head, "old mode "+f.OldMode, "new mode "+f.NewMode)
		}
		if f.OldPath != "" {
			head = append(head, "rename from "+gitPath(old), "rename to "+gitPath(f.Path))
		}
	}
	switch {
	case len(f.Hunks) > 0:
		head = append(head, "--- "+from, "+++ "+to)
	case f.Binary || f.Large:
		head = append(head, "Binary files "+from+" and "+to+" differ")
	}
	for i := range head {
		head[i] = painted(style.file, head[i])
	}
	return head
}

// gitPath is a path as git writes it: quoted, with escapes, where it holds what could be taken
// for something else.
func gitPath(path string) string {
	var b strings.Builder
	for i := range len(path) {
		switch c := path[i]; {
		case c == '"' || c == '\\':
			b.WriteString(`\` + string(c))
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	if b.String() == path {
		return path
	}
	return `"` + b.String() + `"`
}

// hunkLines are the heading of a hunk, with its id, and its lines.
func hunkLines(h api.WorkspaceHunk, style diffStyle) []string {
	head := fmt.Sprintf("@@ -%s +%s @@", lineRange(h.OldStart, h.OldLines), lineRange(h.NewStart, h.NewLines))
	if h.Section != "" {
		head += " " + h.Section
	}
	lines := []string{painted(style.hunk, head+" [hunk "+h.ID+"]")}
	for _, line := range h.Lines {
		look := map[byte]func(string) string{'+': style.added, '-': style.removed}[(line + " ")[0]]
		lines = append(lines, painted(look, line))
	}
	return lines
}

func lineRange(start, lines int64) string {
	if lines == 1 {
		return fmt.Sprint(start)
	}
	return fmt.Sprintf("%d,%d", start, lines)
}

// statText is the files of a diff with how many lines were added and removed.
func statText(d api.WorkspaceDiffResult) string {
	var b strings.Builder
	added, removed := int64(0), int64(0)
	for _, f := range d.Files {
		added, removed = added+f.Added, removed+f.Removed
		fmt.Fprintf(&b, "%-6s +%-5d -%-5d %s\n", f.Kind, f.Added, f.Removed, term.OneLine(f.Path))
	}
	fmt.Fprintf(&b, "%s, +%d -%d\n", term.Plural(int64(len(d.Files)), "file"), added, removed)
	if d.Truncated {
		b.WriteString("there is more than is shown\n")
	}
	return b.String()
}
