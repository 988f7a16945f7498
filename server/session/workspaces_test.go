package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/place"
	"github.com/seed7221b0f9/parley/workspace"
)

// forest is a machine with scripted repositories: its trees return fixed values, record the calls,
// and fail on demand.
type forest struct {
	place.Place
	mu    sync.Mutex
	calls []string
	fail  string // the name of the call that fails
	err   error
	diffs map[string]workspace.Diff // by "from to"
	trees []string                  // the ids of the next snapshots; the last one stays
	url   string
}

func (f *forest) call(name string, args ...any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, strings.TrimSpace(name+" "+fmt.Sprintln(args...)))
	if name == f.fail {
		return f.err
	}
	return nil
}

// take returns the calls since the last take that change something.
func (f *forest) take() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	changes := slices.DeleteFunc(f.calls, func(call string) bool {
		name, _, _ := strings.Cut(call, " ")
		return !slices.Contains([]string{"Revert", "Commit", "Merge", "Push"}, name)
	})
	f.calls = nil
	return strings.Join(changes, "; ")
}

func (f *forest) Tree(_ context.Context, dir, owner string) (place.Tree, error) {
	return tree{f}, f.call("Tree", dir, owner)
}

func (f *forest) Get(_ context.Context, id string) (workspace.Workspace, error) {
	return workspace.Workspace{ID: id, Path: "/w", Repo: "/r", Base: "base", Branch: "wt/x"}, f.call("Get", id)
}

type tree struct{ *forest }

func (t tree) Head(context.Context) (commit, branch string) {
	_ = t.call("Head")
	return "head", "wt/x"
}

func (t tree) Snapshot(context.Context) (workspace.State, error) {
	err := t.call("Snapshot")
	t.mu.Lock()
	defer t.mu.Unlock()
	s := workspace.State{Tree: t.trees[0]}
	if len(t.trees) > 1 {
		t.trees = t.trees[1:]
	}
	return s, err
}

func (t tree) Diff(_ context.Context, from, to string) (workspace.Diff, error) {
	err := t.call("Diff", from, to)
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.diffs[from+" "+to], err
}

func (t tree) Commits(_ context.Context, base string) ([]workspace.Commit, error) {
	return []workspace.Commit{{ID: "c-1", Subject: "subject", Author: "author", Time: "time"}}, t.call("Commits", base)
}

func (t tree) Revert(_ context.Context, o workspace.RevertOptions) (workspace.State, error) {
	return workspace.State{Tree: "before"}, t.call("Revert", o.From, o.To, o.File, o.Hunk)
}

func (t tree) Commit(_ context.Context, o workspace.CommitOptions) (workspace.Committed, error) {
	return workspace.Committed{Commit: "c-2", Branch: "wt/x", Files: []string{"f"}, Output: "hooks"}, t.call("Commit", o.Message, o.Files, o.Hunks, o.Session)
}

func (t tree) Branch(context.Context) (workspace.Branch, error) {
	return workspace.Branch{Name: "wt/x", Target: "main", Ahead: 1, Behind: 2, Remote: "origin", URL: t.url, Pushed: true}, t.call("Branch")
}

func (t tree) Merge(context.Context) (workspace.Merged, error) {
	return workspace.Merged{Target: "main", Commit: "c-3", Commits: 4, FastForward: true}, t.call("Merge")
}

func (t tree) Push(_ context.Context, url string) (workspace.Pushed, error) {
	return workspace.Pushed{Remote: "origin", Branch: "wt/x", Output: "pushed"}, t.call("Push", url)
}

var errForest = errors.New("the test stops this call")

