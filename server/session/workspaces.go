package session

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/place"
	"github.com/seed7221b0f9/parley/workspace"
)

// Workspaces are the calls about the files of sessions.
type Workspaces struct{ *Sessions }

// StaleFailure is a conflict about a hunk, with the current hunks at its position.
type StaleFailure struct {
	*Failure
	Hunks []api.WorkspaceHunk
}

// Unwrap returns the failure.
func (f *StaleFailure) Unwrap() error { return f.Failure }

// workspaceReasons are the reasons of errors of package workspace.
var workspaceReasons = reasonTable{
	{workspace.ErrNoGit, api.Unsupported},
	{workspace.ErrInvalid, api.InvalidParams},
	{workspace.ErrNotFound, api.InvalidParams},
	{workspace.ErrExists, api.Conflict},
	{workspace.ErrNothing, api.Conflict},
	{workspace.ErrUnsafe, api.Conflict},
	{workspace.ErrFilter, api.Conflict},
	{workspace.ErrLoss, api.Conflict},
	{context.DeadlineExceeded, api.TooSlow},
}

// WorkspaceFailure converts an error of package workspace for the caller. It includes the output of
// git, its hooks and setup commands.
func WorkspaceFailure(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*workspace.StaleError](err); ok {
		return &StaleFailure{&Failure{api.Conflict, e.Error()}, wireHunks(e.Hunks)}
	}
	if r := workspaceReasons.of(err); r != "" {
		return Fail(r, "%v", err)
	}
	if e, ok := errors.AsType[*workspace.SetupError](err); ok {
		return Conflict("%v\n%s", e, e.Output)
	}
	if e, ok := errors.AsType[*workspace.ConflictError](err); ok {
		return Conflict("%v", e)
	}
	if e, ok := errors.AsType[*workspace.GitError](err); ok {
		return Conflict("%v", e)
	}
	return err
}

// files holds the files of a session for one call.
type files struct {
	a    *actor
	tree place.Tree
	ws   *workspace.Workspace // nil for a user's directory
	core core                 // as of the start of the call
}

// files opens the files of a session for a call with an optional idempotency key. The caller must call release.
func (s *Sessions) files(ctx context.Context, session, key string) (f *files, release func(), err error) {
	unlock, err := s.keys.lock(ctx, session, key)
	if err != nil {
		return nil, nil, err
	}
	a, end, err := s.use(ctx, session)
	if err != nil {
		unlock()
		return nil, nil, err
	}
	release = func() {
		end()
		unlock()
	}
	f = &files{a: a}
	if err = a.changes.looked(ctx); err == nil {
		err = a.call(ctx, func() error { f.core = a.core.clone(); return nil })
	}
	if err == nil {
		err = f.open(ctx, s)
	}
	if err != nil {
		release()
		return nil, nil, WorkspaceFailure(err)
	}
	return f, release, nil
}

func (f *files) open(ctx context.Context, s *Sessions) error {
	at, err := s.Place(f.core.Opened.Params.Machine)
	if err != nil {
		return err
	}
	if id := f.core.Opened.Params.WorkspaceID; id != "" {
		w, err := at.Get(ctx, id)
		if err != nil {
			return err
		}
		f.ws = &w
	}
	f.tree, err = at.Tree(ctx, f.core.Opened.Dir, f.core.ID)
	return err
}

// base returns the commit at which the workspace started; empty without one.
func (f *files) base() string {
	if f.ws == nil {
		return ""
	}
	return f.ws.Base
}

// idle returns an error while a turn runs, because it may change files.
func (f *files) idle() error {
	if f.core.State.busy() {
		return Conflict("a turn runs; interrupt it or wait for its end")
	}
	return nil
}

// compare compares the two states of a scope.
func (f *files) compare(ctx context.Context, scope api.WorkspaceScope) (workspace.Diff, error) {
	from, to, ok, err := f.core.scope(f.base(), scope)
	if err != nil || !ok {
		return workspace.Diff{}, err
	}
	d, err := f.tree.Diff(ctx, from, to)
	return d, WorkspaceFailure(err)
}

// Diff returns the changes in the files of a session.
func (s Workspaces) Diff(ctx context.Context, p api.WorkspaceDiffParams) (api.WorkspaceDiffResult, error) {
	f, release, err := s.files(ctx, p.SessionID, "")
	if err != nil {
		return api.WorkspaceDiffResult{}, err
	}
	defer release()
	return f.diff(ctx, s.Sessions, p.WorkspaceScope, p.Path)
}

