package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/place"
	"github.com/seed7221b0f9/parley/workspace"
)

// The states of a comment.
const (
	commentOpen     = "open"
	commentSent     = "sent"
	commentResolved = "resolved"
)

// Limits of a review.
const (
	maxComments    = 500
	maxCommentText = 16 << 10
	maxCommentCode = 500 // lines
)

// comment is a comment with the states of the files with which it was sent: Base is the old side of
// its diff, Tree the files at that moment.
type comment struct {
	api.ReviewComment
	Base string `json:"tree_base,omitempty"`
	Tree string `json:"tree,omitempty"`
}

func (c *core) comment(id string) (comment, error) {
	i := slices.IndexFunc(c.Comments, func(o comment) bool { return o.ID == id })
	if i < 0 {
		return comment{}, Invalid("comment %q not found", id)
	}
	return c.Comments[i], nil
}

// applyComments folds new, changed and removed comments.
func (c *core) applyComments(f *facts) {
	for _, n := range f.Comments {
		i := slices.IndexFunc(c.Comments, func(o comment) bool { return o.ID == n.ID })
		if i < 0 {
			c.Comments = append(c.Comments, n)
		} else {
			c.Comments[i] = n
		}
	}
	if len(f.Uncommented) > 0 {
		c.Comments = slices.DeleteFunc(c.Comments, func(o comment) bool { return slices.Contains(f.Uncommented, o.ID) })
	}
}

// wireComments returns the comments for viewers.
func wireComments(all []comment) []api.ReviewComment {
	list := []api.ReviewComment{}
	for _, c := range all {
		list = append(list, c.ReviewComment)
	}
	return list
}

func (c *core) sentComments() []comment {
	return slices.DeleteFunc(slices.Clone(c.Comments), func(o comment) bool { return o.State != commentSent })
}

// reviewDraft reports the changed comments.
func (c *core) reviewDraft(f *facts) draft {
	ev := api.ReviewEvent{Comments: wireComments(f.Comments), Removed: f.Uncommented}
	return draft{event: &event.SessionInfo{Header: c.header(""), Data: event.Encoded(map[string]any{"review": ev})}, facts: f}
}

// resolve returns the drafts that resolve comments.
func (c *core) resolve(ids []string, by string) []draft {
	f := &facts{}
	for _, o := range c.Comments {
		if slices.Contains(ids, o.ID) && o.State == commentSent {
			o.State, o.ResolvedBy = commentResolved, by
			f.Comments = append(f.Comments, o)
		}
	}
	if len(f.Comments) == 0 {
		return nil
	}
	return []draft{c.reviewDraft(f)}
}

// touched returns the ids of comments with lines that differ between the time when they were sent
// and a later state.
func touched(ctx context.Context, tree place.Tree, sent []comment, state string) ([]string, error) {
	diffs := map[[2]string]workspace.Diff{}
	var ids []string
	for _, c := range sent {
		from := c.Tree
		if c.Side == string(workspace.Old) {
			from = c.Base
		}
		key := [2]string{from, state}
		d, ok := diffs[key]
		if !ok {
			var err error
			if d, err = tree.Diff(ctx, from, state); err != nil {
				return nil, err
			}
			diffs[key] = d
		}
		if c.touchedBy(d) {
			ids = append(ids, c.ID)
		}
	}
	return ids, nil
}

// touchedBy reports whether a diff changes the subject of the comment: for lines of the new side
// these lines, in a diff from the time when it was sent; for removed lines their hunk, in a diff
// from the same base.
func (c comment) touchedBy(d workspace.Diff) bool {
	for _, f := range d.Files {
		if f.Path != c.File && f.OldPath != c.File {
			continue
		}
		if c.Side == string(workspace.Old) {
			return !slices.ContainsFunc(f.Hunks, func(h workspace.Hunk) bool { return h.ID == c.Hunk })
		}
		return f.Binary || f.Large || f.Truncated || f.Kind == workspace.Deleted ||
			slices.ContainsFunc(f.Hunks, func(h workspace.Hunk) bool { return h.Touches(int(c.From), int(c.To)) })
	}
	return c.Side == string(workspace.Old) // the file equals the base
}

// placed finds a comment in a diff. The hunk may have grown or moved, if the lines of the comment
// occur once on the same side. Otherwise it returns the hunks at its position.
func (c comment) placed(d workspace.Diff) (at comment, near []workspace.Hunk, ok bool) {
	i := slices.IndexFunc(d.Files, func(f workspace.File) bool { return f.Path == c.File })
	if i < 0 {
		return c, []workspace.Hunk{}, false
	}
	side := workspace.Side(c.Side)
	for _, h := range d.Files[i].Hunks {
		if h.ID == c.Hunk { // earlier changes renumber the lines
			if first, n := find(h, side, c.Code, int(c.From)); n > 0 {
				return c.moved(h, first), nil, true
			}
		}
	}
	near = workspace.Near(d.Files[i].Hunks, c.Hunk)
	var found []comment
	for _, h := range near {
		if first, n := find(h, side, c.Code, 0); n == 1 {
			found = append(found, c.moved(h, first))
		}
	}
	if len(found) == 1 {
		return found[0], nil, true
	}
	return c, near, false
}

// moved returns a comment at another position.
func (c comment) moved(h workspace.Hunk, first int) comment {
	c.To += int64(first) - c.From
	c.From, c.Hunk = int64(first), h.ID
	return c
}

// find returns the position of lines in a side of a hunk, and the number of occurrences. It prefers
// the wanted position.
func find(h workspace.Hunk, side workspace.Side, code []string, wanted int) (first, n int) {
	start, count := h.NewStart, h.NewLines
	if side == workspace.Old {
		start, count = h.OldStart, h.OldLines
	}
	for at := start; at+len(code) <= start+count; at++ {
		if lines, ok := h.Code(side, at, at+len(code)-1); ok && slices.Equal(valid(lines), code) {
			if n++; n == 1 || at == wanted {
				first = at
			}
		}
	}
	return first, n
}

// valid returns lines that JSON can represent.
func valid(lines []string) []string {
	all := make([]string, len(lines))
	for i, line := range lines {
		all[i] = strings.ToValidUTF8(line, "�")
	}
	return all
}

// reviewPrompt returns the prompt for the agent: a sentence, then for each comment a heading with
// its number, file, lines and side, the lines as code, and the comment.
func reviewPrompt(text string, comments []comment) string {
	var b strings.Builder
	if text = strings.TrimSpace(text); text == "" {
		text = "Please work through these review comments on your changes."
	}
	b.WriteString(text + "\n")
	for i, c := range comments {
		lines := fmt.Sprintf("lines %d to %d", c.From, c.To)
		if c.From == c.To {
			lines = fmt.Sprintf("line %d", c.To)
		}
		if c.Side == string(workspace.Old) {
			lines += " before the change"
		}
		fence := fenceFor(c.Code)
		fmt.Fprintf(&b, "\n## %d. %s, %s\n\n%s\n%s\n%s\n\n%s\n", i+1, c.File, lines, fence, strings.Join(c.Code, "\n"), fence, strings.TrimSpace(c.Text))
	}
	return b.String()
}

// fenceFor returns a fence that is longer than any in the code.
func fenceFor(code []string) string {
	longest := 2
	for _, line := range code {
		if n := len(line) - len(strings.TrimLeft(strings.TrimLeft(line, " \t"), "`")) - (len(line) - len(strings.TrimLeft(line, " \t"))); n > longest {
			longest = n
		}
	}
	return strings.Repeat("`", longest+1)
}
