package workspace

import (
	"errors"
	"fmt"
	"strings"
)

// ErrNoGit is returned for a directory that does not belong to a git working tree, so that
// nothing can be compared, taken back or committed in it.
var ErrNoGit = errors.New("workspace: the directory is not in a git working tree")

// ErrNotFound is returned when there is no workspace with the id, no such commit, or no such
// file among those that have changed.
var ErrNotFound = errors.New("workspace: not found")

// ErrInvalid is returned for a name, path or message that cannot be used, before git sees
// any of it.
var ErrInvalid = errors.New("workspace: invalid")

// ErrExists is returned by [Manager.Create] when the branch that it should create exists already,
// because no existing branch is moved.
var ErrExists = errors.New("workspace: the branch exists")

// ErrNothing is returned by [Tree.Commit] when there is nothing to commit, and by
// [Tree.Revert] when a file is as it was.
var ErrNothing = errors.New("workspace: nothing has changed")

// ErrStale is returned, as a [*StaleError], when the hunk that was named does not exist any more
// because the file has changed since.
var ErrStale = errors.New("workspace: the hunk has changed")

// ErrUnsafe is returned when a change would have to follow a symbolic link, or would touch a
// file of a kind that cannot be put back.
var ErrUnsafe = errors.New("workspace: the file cannot be changed safely")

// ErrLoss is returned by [Manager.Remove], as a [*LossError], when removing the workspace would lose
// work and RemoveOptions.Force is not set.
var ErrLoss = errors.New("workspace: work would be lost")

// ErrFilter is returned when a file needs a filter that the repository names, such as that of Git
// LFS installed with --local, and [Options.Trust] does not allow it. The file would be committed or
// written as it must not be.
var ErrFilter = errors.New("workspace: a filter of the repository is not trusted")

// StaleError is returned when a hunk does not exist any more. Hunks are those that are in its place
// now; there are none if its lines are the same as in the base again.
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
	Files   []string // with changes that are in no commit, or untracked
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
// workspace was removed again. Output is at most the last 64 KiB of what the command wrote.
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
// refused.
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