func (f *files) diff(ctx context.Context, s *Sessions, scope api.WorkspaceScope, path string) (api.WorkspaceDiffResult, error) {
	d, err := f.compare(ctx, scope)
	if err != nil {
		return api.WorkspaceDiffResult{}, err
	}
	result := api.WorkspaceDiffResult{WorkspaceScope: scope, Base: d.From, Files: []api.WorkspaceFile{}, Truncated: d.Truncated}
	result.Head, result.Branch = f.tree.Head(ctx)
	for _, file := range d.Files {
		if path == "" || file.Path == path {
			result.Files = append(result.Files, wireFile(file))
		}
	}
	for _, l := range d.Left {
		result.LeftOut = append(result.LeftOut, api.WorkspaceLeft{Path: l.Path, Size: l.Size, Why: l.Why})
	}
	for _, r := range f.core.Taken {
		result.Reverted = append(result.Reverted, r.WorkspaceReverted)
	}
	for _, m := range f.core.Marks {
		result.Turns = append(result.Turns, api.WorkspaceTurn{TurnID: m.Turn, Ended: m.End != "", Changed: m.End != "" && m.Start != m.End})
	}
	if f.ws != nil {
		result.Workspace = s.WireWorkspace(f.core.Opened.Params.Machine, *f.ws)
		commits, err := f.tree.Commits(ctx, f.ws.Base)
		if err != nil {
			return api.WorkspaceDiffResult{}, WorkspaceFailure(err)
		}
		for _, c := range commits {
			result.Commits = append(result.Commits, api.WorkspaceCommit{Commit: c.ID, Subject: c.Subject, Author: c.Author, Time: c.Time})
		}
	}
	return result, nil
}

// Revert reverts changes in the files of a session.
func (s Workspaces) Revert(ctx context.Context, p api.WorkspaceRevertParams, by string) (api.WorkspaceDiffResult, error) {
	f, release, err := s.files(ctx, p.SessionID, p.Key)
	if err != nil {
		return api.WorkspaceDiffResult{}, err
	}
	defer release()
	if _, done := f.core.accepted(p.Key); done {
		return f.diff(ctx, s.Sessions, p.WorkspaceScope, "")
	}
	if err := f.idle(); err != nil {
		return api.WorkspaceDiffResult{}, err
	}
	if p.Against == "head" && f.ws == nil && !p.Checkout {
		return api.WorkspaceDiffResult{}, Conflict("the session runs in your own checkout, where this would also revert your own changes; set checkout to allow it")
	}
	from, to, ok, err := f.core.scope(f.base(), p.WorkspaceScope)
	if err == nil && !ok {
		err = Conflict("no changes")
	}
	if err != nil {
		return api.WorkspaceDiffResult{}, err
	}
	ctx, cancel := s.Undisturbed(ctx)
	defer cancel()
	before, err := f.tree.Revert(ctx, workspace.RevertOptions{From: from, To: to, File: p.File, Hunk: p.Hunk})
	if err != nil {
		return api.WorkspaceDiffResult{}, WorkspaceFailure(err)
	}
	all, err := f.took(ctx, p, before.Tree)
	if err != nil {
		return api.WorkspaceDiffResult{}, err
	}
	err = f.tell(ctx, api.WorkspaceEvent{Event: "reverted", TurnID: p.Turn, File: p.File, Hunk: p.Hunk, By: by}, p.Key, &all)
	if err != nil {
		return api.WorkspaceDiffResult{}, err
	}
	return f.diff(ctx, s.Sessions, p.WorkspaceScope, "")
}

// tell writes a change to the log, with the idempotency key of the request and the reverts that can
// be undone after it; nil leaves the reverts unchanged.
func (f *files) tell(ctx context.Context, ev api.WorkspaceEvent, key string, all *[]taken) error {
	return f.a.call(ctx, func() error {
		fs := &facts{Taken: all}
		if all != nil {
			f.core.Taken = *all
		}
		if key != "" {
			fs.Key = &accepted{Key: key, Value: ev.Commit}
		}
		return f.a.commit(f.a.core.workspaceDraft(ev, fs))
	})
}

