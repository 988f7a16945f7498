package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

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

// TestCommentTouched checks that a comment is resolved when its subject differs.
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
