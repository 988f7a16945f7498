package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Branch is the position of the checked out branch of a [Tree] relative to the branch at which it started.
type Branch struct {
	Name   string // the checked out branch
	Target string // the branch to compare with and to merge into, if any
	Ahead  int    // commits that only the branch has
	Behind int    // commits that only the target has
	Remote string // the name of the remote, if any
	URL    string // the address to push to, as in the repository's configuration
	Pushed bool   // the remote had the checked out commit when it was last pushed or fetched
}

// Branch returns the position of the checked out branch. It runs no program of the repository and
// uses no network.
func (t *Tree) Branch(ctx context.Context) (Branch, error) {
	head, name := t.Head(ctx)
	target, err := t.targetOf(ctx, name)
	if err != nil {
		return Branch{}, err
	}
	b := Branch{Name: name, Target: target}
	if b.Target != "" && head != "" {
		out, err := t.m.git.line(ctx, t.dir, "rev-list", "--left-right", "--count", "refs/heads/"+b.Target+"...HEAD", "--")
		if err != nil {
			return Branch{}, err
		}
		if _, err := fmt.Sscan(out, &b.Behind, &b.Ahead); err != nil {
			return Branch{}, fmt.Errorf("workspace: git rev-list: %w", err)
		}
	}
	if b.Remote = t.remote(ctx, b.Target); b.Remote == "" || name == "" {
		return b, nil
	}
	for _, key := range []string{"pushurl", "url"} {
		if b.URL, _ = t.m.git.line(ctx, t.dir, "config", "--get", "remote."+b.Remote+"."+key); b.URL != "" { // not set
			break
		}
	}
	there, _ := t.m.git.line(ctx, t.dir, "rev-parse", "--verify", "--quiet", "refs/remotes/"+b.Remote+"/"+name) // fails if the branch was never pushed
	b.Pushed = there != "" && there == head
	return b, nil
}

// targetOf returns the branch at which a branch has started: that of the workspace, or main or master.
func (t *Tree) targetOf(ctx context.Context, branch string) (string, error) {
	var candidates []string
	if r, err := t.m.load(t.id); t.id != "" && err == nil && r.Target != "" {
		candidates = append(candidates, r.Target)
	}
	for _, name := range append(candidates, "main", "master") {
		if name == branch {
			continue
		}
		if is, err := t.m.isBranch(ctx, t.dir, name); err != nil || is {
			return name, err
		}
	}
	return "", nil
}

// remote returns the remote of the target, or the only one, or origin.
func (t *Tree) remote(ctx context.Context, target string) string {
	out, err := t.m.git.line(ctx, t.dir, "config", "--get-regexp", "--name-only", `^remote\..*\.url$`)
	if err != nil { // there is none
		return ""
	}
	var all []string
	for key := range strings.SplitSeq(out, "\n") {
		if name := strings.TrimSuffix(strings.TrimPrefix(key, "remote."), ".url"); checkName("remote", name) == nil {
			all = append(all, name)
		}
	}
	own, _ := t.m.git.line(ctx, t.dir, "config", "--get", "branch."+target+".remote") // not set
	for _, name := range []string{own, "origin"} {
		if slices.Contains(all, name) {
			return name
		}
	}
	if len(all) == 1 {
		return all[0]
	}
	return ""
}

// Merged is a merge that [Tree.Merge] has made: the target, its new commit, and the number of commits that it got.
type Merged struct {
	Target      string
	Commit      string
	Commits     int
	FastForward bool // the target got the existing commits, without a merge commit
}

// ConflictError is returned by [Tree.Merge] if the branches change the same lines. Merge has then
// changed nothing.
type ConflictError struct {
	Target string
	Files  []string // at most 20
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("workspace: merging into %s conflicts in %s", e.Target, strings.Join(e.Files, ", "))
}

