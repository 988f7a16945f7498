package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/workspace"
)

// reviewForm is the form that docs/guide/workspaces.md documents.
const reviewForm = "Please work through these review comments on your changes.\n" +
	"\n## 1. a.go, line 3\n\n```\nx := 1\n```\n\nWhy?\n" +
	"\n## 2. docs/b.md, lines 7 to 8 before the change\n\n````\n```\ncode\n````\n\nKeep it.\n"

func TestReviewPrompt(t *testing.T) {
	got := reviewPrompt(" ", []comment{
		{ReviewComment: api.ReviewComment{File: "a.go", From: 3, To: 3, Side: "new", Code: []string{"x := 1"}, Text: "Why?"}},
		{ReviewComment: api.ReviewComment{File: "docs/b.md", From: 7, To: 8, Side: "old", Code: []string{"```", "code"}, Text: "Keep it.\n"}},
	})
	if got != reviewForm {
		t.Errorf("the prompt is\n%s\nwant\n%s", got, reviewForm)
	}
	if got := reviewPrompt("Look:", nil); got != "Look:\n" {
		t.Errorf("with a text of one's own: %q", got)
	}
	if got := fenceFor([]string{"  ````x"}); got != "`````" {
		t.Errorf("the fence is %s", got)
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "guide", "workspaces.md"))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(reviewForm, "\n## 2.")
	if !strings.Contains(string(page), "````text\n"+first+"````\n") {
		t.Errorf("the page does not have the form\n%s", first)
	}
}