// filesStage returns a session in a worktree, with two turns: t1 changed the files from a to b, t2 runs since c.
func filesStage(t *testing.T, o Opened) (*stage, *forest) {
	t.Helper()
	c := newStage(t, o)
	hunk := workspace.Hunk{ID: "10.2.h", OldStart: 10, OldLines: 2, NewStart: 12, NewLines: 3, Section: "func", Lines: []string{" x", "-y", "+z", "+\xff"}}
	file := workspace.File{Path: "f", OldPath: "g", Kind: workspace.Moved, OldMode: "100644", NewMode: "100755", OldSize: 1, NewSize: 2, Binary: true, Large: true, Truncated: true, Untracked: true, Added: 3, Removed: 4, Hunks: []workspace.Hunk{hunk}}
	other := workspace.File{Path: "other"}
	f := &forest{err: errForest, trees: []string{"now"}, url: "https://user:secret@host.example/a/b.git", diffs: map[string]workspace.Diff{}}
	for _, key := range []string{"base ", "a ", "a b", "HEAD ", "base now", "a now", "before now"} {
		from, _, _ := strings.Cut(key, " ")
		f.diffs[key] = workspace.Diff{From: from, Files: []workspace.File{other, file}, Left: []workspace.LeftOut{{Path: "l", Size: 5, Why: "large"}}, Truncated: true}
	}
	c.opts.Local = f
	err := c.with(t.Context(), c.id, func(a *actor) error {
		for _, m := range []mark{{"t1", "a", "b"}, {"t2", "c", ""}} {
			if err := a.commit(a.core.workspaceDraft(api.WorkspaceEvent{Event: "turn_started"}, &facts{Mark: &m})); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return c, f
}

func worktree() Opened { return Opened{Params: api.ConnectParams{CWD: "/w", WorkspaceID: "w-1"}} }

// TestWorkspaces_diff checks that a diff has every field of the files, of the turns, of the reverts and of the worktree.
func TestWorkspaces_diff(t *testing.T) {
	c, f := filesStage(t, worktree())
	files := Of[Workspaces](c.Sessions)
	hunks := []api.WorkspaceHunk{{ID: "10.2.h", OldStart: 10, OldLines: 2, NewStart: 12, NewLines: 3, Section: "func", Lines: []string{" x", "-y", "+z", "+�"}}}
	whole := api.WorkspaceDiffResult{
		Base: "base", Head: "head", Branch: "wt/x", Truncated: true, LeftOut: []api.WorkspaceLeft{{Path: "l", Size: 5, Why: "large"}},
		Files: []api.WorkspaceFile{{Path: "other", Hunks: []api.WorkspaceHunk{}},
			{Path: "f", OldPath: "g", Kind: workspace.Moved, OldMode: "100644", NewMode: "100755", OldSize: 1, NewSize: 2, Binary: true, Large: true, Truncated: true, Untracked: true, Added: 3, Removed: 4, Hunks: hunks}},
		Turns:     []api.WorkspaceTurn{{TurnID: "t1", Ended: true, Changed: true}, {TurnID: "t2"}},
		Workspace: &api.Workspace{ID: "w-1", Path: "/w", Repo: "/r", Base: "base", Branch: "wt/x", Sessions: []string{c.id}},
		Commits:   []api.WorkspaceCommit{{Commit: "c-1", Subject: "subject", Author: "author", Time: "time"}},
	}
	for name, tt := range map[string]struct {
		p    api.WorkspaceDiffParams
		want func(r *api.WorkspaceDiffResult)
	}{
		"the session": {api.WorkspaceDiffParams{}, func(*api.WorkspaceDiffResult) {}},
		"a file":      {api.WorkspaceDiffParams{Path: "f"}, func(r *api.WorkspaceDiffResult) { r.Files = r.Files[1:] }},
		"a turn": {api.WorkspaceDiffParams{WorkspaceScope: api.WorkspaceScope{Turn: "t1"}}, func(r *api.WorkspaceDiffResult) {
			r.Base, r.WorkspaceScope = "a", api.WorkspaceScope{Turn: "t1"}
		}},
		"the last commit": {api.WorkspaceDiffParams{WorkspaceScope: api.WorkspaceScope{Against: "head"}}, func(r *api.WorkspaceDiffResult) {
			r.Base, r.WorkspaceScope = "HEAD", api.WorkspaceScope{Against: "head"}
		}},
	} {
		want := whole
		tt.want(&want)
		tt.p.SessionID = c.id
		got, err := files.Diff(t.Context(), tt.p)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if _, err := files.Diff(t.Context(), api.WorkspaceDiffParams{SessionID: c.id, WorkspaceScope: api.WorkspaceScope{Turn: "t9"}}); err == nil {
		t.Error("a turn that is not known is no error")
	}
	plain, f2 := filesStage(t, Opened{Params: api.ConnectParams{CWD: "/d"}})
	got, err := Of[Workspaces](plain.Sessions).Diff(t.Context(), api.WorkspaceDiffParams{SessionID: plain.id})
	if err != nil || got.Workspace != nil || got.Commits != nil || got.Base != "a" || len(got.Files) != 2 {
		t.Errorf("without a worktree: %+v, %v, want the changes since the first turn", got, err)
	}
	if calls := strings.Join(f2.calls, "; "); !strings.Contains(calls, "Tree /d "+plain.id) || strings.Contains(calls, "Get") || !strings.Contains(strings.Join(f.calls, "; "), "Get w-1") {
		t.Errorf("the machine was called with %s", calls)
	}
	r, err := files.Branch(t.Context(), api.SessionRef{SessionID: c.id})
	if want := (api.WorkspaceBranchResult{Branch: "wt/x", Target: "main", Ahead: 1, Behind: 2, Remote: "origin", URL: "https://host.example/a/b.git", Pushed: true,
		CompareURL: "https://host.example/a/b/compare/main...wt/x?expand=1"}); err != nil || r != want {
		t.Errorf("the branch is %+v, %v, want %+v", r, err, want)
	}
}

// fileChange is a call that changes the files of a session in a worktree.
type fileChange struct {
	name   string
	do     func(c *stage, key string) (any, error)
	calls  string // of the tree, that change something
	want   string // the result as JSON
	again  string // the result of the same call with the same key
	stored string // a part of its record
	idle   bool   // it is refused during a turn
}

var fileChanges = []fileChange{
	{name: "Revert", calls: "Revert a b f 10.2.h", stored: `"workspace":{"event":"reverted","turn_id":"t1","file":"f","hunk":"10.2.h","by":"me"}`, idle: true,
		want: `"reverted":[{"id":"r-`, again: `"reverted":[{"id":"r-`,
		do: func(c *stage, key string) (any, error) {
			return Of[Workspaces](c.Sessions).Revert(c.Context(), api.WorkspaceRevertParams{SessionID: c.id, Idempotency: api.Idempotency{Key: key}, WorkspaceScope: api.WorkspaceScope{Turn: "t1"}, File: "f", Hunk: "10.2.h"}, "me")
		}},
	{name: "Restore", calls: "Revert x y f 10.2.h", stored: `"workspace":{"event":"restored","turn_id":"t1","file":"f","hunk":"old","by":"me"}`, idle: true,
		want: `"reverted":[{"id":"r-2"`, again: `"reverted":[{"id":"r-2"`,
		do: func(c *stage, key string) (any, error) {
			return Of[Workspaces](c.Sessions).Restore(c.Context(), api.WorkspaceRestoreParams{SessionID: c.id, Idempotency: api.Idempotency{Key: key}, ID: "r-1"}, "me")
		}},
	{name: "Commit", calls: "Commit message [f g] map[f:[10.2.h]] " + Prefix + "puppet", stored: `"workspace":{"event":"committed","commit":"c-2","files":["f"],"by":"me"}`, idle: true,
		want: `{"commit":"c-2","branch":"wt/x","files":["f"],"output":"hooks"}`, again: `{"commit":"c-2","files":[]}`,
		do: func(c *stage, key string) (any, error) {
			return Of[Workspaces](c.Sessions).Commit(c.Context(), api.WorkspaceCommitParams{SessionID: c.id, Idempotency: api.Idempotency{Key: key}, Message: "message", Files: []string{"f", "g"}, Hunks: map[string][]string{"f": {"10.2.h"}}, Trailer: true}, "me")
		}},
	{name: "Merge", calls: "Merge", stored: `"workspace":{"event":"merged","commit":"c-3","by":"me"}`, idle: true,
		want: `{"target":"main","commit":"c-3","commits":4,"fast_forward":true}`, again: `{"target":"main","commit":"c-3"`,
		do: func(c *stage, key string) (any, error) {
			return Of[Workspaces](c.Sessions).Merge(c.Context(), api.WorkspaceMergeParams{SessionID: c.id, Idempotency: api.Idempotency{Key: key}, Target: "main"}, "me")
		}},
	{name: "Push", calls: "Push https://user:secret@host.example/a/b.git", stored: `"workspace":{"event":"pushed","by":"me"}`, idle: true,
		want: `{"remote":"origin","branch":"wt/x","output":"pushed"}`, again: `{"remote":"origin","branch":"wt/x"`,
		do: func(c *stage, key string) (any, error) {
			return Of[Workspaces](c.Sessions).Push(c.Context(), api.WorkspacePushParams{SessionID: c.id, Idempotency: api.Idempotency{Key: key}, URL: "https://host.example/a/b.git"}, "me")
		}},
	{name: "Comment", stored: `"review":{"comments":[{"id":"c-`, want: `"file":"f","from":13,"to":13,"side":"new","hunk":"10.2.h","code":["z"],"text":"Why?","by":"me","state":"open"}}`, again: `"text":"Why?"`,
		do: func(c *stage, key string) (any, error) {
			return Of[Reviews](c.Sessions).Comment(c.Context(), api.ReviewCommentParams{SessionID: c.id, Idempotency: api.Idempotency{Key: key}, File: "f", From: 13, Hunk: "10.2.h", Text: " Why? "}, "me")
		}},
	{name: "Send", stored: `"state":"sent"`, want: `"sent":["c-0"],"stale":[{"id":"c-9"`, again: `"sent":[],"stale":[]`,
		do: func(c *stage, key string) (any, error) {
			return Of[Reviews](c.Sessions).Send(c.Context(), api.ReviewSendParams{SessionID: c.id, Idempotency: api.Idempotency{Key: key}, Text: "Look:"}, "me")
		}},
}

// prepared returns a stage for a fileChange: with two reverts, and two comments, one of them on
// lines that no longer exist.
func (ch fileChange) prepared(t *testing.T) (*stage, *forest) {
	t.Helper()
	c, f := filesStage(t, worktree())
	f.diffs["x y"] = f.diffs["a b"]
	one := taken{WorkspaceReverted: api.WorkspaceReverted{ID: "r-1", File: "f", Hunk: "old", TurnID: "t1"}, Before: "x", After: "y"}
	two := taken{WorkspaceReverted: api.WorkspaceReverted{ID: "r-2", File: "o"}, Before: "v", After: "w"}
	good := comment{ReviewComment: api.ReviewComment{ID: "c-0", File: "f", From: 13, To: 13, Side: "new", Hunk: "10.2.h", Code: []string{"z"}, Text: "Why?", State: commentOpen, ResolvedBy: "old"}}
	stale := good
	stale.ID, stale.Code = "c-9", []string{"gone"}
	err := c.with(t.Context(), c.id, func(a *actor) error {
		fs := &facts{}
		if ch.name == "Restore" {
			fs.Taken = &[]taken{one, two}
		}
		if ch.name == "Send" {
			fs.Comments = []comment{good, stale}
		}
		return a.commit(a.core.reviewDraft(fs))
	})
	if err != nil {
		t.Fatal(err)
	}
	f.take()
	return c, f
}

// TestWorkspaces_change checks each change: it is made once for its key, the log records it with
// its author, it is refused while a turn may change the files, and it is not reported if a call of
// the machine fails.
func TestWorkspaces_change(t *testing.T) {
	short.SkipQuick(t, "runs git many times")
	for _, ch := range fileChanges {
		t.Run(ch.name, func(t *testing.T) {
			c, f := ch.prepared(t)
			n, _ := c.records(0)
			got, err := ch.do(c, "key")
			if err != nil || !strings.Contains(asText(got), ch.want) {
				t.Errorf("it returns %s, %v, want %s", asText(got), err, ch.want)
			}
			if calls := f.take(); calls != ch.calls {
				t.Errorf("the tree was called with %q, want %q", calls, ch.calls)
			}
			m, records := c.records(n)
			if m == n || !strings.Contains(records, ch.stored) || !strings.Contains(records, `"key":"key"`) {
				t.Errorf("the log got\n%s\nwant %s with the key", records, ch.stored)
			}
			c.unloaded()
			if ch.name == "Send" { // its agent has ended meanwhile
				return
			}
			c.state() // so that it is loaded, which may write its state
			m, _ = c.records(0)
			again, err := ch.do(c, "key")
			if err != nil || !strings.Contains(asText(again), ch.again) {
				t.Errorf("the same call again returns %s, %v, want %s", asText(again), err, ch.again)
			}
			if calls := f.take(); calls != "" {
				t.Errorf("the same call again has called the tree with %q", calls)
			}
			if k, records := c.records(m); k != m {
				t.Errorf("the same call again wrote\n%s", records)
			}
		})
		t.Run(ch.name+" fails", func(t *testing.T) {
			c, f := ch.prepared(t)
			n, _ := c.records(0)
			if _, err := ch.do(c, ""); err != nil { // records the calls
				t.Fatal(err)
			}
			f.mu.Lock()
			called := slices.Clone(f.calls)
			f.mu.Unlock()
			for i, call := range called {
				name, _, _ := strings.Cut(call, " ")
				if name == "Head" || slices.ContainsFunc(called[:i], func(before string) bool { return strings.HasPrefix(before, name) }) {
					continue
				}
				c, f := ch.prepared(t)
				f.fail = name
				before := c.state()
				if _, err := ch.do(c, "key"); !errors.Is(err, errForest) {
					t.Errorf("%s fails: %v, want %v", name, err, errForest)
				}
				if name != "Commits" && !(ch.name == "Revert" && name == "Diff") && c.state() != before { // the change was made
					t.Errorf("%s fails, and the session has changed from\n%s\nto\n%s", name, before, c.state())
				}
			}
			if m, _ := c.records(n); m == n {
				t.Error("the call without a key wrote nothing")
			}
		})
		t.Run(ch.name+" during a turn", func(t *testing.T) {
			c, f := ch.prepared(t)
			if err := c.with(t.Context(), c.id, func(a *actor) error { return a.commit(a.core.stateDraft(Running)) }); err != nil {
				t.Fatal(err)
			}
			before := c.state()
			_, err := ch.do(c, "key")
			if (err != nil) != ch.idle {
				t.Errorf("it returns %v, want it refused: %v", err, ch.idle)
			}
			if ch.idle {
				if c.reason(ch.name, err, api.Conflict); f.take() != "" || c.state() != before {
					t.Error("the refused call has changed something")
				}
			}
		})
		t.Run(ch.name+" of another tenant", func(t *testing.T) {
			c, f := ch.prepared(t)
			c.visible = func(context.Context, string) bool { return false }
			if _, err := ch.do(c, "key"); err == nil || f.take() != "" {
				t.Errorf("it returns %v, want a refusal", err)
			}
		})
		t.Run(ch.name+" without a log", func(t *testing.T) {
			c, _ := ch.prepared(t)
			c.log.set("Append", errFault)
			if _, err := ch.do(c, "key"); !errors.Is(err, errFault) {
				t.Errorf("it returns %v, want %v", err, errFault)
			}
			c.log.set("Append", nil)
		})
	}
}

// TestWorkspaces_refused checks calls that name files, hunks or comments that do not exist.
func TestWorkspaces_refused(t *testing.T) {
	ws := func(c *stage) Workspaces { return Of[Workspaces](c.Sessions) }
	for name, tt := range map[string]struct {
		plain bool
		do    func(c *stage) error
		want  api.Reason // "" if the call succeeds
	}{
		"another target": {false, func(c *stage) error {
			_, err := ws(c).Merge(t.Context(), api.WorkspaceMergeParams{SessionID: c.id, Target: "other"}, "")
			return err
		}, api.Conflict},
		"another address": {false, func(c *stage) error {
			_, err := ws(c).Push(t.Context(), api.WorkspacePushParams{SessionID: c.id, URL: "https://other.example"}, "")
			return err
		}, api.InvalidParams},
		"the address with its password": {false, func(c *stage) error {
			_, err := ws(c).Push(t.Context(), api.WorkspacePushParams{SessionID: c.id, URL: "https://user:secret@host.example/a/b.git"}, "")
			return err
		}, api.InvalidParams},
		"a revert that is unknown": {false, func(c *stage) error {
			_, err := ws(c).Restore(t.Context(), api.WorkspaceRestoreParams{SessionID: c.id, ID: "r-9"}, "")
			return err
		}, api.InvalidParams},
		"a revert of a turn that is unknown": {false, func(c *stage) error {
			_, err := ws(c).Revert(t.Context(), api.WorkspaceRevertParams{SessionID: c.id, File: "f", WorkspaceScope: api.WorkspaceScope{Turn: "t9"}}, "")
			return err
		}, api.InvalidParams},
		"a revert against the last commit in the checkout": {true, func(c *stage) error {
			_, err := ws(c).Revert(t.Context(), api.WorkspaceRevertParams{SessionID: c.id, File: "f", WorkspaceScope: api.WorkspaceScope{Against: "head"}}, "")
			return err
		}, api.Conflict},
		"the same on request": {true, func(c *stage) error {
			_, err := ws(c).Revert(t.Context(), api.WorkspaceRevertParams{SessionID: c.id, File: "f", WorkspaceScope: api.WorkspaceScope{Against: "head"}, Checkout: true}, "")
			return err
		}, ""},
		"the same in a worktree": {false, func(c *stage) error {
			_, err := ws(c).Revert(t.Context(), api.WorkspaceRevertParams{SessionID: c.id, File: "f", WorkspaceScope: api.WorkspaceScope{Against: "head"}}, "")
			return err
		}, ""},
		"a revert of the session in the checkout": {true, func(c *stage) error {
			_, err := ws(c).Revert(t.Context(), api.WorkspaceRevertParams{SessionID: c.id, File: "f"}, "")
			return err
		}, ""},
		"a commit in the checkout": {true, func(c *stage) error {
			_, err := ws(c).Commit(t.Context(), api.WorkspaceCommitParams{SessionID: c.id, Message: "m"}, "")
			return err
		}, api.Conflict},
		"a comment on a file without changes": {false, func(c *stage) error {
			_, err := Of[Reviews](c.Sessions).Comment(t.Context(), api.ReviewCommentParams{SessionID: c.id, File: "none", From: 1, Hunk: "10.2.h", Text: "x"}, "")
			return err
		}, api.Conflict},
		"a comment on another hunk": {false, func(c *stage) error {
			_, err := Of[Reviews](c.Sessions).Comment(t.Context(), api.ReviewCommentParams{SessionID: c.id, File: "f", From: 13, Hunk: "10.1.x", Text: "x"}, "")
			var stale *StaleFailure
			if !errors.As(err, &stale) || len(stale.Hunks) != 1 || stale.Hunks[0].ID != "10.2.h" {
				t.Errorf("the error is %v, want the hunk that is there", err)
			}
			return err
		}, api.Conflict},
		"a comment on lines that the hunk does not show": {false, func(c *stage) error {
			_, err := Of[Reviews](c.Sessions).Comment(t.Context(), api.ReviewCommentParams{SessionID: c.id, File: "f", From: 13, To: 15, Hunk: "10.2.h", Text: "x"}, "")
			return err
		}, api.InvalidParams},
		"a comment on the old side": {false, func(c *stage) error {
			r, err := Of[Reviews](c.Sessions).Comment(t.Context(), api.ReviewCommentParams{SessionID: c.id, File: "f", From: 11, Side: "old", Hunk: "10.2.h", Text: "x"}, "")
			if !slices.Equal(r.Comment.Code, []string{"y"}) {
				t.Errorf("its lines are %q, want the removed one", r.Comment.Code)
			}
			return err
		}, ""},
		"comments without an open one": {false, func(c *stage) error {
			_, err := Of[Reviews](c.Sessions).Send(t.Context(), api.ReviewSendParams{SessionID: c.id}, "")
			return err
		}, api.Conflict},
	} {
		t.Run(name, func(t *testing.T) {
			o := worktree()
			if tt.plain {
				o.Params.WorkspaceID = ""
			}
			c, f := filesStage(t, o)
			before := c.state()
			err := tt.do(c)
			if tt.want == "" {
				if err != nil {
					t.Errorf("it returns %v, want no error", err)
				}
				return
			}
			if c.reason(name, err, tt.want); f.take() != "" || c.state() != before {
				t.Error("the refused call has changed something")
			}
		})
	}
}

// TestCommit_own checks which files are committed in the user's checkout: the named ones, or those that the session has changed and that differ
// from the last commit.
func TestCommit_own(t *testing.T) {
	files := func(names ...string) (d workspace.Diff) {
		for _, name := range names {
			d.Files = append(d.Files, workspace.File{Path: name})
		}
		return d
	}
	for name, tt := range map[string]struct {
		named       []string
		since, head workspace.Diff
		want        string
	}{
		"named":              {[]string{"x"}, files("a"), files("b"), "Commit m [x] map[]"},
		"all":                {nil, files("a", "b", "c"), files("c", "d", "a"), "Commit m [a c] map[]"},
		"none of the others": {nil, files("a"), files("b"), ""},
	} {
		c, f := filesStage(t, Opened{Params: api.ConnectParams{CWD: "/d"}})
		f.diffs["a "], f.diffs["HEAD "] = tt.since, tt.head
		_, err := Of[Workspaces](c.Sessions).Commit(t.Context(), api.WorkspaceCommitParams{SessionID: c.id, Message: "m", Files: tt.named, Checkout: true}, "")
		if calls := f.take(); calls != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s: %q, %v, want %q", name, calls, err, tt.want)
		}
	}
}

// TestRevert_taken checks that a revert can be undone with the lines that it has changed, and that the oldest of too many is dropped.
func TestRevert_taken(t *testing.T) {
	c, _ := filesStage(t, worktree())
	full := make([]taken, maxTaken)
	for i := range full {
		full[i].ID = fmt.Sprint("r-", i)
	}
	if err := c.with(t.Context(), c.id, func(a *actor) error {
		return a.commit(a.core.workspaceDraft(api.WorkspaceEvent{Event: "reverted"}, &facts{Taken: &full}))
	}); err != nil {
		t.Fatal(err)
	}
	r, err := Of[Workspaces](c.Sessions).Revert(t.Context(), api.WorkspaceRevertParams{SessionID: c.id, WorkspaceScope: api.WorkspaceScope{Turn: "t1"}, File: "f", Hunk: "10.2.h"}, "me")
	if err != nil || len(r.Reverted) != maxTaken || r.Reverted[0].ID != "r-1" {
		t.Fatalf("%d reverts can be undone, %v, want %d without the oldest", len(r.Reverted), err, maxTaken)
	}
	last := r.Reverted[maxTaken-1]
	if !strings.HasPrefix(last.ID, "r-") || last.File != "f" || last.Hunk != "10.2.h" || last.TurnID != "t1" || last.From != 10 || last.To != 11 || last.Section != "func" {
		t.Errorf("the revert is %+v, want the lines 10 and 11 of f", last)
	}
	var is taken
	if err := c.with(t.Context(), c.id, func(a *actor) error { is = a.core.Taken[maxTaken-1]; return nil }); err != nil || is.Before != "before" || is.After != "now" {
		t.Errorf("it goes from %q to %q, %v, want before and now", is.Before, is.After, err)
	}
	if _, err := Of[Workspaces](c.Sessions).Commit(t.Context(), api.WorkspaceCommitParams{SessionID: c.id, Message: "m"}, ""); err != nil {
		t.Fatal(err)
	}
	if r, err := Of[Workspaces](c.Sessions).Diff(t.Context(), api.WorkspaceDiffParams{SessionID: c.id}); err != nil || len(r.Reverted) > 0 {
		t.Errorf("after a commit %d reverts can be undone, %v, want none", len(r.Reverted), err)
	}
}

// TestChanges_turn checks that a snapshot is taken before and after a turn, and that comments on
// lines that the agent has changed are resolved.
func TestChanges_turn(t *testing.T) {
	c, f := filesStage(t, worktree())
	touched := comment{ReviewComment: api.ReviewComment{ID: "c-0", File: "f", From: 13, To: 13, Side: "new", State: commentSent}, Tree: "before"}
	kept := touched
	kept.ID, kept.File = "c-1", "elsewhere"
	open := touched
	open.ID, open.State = "c-2", commentOpen
	if err := c.with(t.Context(), c.id, func(a *actor) error {
		return a.commit(a.core.reviewDraft(&facts{Comments: []comment{touched, kept, open}}))
	}); err != nil {
		t.Fatal(err)
	}
	f.trees = []string{"start", "now"}
	c.connect()
	id := c.turn("work")
	c.puppets.agent().result()
	c.inState(Idle)
	c.await("the end of the turn is in the log", func() bool { return c.has(`"event":"turn_ended"`, `"turn_id":"`+id+`"`, `"changed":true`) })
	var m mark
	var states []string
	if err := c.with(t.Context(), c.id, func(a *actor) error {
		m = a.core.Marks[len(a.core.Marks)-1]
		for _, o := range a.core.Comments {
			states = append(states, o.State+" "+o.ResolvedBy)
		}
		return nil
	}); err != nil || m != (mark{id, "start", "now"}) {
		t.Errorf("the turn is %+v, %v, want it from start to now", m, err)
	}
	if got := strings.Join(states, "; "); got != "resolved agent; sent ; open " {
		t.Errorf("the comments are %s, want the first resolved by the agent", got)
	}
	if err := Of[Workspaces](c.Sessions).Removed(t.Context(), c.id, "me"); err != nil || !c.has(`"workspace":{"event":"removed","by":"me"}`) {
		t.Errorf("a worktree that is removed: %v, want it in the log", err)
	}
}

// TestWorkspaces_leave checks that a session leaves its directory, and during a turn only if that
// is forced.
func TestWorkspaces_leave(t *testing.T) {
	for _, busy := range []bool{false, true} {
		for _, force := range []bool{false, true} {
			c, _ := filesStage(t, worktree())
			c.connect()
			if busy {
				c.turn("work")
			}
			err := Of[Workspaces](c.Sessions).Leave(t.Context(), c.id, force)
			if busy && !force {
				c.reason("a turn that runs", err, api.Conflict)
				continue
			}
			if err != nil {
				t.Errorf("busy %v, forced %v: %v", busy, force, err)
			}
			c.inState(Ended)
		}
	}
}

// TestWorkspaceFailure checks the reason of each error of the files.
func TestWorkspaceFailure(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want api.Reason
	}{
		{workspace.ErrNoGit, api.Unsupported}, {workspace.ErrInvalid, api.InvalidParams}, {workspace.ErrNotFound, api.InvalidParams}, {workspace.ErrExists, api.Conflict}, {workspace.ErrNothing, api.Conflict},
		{workspace.ErrUnsafe, api.Conflict}, {workspace.ErrFilter, api.Conflict}, {workspace.ErrLoss, api.Conflict}, {&workspace.LossError{}, api.Conflict}, {&workspace.StaleError{}, api.Conflict}, {context.DeadlineExceeded, api.TooSlow},
		{&workspace.SetupError{Output: "said", Err: errForest}, api.Conflict}, {&workspace.ConflictError{Target: "main"}, api.Conflict}, {&workspace.GitError{Output: "said"}, api.Conflict}, {Fail(api.NotOwner, "x"), api.NotOwner}, {errForest, InternalError},
	} {
		err := WorkspaceFailure(fmt.Errorf("doing: %w", tt.err))
		if got := FailureOf(err).Reason; got != tt.want {
			t.Errorf("%v is %s, want %s", tt.err, got, tt.want)
		}
		if said := strings.Contains(fmt.Sprint(tt.err), "said") || tt.want == api.Conflict && errors.As(tt.err, new(*workspace.SetupError)); said && !strings.Contains(FailureOf(err).Message, "said") {
			t.Errorf("the failure %q lacks the output", FailureOf(err).Message)
		}
	}
	if WorkspaceFailure(nil) != nil {
		t.Error("no error has become one")
	}
}