// Merge merges the checked out branch into its target and leaves both checkouts consistent. If the target is checked
// out, its files change, and git refuses to overwrite changes in them. The error is [ErrLoss] if the tree has
// uncommitted changes, [ErrNothing] if the target has all commits, and a [*ConflictError] if the branches conflict.
func (t *Tree) Merge(ctx context.Context) (Merged, error) {
	defer t.m.hold(t.dir)()
	b, err := t.Branch(ctx)
	switch {
	case err != nil:
		return Merged{}, err
	case b.Name == "" || b.Target == "":
		return Merged{}, fmt.Errorf("%w: no branch to merge into", ErrNotFound)
	case b.Ahead == 0:
		return Merged{}, fmt.Errorf("%w: %s has all commits of %s", ErrNothing, b.Target, b.Name)
	}
	d, _, err := t.diff(ctx, "HEAD", "")
	if err != nil {
		return Merged{}, err
	}
	if len(d.Files) > 0 {
		return Merged{}, &LossError{Files: []string{d.Files[0].Path}, More: len(d.Files) > 1}
	}
	place, err := t.checkout(ctx, b.Target)
	if err != nil {
		return Merged{}, err
	}
	g, err := t.m.guard(ctx, place)
	if err != nil {
		return Merged{}, err
	}
	if err := t.mergeable(ctx, g, b.Target); err != nil {
		return Merged{}, err
	}
	m := Merged{Target: b.Target, Commits: b.Ahead, FastForward: b.Behind == 0}
	if m.Commit, err = t.mergeCommit(ctx, g, b); err != nil {
		return Merged{}, err
	}
	step("merge made")
	if place == t.dir { // the target is not checked out
		old, err := t.m.commitOf(ctx, t.dir, "refs/heads/"+b.Target)
		if err != nil {
			return Merged{}, err
		}
		_, err = t.m.git.line(ctx, t.dir, "update-ref", "-m", "merge "+b.Name, "refs/heads/"+b.Target, m.Commit, old)
		return m, err
	}
	defer t.m.hold(place)()
	_, err = t.m.git.run(ctx, command{dir: place, guard: g, hooks: true, both: true, max: 1 << 20, args: []string{"merge", "--quiet", "--ff-only", "--no-autostash", "--end-of-options", m.Commit}})
	return m, err
}

// checkout returns the working tree in which a branch is checked out, or the tree itself if it is not
// checked out.
func (t *Tree) checkout(ctx context.Context, branch string) (string, error) {
	out, err := t.m.git.line(ctx, t.dir, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return "", err
	}
	place := ""
	for line := range strings.SplitSeq(out, "\x00") {
		if dir, ok := strings.CutPrefix(line, "worktree "); ok {
			place = filepath.FromSlash(dir)
		}
		if line == "branch refs/heads/"+branch {
			if place, err = filepath.EvalSymlinks(place); err != nil {
				return "", fmt.Errorf("workspace: %w", err)
			}
			return place, nil
		}
	}
	return t.dir, nil
}