// TestCommentTouched checks that a comment counts as resolved when the agent has changed its lines.
func TestCommentTouched(t *testing.T) {
	hunk := workspace.Hunk{ID: "h", OldStart: 4, OldLines: 3, NewStart: 4, NewLines: 3, Lines: []string{" a", "-b", "+B", " c"}}
	file := func(f workspace.File) workspace.Diff {
		return workspace.Diff{Files: []workspace.File{{Path: "other"}, f}}
	}
	for name, tt := range map[string]struct {
		side string
		line int64
		diff workspace.Diff
		want bool
	}{
		"a line of the new side":        {"new", 5, file(workspace.File{Path: "f", Hunks: []workspace.Hunk{hunk}}), true},
		"a line beside it":              {"new", 4, file(workspace.File{Path: "f", Hunks: []workspace.Hunk{hunk}}), false},
		"a file that is as it was":      {"new", 5, workspace.Diff{}, false},
		"a file that is gone":           {"new", 9, file(workspace.File{Path: "f", Kind: workspace.Deleted}), true},
		"a file that was moved":         {"new", 5, file(workspace.File{Path: "g", OldPath: "f", Hunks: []workspace.Hunk{hunk}}), true},
		"a hunk of the old side":        {"old", 5, file(workspace.File{Path: "f", Hunks: []workspace.Hunk{hunk}}), false},
		"another hunk in its place":     {"old", 5, file(workspace.File{Path: "f", Hunks: []workspace.Hunk{{ID: "i"}}}), true},
		"a file that is as in the base": {"old", 5, workspace.Diff{}, true},
	} {
		c := comment{ReviewComment: api.ReviewComment{File: "f", From: tt.line, To: tt.line, Side: tt.side, Hunk: "h"}}
		if got := c.touchedBy(tt.diff); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestCommentPlaced checks that a comment follows its lines, and is stale if they are missing or
// ambiguous.
func TestCommentPlaced(t *testing.T) {
	hunk := func(id string, lines ...string) workspace.Hunk {
		h := workspace.Hunk{ID: id, OldStart: 10, NewStart: 12, Lines: lines}
		for _, l := range lines {
			if l[0] != '+' {
				h.OldLines++
			}
			if l[0] != '-' {
				h.NewLines++
			}
		}
		return h
	}
	c := comment{ReviewComment: api.ReviewComment{File: "f", From: 11, To: 11, Side: "new", Hunk: "10.3.a", Code: []string{"x"}}}
	for name, tt := range map[string]struct {
		hunk workspace.Hunk
		from int64
		ok   bool
	}{
		"the same hunk, moved":    {hunk("10.3.a", " a", "+x", " b", " c"), 13, true},
		"it has grown":            {hunk("10.4.b", " a", "+x", "+y", " b", " c"), 13, true},
		"it is there twice":       {hunk("10.4.b", " a", "+x", "+x", " b", " c"), 0, false},
		"it has changed":          {hunk("10.4.b", " a", "+z", " b", " c"), 0, false},
		"it is on the other side": {hunk("10.4.b", " a", "-x", " b", " c"), 0, false},
	} {
		at, near, ok := c.placed(workspace.Diff{Files: []workspace.File{{Path: "f", Hunks: []workspace.Hunk{tt.hunk}}}})
		if ok != tt.ok || ok && (at.From != tt.from || at.To != tt.from || at.Hunk != tt.hunk.ID) || !ok && len(near) != 1 {
			t.Errorf("%s: %+v, %+v, %t", name, at, near, ok)
		}
	}
}

// TestReviews_change checks the effect of each change on a comment in each state: a refused change has no effect, and every other change
// is logged.
func TestReviews_change(t *testing.T) {
	short.SkipQuick(t, "runs git many times")
	long := strings.Repeat("x", maxCommentText+1)
	for _, state := range []string{commentOpen, commentSent, commentResolved} {
		for name, tt := range map[string]struct {
			update        api.ReviewUpdateParams
			text, is, by  string // the comment afterwards
			turn          bool   // the number of its turn stays
			refused, open api.Reason
		}{
			"nothing":        {text: "Why?", is: state, by: "old", turn: true},
			"a text":         {update: api.ReviewUpdateParams{Text: " New. "}, text: "New.", is: state, by: "old", turn: true, refused: api.Conflict},
			"a blank text":   {update: api.ReviewUpdateParams{Text: " "}, refused: api.Conflict, open: api.InvalidParams},
			"a long text":    {update: api.ReviewUpdateParams{Text: long}, refused: api.Conflict, open: api.InvalidParams},
			"open":           {update: api.ReviewUpdateParams{State: commentOpen}, text: "Why?", is: commentOpen},
			"resolved":       {update: api.ReviewUpdateParams{State: commentResolved}, text: "Why?", is: commentResolved, by: "me", turn: true},
			"a state of its": {update: api.ReviewUpdateParams{State: "done"}, refused: api.InvalidParams, open: api.InvalidParams},
		} {
			t.Run(state+" "+name, func(t *testing.T) {
				c := newStage(t, Opened{})
				o := comment{ReviewComment: api.ReviewComment{ID: "c-1", File: "f", From: 1, To: 1, Side: "new", Text: "Why?", State: state, TurnID: "turn", ResolvedBy: "old"}}
				other := o
				other.ID = "c-2"
				if err := c.with(t.Context(), c.id, func(a *actor) error { return a.commit(a.core.reviewDraft(&facts{Comments: []comment{o, other}})) }); err != nil {
					t.Fatal(err)
				}
				reviews, before := Of[Reviews](c.Sessions), c.state()
				tt.update.SessionID, tt.update.ID = c.id, "c-1"
				missing := tt.update
				missing.ID = "c-9"
				if _, err := reviews.Update(t.Context(), missing, "me"); err == nil || c.state() != before {
					t.Errorf("a comment that is missing: %v, want an error and no change", err)
				}
				want := tt.refused
				if state == commentOpen {
					want = tt.open
				}
				list, err := reviews.Update(t.Context(), tt.update, "me")
				if want != "" {
					if c.reason("the change", err, want); c.state() != before {
						t.Errorf("the refused change made %s of %s", c.state(), before)
					}
					return
				}
				if err != nil || len(list.Comments) != 2 || list.Comments[1].ID != "c-2" || list.Comments[1].Text != "Why?" {
					t.Fatalf("the comments are %+v, %v, want the other as it was", list, err)
				}
				turn := map[bool]string{true: "turn"}[tt.turn]
				if got := list.Comments[0]; got.Text != tt.text || got.State != tt.is || got.ResolvedBy != tt.by || got.TurnID != turn {
					t.Errorf("the comment is %+v, want the text %q, the state %s by %q and the turn %q", got, tt.text, tt.is, tt.by, turn)
				}
				c.unloaded()
				if again, err := reviews.List(t.Context(), ref(c.id)); err != nil || asText(again) != asText(list) {
					t.Errorf("after a load the comments are %s, %v, want %s", asText(again), err, asText(list))
				}
				if _, err := reviews.Remove(t.Context(), api.ReviewRemoveParams{SessionID: c.id, ID: "c-9"}); err == nil {
					t.Error("a missing comment was removed, want an error")
				}
				rest, err := reviews.Remove(t.Context(), api.ReviewRemoveParams{SessionID: c.id, ID: "c-1"})
				if err != nil || len(rest.Comments) != 1 || rest.Comments[0].ID != "c-2" {
					t.Errorf("without the comment the list is %+v, %v, want c-2 alone", rest, err)
				}
			})
		}
	}
}

// TestChosen checks which comments are sent: those that are named, once each, or all that are open.
func TestChosen(t *testing.T) {
	c := &core{Comments: []comment{
		{ReviewComment: api.ReviewComment{ID: "a", State: commentOpen}}, {ReviewComment: api.ReviewComment{ID: "b", State: commentSent}}, {ReviewComment: api.ReviewComment{ID: "c", State: commentOpen}},
	}}
	for _, tt := range []struct {
		ids  []string
		want string
	}{{nil, "a c"}, {[]string{"b"}, "b"}, {[]string{"c", "a", "c"}, "c a"}, {[]string{}, "none"}, {[]string{"a", "x"}, "none"}} {
		all, err := c.chosen(tt.ids)
		var got []string
		for _, o := range all {
			got = append(got, o.ID)
		}
		if want := tt.want; (err != nil) != (want == "none") || err == nil && strings.Join(got, " ") != want {
			t.Errorf("of %q the comments %q are sent, %v, want %s", tt.ids, got, err, want)
		}
	}
	c.Comments = c.Comments[1:2]
	if _, err := c.chosen(nil); err == nil {
		t.Error("without an open comment some are sent, want an error")
	}
}
