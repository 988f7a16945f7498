package server

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/workspace"
)

func (r *repoHarness) comments(session string) []api.ReviewComment {
	r.Helper()
	var list api.ReviewListResult
	r.call("review.list", api.SessionRef{SessionID: session}, &list)
	return list.Comments
}

func TestReview(t *testing.T) {
	r := newRepoHarness(t)
	ws, id := r.workspace()
	path := filepath.Join(ws.Path, "a.txt")
	r.turn(id, func() {
		edit(t, path, "line 5\n", "five\n")
		edit(t, path, "line 30\n", "thirty\n")
	})
	hunks := r.fileOf(r.diff(id, api.WorkspaceScope{}), "a.txt").Hunks
	add := func(o api.ReviewCommentParams) api.ReviewComment {
		t.Helper()
		o.SessionID, o.File = id, "a.txt"
		var c api.ReviewCommentResult
		r.call("review.comment", o, &c)
		return c.Comment
	}
	keyed := api.ReviewCommentParams{From: 5, Hunk: hunks[0].ID, Text: "in digits", Idempotency: api.Idempotency{Key: "k"}}
	five := add(keyed)
	if again := add(keyed); again.ID != five.ID {
		t.Errorf("a retry made another comment: %+v", again)
	}
	old := add(api.ReviewCommentParams{From: 30, Side: "old", Hunk: hunks[1].ID, Text: "keep this"})
	context := add(api.ReviewCommentParams{From: 3, To: 4, Hunk: hunks[0].ID, Text: "fine"})
	if !slices.Equal(five.Code, []string{"five"}) || !slices.Equal(old.Code, []string{"line 30"}) || !slices.Equal(context.Code, []string{"line 3", "line 4"}) || five.State != "open" {
		t.Errorf("the comments are %+v, %+v and %+v", five, old, context)
	}
	for _, bad := range []api.ReviewCommentParams{
		{From: 5, Hunk: hunks[0].ID}, {From: 20, Hunk: hunks[0].ID, Text: "x"}, {From: 6, To: 5, Hunk: hunks[0].ID, Text: "x"}, {From: 5, Side: "left", Hunk: hunks[0].ID, Text: "x"},
	} {
		bad.SessionID, bad.File = id, "a.txt"
		r.refused(api.InvalidParams, "review.comment", bad)
	}
	edit(t, path, "five", "FIVE")
	stale := api.ReviewCommentParams{SessionID: id, File: "a.txt", From: 5, Hunk: hunks[0].ID, Text: "x"}
	err := r.client(r.token).Call(r.ctx(), "review.comment", stale, nil)
	if e, ok := errors.AsType[*client.Error](err); !ok || e.Data.Reason != api.Conflict || len(e.Data.Hunks) != 1 || !slices.Contains(e.Data.Hunks[0].Lines, "+FIVE") {
		t.Errorf("a comment on a stale hunk: %v", err)
	}
	r.call("review.update", api.ReviewUpdateParams{SessionID: id, ID: context.ID, Text: "not so fine"}, nil)
	r.restart()
	if all := r.comments(id); len(all) != 3 || all[2].Text != "not so fine" {
		t.Errorf("after a restart: %+v", all)
	}

	// One comment's line has changed. The others are there, one of them in a hunk that has
	// grown meanwhile.
	w := r.watch(id)
	var sent api.ReviewSendResult
	r.call("review.send", api.ReviewSendParams{SessionID: id}, &sent)
	if len(sent.Stale) != 1 || sent.Stale[0].ID != five.ID || len(sent.Stale[0].Hunks) != 1 || !slices.Equal(sent.Sent, []string{old.ID, context.ID}) {
		t.Errorf("sent: %+v", sent)
	}
	w.results(2)
	r.refused(api.Conflict, "review.send", api.ReviewSendParams{SessionID: id, IDs: []string{five.ID}})
	states := func() string {
		var s []string
		r.diff(id, api.WorkspaceScope{}) // it waits for the look after the turn
		for _, c := range r.comments(id) {
			s = append(s, c.State+c.ResolvedBy)
		}
		return strings.Join(s, " ")
	}
	if got := states(); got != "open sent sent" {
		t.Errorf("after a turn that touched nothing: %s", got)
	}
	r.turn(id, func() { edit(t, path, "thirty\n", "line 30\n") })
	if got := states(); got != "open resolvedagent sent" {
		t.Errorf("after the old line was put back: %s", got)
	}
	r.turn(id, func() { edit(t, path, "line 4\n", "line four\n") })
	if got := states(); got != "open resolvedagent resolvedagent" {
		t.Errorf("after the lines were changed: %s", got)
	}
	r.call("review.update", api.ReviewUpdateParams{SessionID: id, ID: old.ID, State: "open"}, nil)
	r.call("review.remove", api.ReviewRemoveParams{SessionID: id, ID: five.ID}, nil)
	if got := states(); got != "open resolvedagent" {
		t.Errorf("after an update and a removal: %s", got)
	}
	r.refused(api.InvalidParams, "review.update", api.ReviewUpdateParams{SessionID: id, ID: old.ID, State: "gone"})
}

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
}

// A comment is resolved when what it is about differs.
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

// A comment follows its lines, and is stale where they are not there or cannot be distinguished
// from others.
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
