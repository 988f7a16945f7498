// Package workspace gives sessions git worktrees of their own, and shows, takes back and
// commits what was changed in them.
//
// A [Manager] owns a data directory with worktrees, private indexes and a record for each
// worktree. [Manager.Create] makes a worktree on a branch and runs a setup command in it;
// [Manager.Remove] removes it when nothing would be lost. A [Tree] is any directory with
// git, a worktree of the manager or a user's checkout. [Tree.Snapshot] keeps the state of
// its files, [Tree.Diff] compares two states by file and hunk, [Tree.Revert] takes a hunk
// or a file back, and [Tree.Commit] commits.
//
// # What is left alone
//
// Everything is done by the user's own git. Snapshots go through an index in the data
// directory, so that the user's checkout, index, stash, branches and configuration stay as
// they are, byte for byte. Only [Tree.Commit] writes an index, and runs hooks and signs as the
// user has configured; [Manager.Create] adds a branch and a worktree, and runs the hook
// post-checkout. Trees that snapshots name are kept from git gc by refs below refs/parley.
//
// # Programs of a repository
//
// An agent can write the configuration of the repository that it works in, and git runs programs
// that the configuration names: filters, hooks, a file system monitor, external diffs, merge drivers,
// signers, helpers for credentials. Git runs none of them here unless [Options.Trust] allows it for
// the [Programs] that the repository has at that time. Those that the user and the system have
// configured are run, also in place of the repository's. A file that needs a filter of the repository
// is left out of a snapshot ([NeedsFilter]), and [Tree.Commit] and [Tree.Revert] return [ErrFilter].
//
// The configuration is read before each operation. A program that an agent adds while git runs is not
// known then.
//
// # Killed at any point
//
// Each change is an order of steps in which every step is atomic. A worktree has a record
// before git makes it; a file is replaced by a rename; a worktree that is removed is moved
// aside first. [Open] finishes or undoes what a killed process has left. Git's own
// processes hold the manager's lock, so that Open waits until they have ended too, and then
// removes the locks that those which were killed have left on what is the manager's own.
//
// # Foreign input
//
// Names that a caller gives never begin with a dash, paths stay below the directory, no
// symbolic link is followed for writing, and nothing in .git can be named. Git gets an
// environment from an allow-list. Outputs, files and diffs have bounds; what is left out
// is said.
package workspace
