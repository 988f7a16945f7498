package place

import (
	"context"
	"fmt"
	"net"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/ports"
	"github.com/seed7221b0f9/parley/workspace"
)

// Place is the files, the worktrees and the history of a machine. Directories are absolute paths on it. Its methods may be called from any
// goroutine.
type Place interface {
	// Search finds files below a directory with paths that contain the letters of the query.
	Search(ctx context.Context, dir, query string, limit int) ([]api.FileInfo, error)
	// Read reads lines of a file below a directory; a nil range is the whole file.
	Read(ctx context.Context, dir, path string, lines *api.LineRange) (api.FilesReadResult, error)
	// Projects lists folders in which a session can start.
	Projects(ctx context.Context, q ProjectsQuery) (api.ProjectsListResult, error)
	// Tree opens a directory of a git repository, as [workspace.Manager.Tree] does.
	Tree(ctx context.Context, dir, owner string) (Tree, error)
	// Forget releases the snapshots of an owner, see [workspace.Manager.Forget].
	Forget(ctx context.Context, dir, owner string) error
	// Create creates a worktree, see [workspace.Manager.Create].
	Create(ctx context.Context, o workspace.CreateOptions) (workspace.Workspace, error)
	// Get returns a worktree.
	Get(ctx context.Context, id string) (workspace.Workspace, error)
	// List returns all worktrees.
	List(ctx context.Context) ([]workspace.Workspace, error)
	// Remove removes a worktree, see [workspace.Manager.Remove].
	Remove(ctx context.Context, id string, o workspace.RemoveOptions) error
	// Histories returns the histories of the agents, in a constant order.
	Histories(ctx context.Context) ([]History, error)
	// Ports lists the ports on which the processes of a session's agent listen, by number. It returns nil before the agent has started.
	Ports(ctx context.Context, session string) ([]ports.Port, error)
	// DialPort connects to such a port. It returns an error for a port on which other processes listen, or no process does.
	DialPort(ctx context.Context, session string, port int) (net.Conn, error)
	// Usage returns the usage of the agents' past sessions.
	Usage(ctx context.Context, q agent.UsageQuery) ([]agent.Usage, error)
}

// Tree is a directory of a git repository. Its methods correspond to those of [workspace.Tree].
type Tree interface {
	Head(ctx context.Context) (commit, branch string)
	Snapshot(ctx context.Context) (workspace.State, error)
	Diff(ctx context.Context, from, to string) (workspace.Diff, error)
	Commits(ctx context.Context, base string) ([]workspace.Commit, error)
	Revert(ctx context.Context, o workspace.RevertOptions) (workspace.State, error)
	Commit(ctx context.Context, o workspace.CommitOptions) (workspace.Committed, error)
	Branch(ctx context.Context) (workspace.Branch, error)
	Merge(ctx context.Context) (workspace.Merged, error)
	Push(ctx context.Context, url string) (workspace.Pushed, error)
}

var _ Tree = (*workspace.Tree)(nil)

// History is the history of the agent with this name.
type History struct {
	Agent string
	agent.History
}

// ProjectsQuery selects folders. Recent lists folders of sessions, newest first; folders that do not exist are ignored.
// Path selects a single folder, with its branches. A Limit of 0 means the maximum.
type ProjectsQuery struct {
	Query, Path string
	Recent      []string
	Limit       int
}

// Error is an error with a reason that programs can check and a text for people.
type Error struct {
	Reason api.Reason
	Text   string
}

// Error returns the text for the caller.
func (e *Error) Error() string { return e.Text }

// fail returns an [*Error].
func fail(reason api.Reason, format string, args ...any) error {
	return &Error{reason, fmt.Sprintf(format, args...)}
}
