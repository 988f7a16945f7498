// Package place provides the files, worktrees and history of a machine: this machine, or one that has joined the
// server.
//
// [Local] does the work. [Remote] passes each call to another machine, where [Serve] answers it with a Local. That machine checks every
// call itself: it reads and changes only files below the directories that it offers, runs no program that a caller names, and runs the
// programs of a repository only as [workspace.Options] allows.
package place
