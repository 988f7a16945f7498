// Package diff writes the file changes of a session as a unified diff.
package diff

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/remote"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/workspace"
)

// Text returns a diff in the unified format with git's headings, so that git apply accepts it.
func Text(d api.WorkspaceDiffResult, pen *term.Pen) string {
	var lines []string
	for _, f := range d.Files {
		lines = append(lines, fileHead(f, pen)...)
		for _, h := range f.Hunks {
			lines = append(lines, hunkLines(h, pen)...)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// fileHead returns the lines before the hunks of a file.
func fileHead(f api.WorkspaceFile, pen *term.Pen) []string {
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
		head[i] = pen.Paint(term.Bold, head[i])
	}
	return head
}

// gitPath returns a path in git's form: quoted, with escapes, if it has special characters.
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

// hunkLines returns the heading of a hunk, with its id, and its lines.
func hunkLines(h api.WorkspaceHunk, pen *term.Pen) []string {
	head := fmt.Sprintf("@@ -%s +%s @@", lineRange(h.OldStart, h.OldLines), lineRange(h.NewStart, h.NewLines))
	if h.Section != "" {
		head += " " + h.Section
	}
	lines := []string{pen.Paint(term.Dim, head+" [hunk "+h.ID+"]")}
	for _, line := range h.Lines {
		look := map[byte]term.Style{'+': term.Green, '-': term.Red}[(line + " ")[0]]
		lines = append(lines, pen.Paint(look, line))
	}
	return lines
}

func lineRange(start, lines int64) string {
	if lines == 1 {
		return fmt.Sprint(start)
	}
	return fmt.Sprintf("%d,%d", start, lines)
}

// Stat returns the files of a diff with the numbers of added and removed lines.
func Stat(d api.WorkspaceDiffResult) string {
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

// WriteChanged writes the hunks that replaced a changed one, if the error has them.
func WriteChanged(w io.Writer, err error) {
	if e, ok := errors.AsType[*client.Error](err); ok && len(e.Data.Hunks) > 0 {
		fmt.Fprintln(w, "It is now:")
		for _, h := range e.Data.Hunks {
			fmt.Fprintln(w, strings.Join(hunkLines(h, &term.Pen{}), "\n"))
		}
	}
}

// lastTurn returns the id of the last turn with changes.
func lastTurn(turns []api.WorkspaceTurn) (id string, err error) {
	for _, t := range turns {
		if t.Changed || !t.Ended {
			id = t.TurnID
		}
	}
	if id == "" {
		err = errors.New("no turn of the session has changed a file")
	}
	return id, err
}

// Ask requests a diff from a server; it resolves the turn "last" first.
func Ask(ctx context.Context, c *client.Client, p api.WorkspaceDiffParams) (d api.WorkspaceDiffResult, err error) {
	if p.Turn == "last" {
		p.Turn = ""
		if err := remote.Call(ctx, c, "workspace.diff", p, &d); err != nil {
			return d, err
		}
		if p.Turn, err = lastTurn(d.Turns); err != nil {
			return d, err
		}
		d = api.WorkspaceDiffResult{}
	}
	return d, remote.Call(ctx, c, "workspace.diff", p, &d)
}