// mergeable rejects changes of files that need a filter of the repository, which git would write with wrong content.
func (t *Tree) mergeable(ctx context.Context, g *guard, target string) error {
	out, err := t.m.git.run(ctx, command{dir: t.top, args: []string{"diff-tree", "-r", "-z", "--name-only", "--no-commit-id", "refs/heads/" + target, "HEAD"}})
	if err != nil {
		return err
	}
	found, err := t.filtered(ctx, g, strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"))
	for path := range found {
		return fmt.Errorf("%w: %s", ErrFilter, path)
	}
	return err
}

// mergeCommit returns the new commit of the target: the checked out one, or a merge commit.
func (t *Tree) mergeCommit(ctx context.Context, g *guard, b Branch) (string, error) {
	if b.Behind == 0 {
		return t.m.commitOf(ctx, t.dir, "HEAD")
	}
	target := "refs/heads/" + b.Target
	out, err := t.m.git.run(ctx, command{dir: t.dir, guard: g, both: true, args: []string{"merge-tree", "--write-tree", "--name-only", "-z", "--no-messages", target, "HEAD"}})
	if e, ok := errors.AsType[*GitError](err); ok && e.Exit == 1 {
		fields := strings.Split(strings.Trim(e.Output, "\x00\n"), "\x00")
		return "", &ConflictError{Target: b.Target, Files: slices.Clip(fields[min(1, len(fields)):min(len(fields), maxLoss+1)])}
	}
	if err != nil {
		return "", err
	}
	tree, _, _ := strings.Cut(strings.TrimRight(string(out), "\x00\n"), "\x00")
	id, err := t.m.git.run(ctx, command{dir: t.dir, guard: g, args: []string{"commit-tree", tree, "-p", target, "-p", "HEAD", "-m", "Merge branch '" + b.Name + "'"}})
	return strings.TrimSpace(string(id)), err
}

// Pushed is the result of [Tree.Push]: the branch of the remote and the output of git.
type Pushed struct{ Remote, Branch, Output string }

// Push pushes the checked out branch to its remote with the configuration of the user and the system. Git does not read
// the configuration of the repository, which an agent can write: it runs in an empty repository that borrows the
// objects. The address comes from the repository, so the caller passes the one that a person has seen; the error is
// [ErrInvalid] if the address has changed.
func (t *Tree) Push(ctx context.Context, url string) (Pushed, error) {
	defer t.m.hold(t.dir)()
	b, err := t.Branch(ctx)
	switch {
	case err != nil:
		return Pushed{}, err
	case b.URL == "" || b.Name == "":
		return Pushed{}, fmt.Errorf("%w: no remote to push to", ErrNotFound)
	case b.URL != url:
		return Pushed{}, invalid("the remote is %s now, not %s", b.URL, url)
	}
	if err := checkName("address", url); err != nil {
		return Pushed{}, err
	}
	commit, err := t.m.commitOf(ctx, t.dir, "HEAD")
	if err != nil {
		return Pushed{}, err
	}
	dir, err := os.MkdirTemp(filepath.Join(t.m.opts.Dir, scratchDir), "push-")
	if err != nil {
		return Pushed{}, fmt.Errorf("workspace: %w", err)
	}
	defer os.RemoveAll(dir)
	if err := t.borrow(ctx, dir); err != nil {
		return Pushed{}, err
	}
	// The data directory contains no other repository, and this one has no programs.
	out, err := t.m.git.run(ctx, command{dir: dir, guard: &guard{}, hooks: true, both: true, max: 1 << 20,
		env:  []string{"GIT_DIR=" + dir, "GIT_ALLOW_PROTOCOL=https:ssh:file"},
		args: []string{"push", "--porcelain", "--no-recurse-submodules", "--end-of-options", t.address(url), commit + ":refs/heads/" + b.Name}})
	if err != nil {
		return Pushed{}, err
	}
	if _, err := t.m.git.line(ctx, t.dir, "update-ref", "refs/remotes/"+b.Remote+"/"+b.Name, commit); err != nil {
		return Pushed{}, err
	}
	return Pushed{Remote: b.Remote, Branch: b.Name, Output: strings.ToValidUTF8(string(out), "\uFFFD")}, nil
}

// address returns the address of a remote for use in another directory: a relative path becomes one
// below the repository.
func (t *Tree) address(url string) string {
	if strings.Contains(url, ":") || filepath.IsAbs(url) {
		return url
	}
	return filepath.Join(t.top, url)
}

// borrow creates a bare repository in an empty directory that has all objects of the tree's repository.
func (t *Tree) borrow(ctx context.Context, dir string) error {
	_, err := t.m.git.run(ctx, command{dir: dir, guard: &guard{}, args: []string{"init", "--quiet", "--bare", "--template=", "--object-format=" + t.objectFormat(ctx), dir}})
	if err != nil {
		return err
	}
	info := filepath.Join(dir, "objects", "info")
	if err := os.MkdirAll(info, 0o700); err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	// A quoted path may contain any character.
	alternates := strconv.Quote(filepath.ToSlash(filepath.Join(t.common, "objects"))) + "\n"
	if err := os.WriteFile(filepath.Join(info, "alternates"), []byte(alternates), 0o600); err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	return nil
}

// objectFormat returns the hash algorithm of the repository.
func (t *Tree) objectFormat(ctx context.Context) string {
	format, err := t.m.git.line(ctx, t.dir, "rev-parse", "--show-object-format")
	if err != nil || format == "" {
		return "sha1"
	}
	return format
}