// Commit commits the changes of a session.
func (s Workspaces) Commit(ctx context.Context, p api.WorkspaceCommitParams, by string) (api.WorkspaceCommitResult, error) {
	f, release, err := s.files(ctx, p.SessionID, p.Key)
	if err != nil {
		return api.WorkspaceCommitResult{}, err
	}
	defer release()
	if k, done := f.core.accepted(p.Key); done {
		return api.WorkspaceCommitResult{Commit: k.Value, Files: []string{}}, nil
	}
	if err := f.idle(); err != nil {
		return api.WorkspaceCommitResult{}, err
	}
	ctx, cancel := s.Undisturbed(ctx)
	defer cancel()
	o := workspace.CommitOptions{Message: p.Message, Files: p.Files, Hunks: p.Hunks}
	if p.Trailer {
		o.Session = p.SessionID
	}
	if f.ws == nil {
		if !p.Checkout {
			return api.WorkspaceCommitResult{}, Conflict("the session runs in your own checkout; set checkout to commit there")
		}
		if o.Files, err = f.own(ctx, p.Files); err != nil {
			return api.WorkspaceCommitResult{}, err
		}
	}
	done, err := f.tree.Commit(ctx, o)
	if err != nil {
		return api.WorkspaceCommitResult{}, WorkspaceFailure(err)
	}
	err = f.tell(ctx, api.WorkspaceEvent{Event: "committed", Commit: done.Commit, Files: done.Files, By: by}, p.Key, &[]taken{})
	return api.WorkspaceCommitResult{Commit: done.Commit, Branch: done.Branch, Files: done.Files, Output: done.Output}, err
}

// own returns the files to commit in the user's checkout: the named ones, or all that have changed
// since the start of the session and differ from HEAD. Earlier changes of the user are not
// committed.
func (f *files) own(ctx context.Context, named []string) ([]string, error) {
	if named != nil {
		return named, nil
	}
	since, err := f.compare(ctx, api.WorkspaceScope{})
	if err != nil {
		return nil, err
	}
	now, err := f.compare(ctx, api.WorkspaceScope{Against: "head"})
	if err != nil {
		return nil, err
	}
	own := []string{}
	for _, file := range since.Files {
		if slices.ContainsFunc(now.Files, func(o workspace.File) bool { return o.Path == file.Path }) {
			own = append(own, file.Path)
		}
	}
	if len(own) == 0 {
		return nil, Conflict("the session has no changes to commit")
	}
	return own, nil
}

// Leave ends the agent of a session before its directory is removed.
func (s Workspaces) Leave(ctx context.Context, session string, force bool) error {
	a, release, err := s.use(ctx, session)
	if err != nil {
		return err
	}
	defer release()
	err = a.call(ctx, func() error {
		if a.core.State.busy() && !force {
			return Conflict("a turn of session %s runs; interrupt it first", session)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return a.end(ctx)
}

// Removed tells a session that its workspace was removed.
func (s Workspaces) Removed(ctx context.Context, id, by string) error {
	return s.with(ctx, id, func(a *actor) error {
		return a.commit(a.core.workspaceDraft(api.WorkspaceEvent{Event: "removed", By: by}, nil))
	})
}

// WireWorkspace converts a workspace of a machine to package api.
func (s *Sessions) WireWorkspace(machine string, w workspace.Workspace) *api.Workspace {
	return &api.Workspace{ID: w.ID, Path: w.Path, Repo: w.Repo, Base: w.Base, Branch: w.Branch, Machine: machine, Sessions: s.WorkspaceUsers(w.ID)}
}

func wireFile(f workspace.File) api.WorkspaceFile {
	return api.WorkspaceFile{
		Path: f.Path, OldPath: f.OldPath, Kind: f.Kind, OldMode: f.OldMode, NewMode: f.NewMode, OldSize: f.OldSize, NewSize: f.NewSize,
		Binary: f.Binary, Large: f.Large, Truncated: f.Truncated, Untracked: f.Untracked, Added: int64(f.Added), Removed: int64(f.Removed),
		Hunks: wireHunks(f.Hunks),
	}
}

func wireHunks(hunks []workspace.Hunk) []api.WorkspaceHunk {
	all := []api.WorkspaceHunk{}
	for _, h := range hunks {
		lines := make([]string, len(h.Lines))
		for i, line := range h.Lines {
			lines[i] = strings.ToValidUTF8(line, "�")
		}
		all = append(all, api.WorkspaceHunk{
			ID: h.ID, OldStart: int64(h.OldStart), OldLines: int64(h.OldLines), NewStart: int64(h.NewStart), NewLines: int64(h.NewLines), Section: h.Section, Lines: lines,
		})
	}
	return all
}
