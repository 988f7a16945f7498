package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// Tree is a directory in a git working tree: a worktree of the manager, a user's checkout, or a
// subdirectory. Paths of its files are relative to the directory, with slashes, and no file outside
// of it is shown or changed.
type Tree struct {
	m      *Manager
	dir    string // without symbolic links
	top    string // of the working tree
	common string // the repository
	index  string // the index of the working tree
	owner  string
	id     string // id of the workspace; empty for a checkout that is not the manager's
}

var validOwner = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_-]{0,99}$`)

// Tree opens a directory. owner is a word, such as the id of a session, under which git keeps the
// snapshots of the tree until [Manager.Forget] is called. It has at most 100 letters, digits,
// hyphens and underscores. For a workspace of the manager its id is used instead. The error is
// [ErrNoGit] for a directory that is not in a git working tree.
func (m *Manager) Tree(ctx context.Context, dir, owner string) (*Tree, error) {
	if !validOwner.MatchString(owner) {
		return nil, invalid("owner %q", owner)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("workspace: %w", err)
	}
	t := &Tree{m: m, dir: real, owner: owner}
	if t.top, err = m.toplevel(ctx, real); err != nil {
		return nil, err
	}
	out, err := m.git.line(ctx, real, "rev-parse", "--path-format=absolute", "--git-common-dir", "--git-path", "index")
	if err != nil {
		return nil, err
	}
	t.common, t.index, _ = strings.Cut(out, "\n")
	if parent, id := filepath.Split(real); filepath.Clean(parent) == filepath.Join(m.opts.Dir, treesDir) && validID.MatchString(id) {
		t.id, t.owner = id, id
	}
	return t, m.cleanRefs(t.common, t.owner)
}

// Top returns the top of the directory's working tree, without symbolic links.
func (t *Tree) Top() string { return t.top }

// Head returns the id of the checked out commit and its branch. The commit is empty before the
// first commit, and the branch is empty for a detached HEAD.
func (t *Tree) Head(ctx context.Context) (commit, branch string) {
	commit, _ = t.m.git.line(ctx, t.dir, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	branch, _ = t.m.git.line(ctx, t.dir, "symbolic-ref", "--quiet", "--short", "HEAD")
	return commit, branch
}

// toplevel returns the top of a directory's working tree.
func (m *Manager) toplevel(ctx context.Context, dir string) (string, error) {
	if !filepath.IsAbs(dir) {
		return "", invalid("directory %q is not absolute", dir)
	}
	if !belowGit(dir) {
		return "", fmt.Errorf("%w: %s", ErrNoGit, dir)
	}
	top, err := m.git.line(ctx, dir, "rev-parse", "--show-toplevel")
	if e, ok := errors.AsType[*GitError](err); ok {
		if strings.Contains(e.Output, "not a git repository") || strings.Contains(e.Output, "must be run in a work tree") {
			return "", fmt.Errorf("%w: %s", ErrNoGit, dir)
		}
	}
	if err != nil {
		return "", err
	}
	if err := checkTop(dir, filepath.FromSlash(top)); err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(filepath.FromSlash(top))
	if err != nil {
		return "", fmt.Errorf("workspace: %w", err)
	}
	return real, nil
}

// belowGit reports whether a directory, or a parent, has a .git. Otherwise git need not be called.
func belowGit(dir string) bool {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return false
		}
		dir = parent
	}
}

// hold locks a directory against other calls and returns the function to unlock it.
func (m *Manager) hold(dir string) func() {
	mu, _ := m.trees.LoadOrStore(dir, &sync.Mutex{})
	lock := mu.(*sync.Mutex)
	lock.Lock()
	return lock.Unlock
}

// refPrefix returns the prefix of the refs of an owner's snapshots.
func refPrefix(owner string) string { return "refs/parley/" + owner + "/" }

// keep protects a tree from git gc.
func (t *Tree) keep(ctx context.Context, tree string) error {
	_, err := t.m.git.line(ctx, t.dir, "update-ref", refPrefix(t.owner)+tree, tree)
	return err
}

// Forget releases the snapshots of an owner in the repository of a directory, so that git can
// delete them. Diffs against them may no longer work afterwards.
func (m *Manager) Forget(ctx context.Context, dir, owner string) error {
	if !validOwner.MatchString(owner) {
		return invalid("owner %q", owner)
	}
	return m.dropRefs(ctx, dir, owner)
}

func (m *Manager) dropRefs(ctx context.Context, repo, owner string) error {
	if missing(repo) {
		return nil // deleted with it
	}
	common, err := m.git.line(ctx, repo, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err == nil {
		err = m.cleanRefs(common, owner)
	}
	if err != nil {
		return err
	}
	out, err := m.git.line(ctx, repo, "for-each-ref", "--format=%(refname)", refPrefix(owner))
	if err != nil || out == "" {
		return err
	}
	var input strings.Builder
	for ref := range strings.SplitSeq(out, "\n") {
		input.WriteString("delete " + ref + "\n")
	}
	_, err = m.git.run(ctx, command{dir: repo, args: []string{"update-ref", "--stdin"}, stdin: strings.NewReader(input.String())})
	return err
}

// privateIndex returns the path of the index for snapshots of the tree.
func (t *Tree) privateIndex() string {
	sum := sha256.Sum256([]byte(t.dir))
	return filepath.Join(t.m.opts.Dir, indexDir, hex.EncodeToString(sum[:12]))
}

// checkPath rejects a path outside of the directory or inside .git.
func checkPath(path string) error {
	if path == "" || strings.ContainsRune(path, 0) || !filepath.IsLocal(filepath.FromSlash(path)) || filepath.ToSlash(filepath.Clean(filepath.FromSlash(path))) != path {
		return invalid("path %q", path)
	}
	for part := range strings.SplitSeq(path, "/") {
		if strings.EqualFold(part, ".git") || strings.EqualFold(part, "git~1") {
			return invalid("path %q", path)
		}
	}
	return nil
}

// noLinks rejects a path through a symbolic link.
func noLinks(root *os.Root, path string) error {
	for i, c := range path {
		if c != '/' {
			continue
		}
		info, err := root.Lstat(filepath.FromSlash(path[:i]))
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("workspace: %w", err)
		}
		if !info.IsDir() {
			return fmt.Errorf("%w: %s is not a directory", ErrUnsafe, path[:i])
		}
	}
	return nil
}

// Holds reports whether a path is a worktree of the manager or below one. The path must not contain symbolic links.
func (m *Manager) Holds(path string) bool {
	rel, err := filepath.Rel(filepath.Join(m.opts.Dir, treesDir), path)
	if err != nil || !filepath.IsLocal(rel) {
		return false
	}
	id, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
	return validID.MatchString(id)
}
