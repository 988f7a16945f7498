package place

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/workspace"
)

// Local is the part of this machine below the offered directories.
type Local struct {
	// Roots are the offered directories, without symbolic links. Only files below them and in the worktrees are
	// accessible, except for Tree and Forget.
	Roots []string
	// Manager manages the worktrees.
	Manager *workspace.Manager
	// Agents are the agents that have a history. Confined hides sessions of other directories, makes the histories
	// read-only, and limits Tree and Forget to the roots and the worktrees.
	Agents   []agent.Provider
	Confined bool
	// Mark returns the mark in the environment of a session's agent, see [ports.Variable], or "" before its start. It may
	// be nil if no agent has one.
	Mark func(session string) string
}

var _ Place = (*Local)(nil)

// Dir returns the path of a directory below the roots, or of a worktree, without symbolic links. The error does not tell whether a
// directory outside of them exists.
func (l *Local) Dir(dir string) (string, error) {
	refused := fail(api.AuthFailed, "directory %q is not one that sessions may run in", dir)
	if strings.ContainsRune(dir, 0) {
		return "", refused
	}
	if !filepath.IsAbs(dir) {
		return "", fail(api.InvalidParams, "directory %q is not absolute", dir)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", refused
	}
	for _, root := range l.Roots {
		if within(root, real) {
			return real, nil
		}
	}
	if l.Manager.Holds(real) {
		return real, nil
	}
	return "", refused
}

// within reports whether a path is a directory or below it. Both are clean and absolute.
func within(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}

// root opens a directory. No path or symbolic link leads out of the returned root.
func (l *Local) root(dir string) (*os.Root, error) {
	real, err := l.Dir(dir)
	if err != nil {
		return nil, err
	}
	return os.OpenRoot(real)
}

// sessionDir returns the directory of a session. Only a confined machine checks it: on others it was checked when the
// session started, and changes stay accessible when the roots are different later.
func (l *Local) sessionDir(dir string) (string, error) {
	if !l.Confined {
		return dir, nil
	}
	return l.Dir(dir)
}

// Tree opens a directory of a git repository. It can be outside of the roots if Confined is not set.
func (l *Local) Tree(ctx context.Context, dir, owner string) (Tree, error) {
	real, err := l.sessionDir(dir)
	if err != nil {
		return nil, err
	}
	t, err := l.Manager.Tree(ctx, real, owner)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Forget releases the snapshots of an owner. The directory can be outside of the roots if Confined is not set.
func (l *Local) Forget(ctx context.Context, dir, owner string) error {
	real, err := l.sessionDir(dir)
	if err != nil {
		return err
	}
	t, err := l.Manager.Tree(ctx, real, owner)
	if err != nil {
		return err
	}
	return l.Manager.Forget(ctx, t.Top(), owner)
}

// Create creates a worktree.
func (l *Local) Create(ctx context.Context, o workspace.CreateOptions) (workspace.Workspace, error) {
	if l.Confined && o.Setup != "" {
		return workspace.Workspace{}, fail(api.Unsupported, "this machine runs no setup command of another one")
	}
	real, err := l.Dir(o.Repo)
	if err != nil {
		return workspace.Workspace{}, err
	}
	o.Repo = real
	return l.Manager.Create(ctx, o)
}

// Get returns a worktree.
func (l *Local) Get(_ context.Context, id string) (workspace.Workspace, error) {
	return l.Manager.Get(id)
}

// List returns all worktrees.
func (l *Local) List(context.Context) ([]workspace.Workspace, error) { return l.Manager.List() }

// Remove removes a worktree.
func (l *Local) Remove(ctx context.Context, id string, o workspace.RemoveOptions) error {
	return l.Manager.Remove(ctx, id, o)
}
