// Package workspace creates separate git worktrees for sessions, and shows, reverts and commits the
// changes in them.
//
// A [Manager] owns a data directory with worktrees, private indexes and a record for each worktree.
// [Manager.Create] creates a worktree on a branch and runs a setup command in it; [Manager.Remove]
// removes it if no work would be lost. A [Tree] is any directory with git, a worktree of the manager
// or a user's checkout. [Tree.Snapshot] stores the state of its files, [Tree.Diff] compares two
// states by file and hunk, [Tree.Revert] reverts a hunk or a file, [Tree.Commit] commits, [Tree.Merge]
// merges the branch into the one at which it started, and [Tree.Push] pushes it.
//
// # Unchanged parts
//
// All operations use the user's git. Snapshots use an index in the data directory, so that the user's
// checkout, index, stash, branches and configuration stay unchanged, byte for byte. Only
// [Tree.Commit] writes an index, and runs hooks and signs as the user has configured; [Tree.Merge]
// changes the target and its checkout;
// [Manager.Create] adds a branch and a worktree, and runs the hook post-checkout. Refs below
// refs/parley protect the trees of snapshots from git gc.
//
// # Programs of a repository
//
// An agent can write the configuration of the repository that it works in, and git runs programs
// from the configuration: filters, hooks, a file system monitor, external diffs, merge drivers,
// signers, helpers for credentials. Git does not run them here unless [Options.Trust] allows it for
// the current [Programs] of the repository. Programs that the user and the system have configured
// are run, also instead of the repository's. A file that needs a filter of the repository is
// omitted from a snapshot ([NeedsFilter]), and [Tree.Commit] and [Tree.Revert] return [ErrFilter].
//
// [Tree.Push] does not read the repository's configuration, except for the address, which the caller
// confirms.
//
// The configuration is read before each operation. A program that an agent adds while git runs is not
// detected.
//
// # Crash safety
//
// Each change is a sequence of atomic steps. A worktree has a record before git creates it; a file is
// replaced by a rename; a worktree is moved to the trash before it is removed. [Open] finishes or
// undoes the incomplete changes of a killed process. Git processes hold the manager's lock, so that
// Open waits until they have ended too, and then removes the locks of killed git processes on the
// manager's files.
//
// # Foreign input
//
// Names from a caller never begin with a dash, paths stay below the directory, no symbolic link is
// followed for writing, and paths in .git are rejected. Git gets an environment from an allow-list.
// Outputs, files and diffs have limits; omissions are reported.
package workspace
