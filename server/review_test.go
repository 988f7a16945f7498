package server

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
)

func (r *repoHarness) comments(session string) []api.ReviewComment {
	r.Helper()
	var list api.ReviewListResult
	r.call("review.list", api.SessionRef{SessionID: session}, &list)
	return list.Comments
}

func TestReview(t *testing.T) {
	short.SkipQuick(t, "starts git again and again")
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

	// The lines of one comment have changed. The others are found, one of them in a hunk that has
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
		r.diff(id, api.WorkspaceScope{}) // waits for the snapshot after the turn
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

// TestReview_sameKey checks that concurrent calls with one key create one comment, one commit and one prompt, and all succeed.
func TestReview_sameKey(t *testing.T) {
	short.SkipQuick(t, "starts git again and again")
	r := newRepoHarness(t)
	ws, id := r.workspace()
	r.turn(id, func() { edit(t, filepath.Join(ws.Path, "a.txt"), "line 5\n", "five\n") })
	hunk := r.fileOf(r.diff(id, api.WorkspaceScope{}), "a.txt").Hunks[0].ID
	const calls = 6
	atOnce := func(call func() (string, error)) []string {
		t.Helper()
		results := make([]string, calls)
		var wg sync.WaitGroup
		for i := range calls {
			wg.Go(func() {
				var err error
				if results[i], err = call(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		slices.Sort(results)
		return slices.Compact(results)
	}
	ids := atOnce(func() (string, error) {
		var c api.ReviewCommentResult
		p := api.ReviewCommentParams{SessionID: id, File: "a.txt", From: 5, Hunk: hunk, Text: "why?", Idempotency: api.Idempotency{Key: "comment"}}
		err := r.client(r.token).Call(r.ctx(), "review.comment", p, &c)
		return c.Comment.ID, err
	})
	if all := r.comments(id); len(ids) != 1 || len(all) != 1 {
		t.Errorf("%d calls with one key made %d comments with the ids %q, want one", calls, len(all), ids)
	}
	commits := atOnce(func() (string, error) {
		var done api.WorkspaceCommitResult
		p := api.WorkspaceCommitParams{SessionID: id, Message: "five", Idempotency: api.Idempotency{Key: "commit"}}
		err := r.client(r.token).Call(r.ctx(), "workspace.commit", p, &done)
		return done.Commit, err
	})
	if len(commits) != 1 {
		t.Errorf("%d calls with one key made the commits %q, want one", calls, commits)
	}
	turns := atOnce(func() (string, error) {
		var sent api.ReviewSendResult
		p := api.ReviewSendParams{SessionID: id, IDs: ids, Idempotency: api.Idempotency{Key: "send"}}
		err := r.client(r.token).Call(r.ctx(), "review.send", p, &sent)
		return sent.TurnID, err
	})
	if len(turns) != 1 {
		t.Errorf("%d calls with one key began the turns %q, want one", calls, turns)
	}
}
