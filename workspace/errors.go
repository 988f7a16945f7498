package workspace

import (
	"errors"
	"fmt"
	"strings"
)

// ErrNoGit is returned for a directory that is not in a git working tree.
var ErrNoGit = errors.New("workspace: the directory is not in a git working tree")

// ErrNotFound is returned when a workspace, a commit, or a changed file does not exist.
var ErrNotFound = errors.New("workspace: not found")

// ErrInvalid is returned for an invalid name, path or message, before it is passed to git.
var ErrInvalid = errors.New("workspace: invalid")

// ErrExists is returned by [Manager.Create] when the branch to create exists, because it never
// moves an existing branch.
var ErrExists = errors.New("workspace: the branch exists")

// ErrNothing is returned by [Tree.Commit] when there are no changes to commit, and by [Tree.Revert]
// when a file is unchanged.
var ErrNothing = errors.New("workspace: nothing has changed")

// ErrStale is returned, as a [*StaleError], when the named hunk no longer exists because the file
// has changed since.
var ErrStale = errors.New("workspace: the hunk has changed")

// ErrUnsafe is returned when a change would have to follow a symbolic link, or would affect a file
// of a kind that cannot be restored.
var ErrUnsafe = errors.New("workspace: the file cannot be changed safely")

// ErrLoss is returned by [Manager.Remove], as a [*LossError], when removing the workspace would lose
// work and RemoveOptions.Force is not set.
var ErrLoss = errors.New("workspace: work would be lost")

// ErrFilter is returned when a file needs a filter of the repository, such as that of Git LFS
// installed with --local, and [Options.Trust] does not allow it. The file would be committed or
// written with wrong content.
var ErrFilter = errors.New("workspace: a filter of the repository is not trusted")

// StaleError is returned when a hunk no longer exists. Hunks are the current ones at its position,
// empty if its lines equal the base again.
type StaleError struct {
	File  string
	Hunk  string
	Hunks []Hunk
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("workspace: hunk %s of %s has changed since it was shown", e.Hunk, e.File)
}

// Is makes errors.Is(err, ErrStale) true for every error of this type.
func (e *StaleError) Is(target error) bool { return target == ErrStale }

// LossError is returned when work would be lost if the workspace were removed. Files and Commits
// list at most 20 each; More is set if there are others.
type LossError struct {
	Files   []string // with uncommitted changes, or untracked
	Commits []string // that no other branch, tag or remote has
	More    bool
}

func (e *LossError) Error() string {
	var parts []string
	if len(e.Files) > 0 {
		parts = append(parts, "changes that are not committed: "+strings.Join(e.Files, ", "))
	}
	if len(e.Commits) > 0 {
		parts = append(parts, "commits that no other branch has: "+strings.Join(e.Commits, ", "))
	}
	if e.More {
		parts = append(parts, "and more")
	}
	return "workspace: removing would lose " + strings.Join(parts, "; ")
}

// Is makes errors.Is(err, ErrLoss) true for every error of this type.
func (e *LossError) Is(target error) bool { return target == ErrLoss }

// SetupError is returned by [Manager.Create] when the setup command of a new workspace failed. The
// workspace was removed again. Output is at most the last 64 KiB of the command's output.
type SetupError struct {
	Output string
	Err    error
}

func (e *SetupError) Error() string {
	return fmt.Sprintf("workspace: the setup command failed: %v", e.Err)
}

// Unwrap returns the error of the command, which may be that of its context.
func (e *SetupError) Unwrap() error { return e.Err }

// GitError is returned when a git command fails, with its output. This includes a commit that a hook
// rejected.
type GitError struct {
	Command string
	Exit    int
	Output  string
}

func (e *GitError) Error() string {
	return fmt.Sprintf("workspace: git %s failed (exit %d): %s", e.Command, e.Exit, strings.TrimSpace(e.Output))
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalid, fmt.Sprintf(format, args...))
}
