package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed7221b0f9/parley/internal/random"
)

// CreateOptions describes the worktree that [Manager.Create] creates. Repo is required; every other
// field may be empty.
type CreateOptions struct {
	// Repo is a directory in the working tree of a repository, as an absolute path.
	Repo string
	// Base is the commit at which the worktree starts; empty means HEAD of Repo.
	Base string
	// Branch is the branch to create; empty means parley/ and the digits of the id. If Base is
	// empty, an existing branch is checked out.
	Branch string
	// Setup is a shell command that is run in the worktree. If it fails, the worktree is removed
	// again; if the process is killed meanwhile, the worktree stays. Processes that it starts end
	// with it.
	Setup string
	// Owner is stored with the workspace, for a caller that shows workspaces to their owners.
	Owner string
	// ID is "w-" and 8 to 40 hexadecimal digits; empty means a new one. A second call with the same
	// ID returns the workspace of the first.
	ID string
}

// Create creates a worktree and runs its setup command. The repository gets a branch and a worktree;
// its checkout and its configuration do not change. The error matches [ErrNoGit] if Repo is not in
// a git working tree, [ErrExists] if the branch exists, and is a [*SetupError] if the command fails.
func (m *Manager) Create(ctx context.Context, o CreateOptions) (Workspace, error) {
	if o.ID == "" {
		o.ID = "w-" + random.Hex(6)
	} else if !validID.MatchString(o.ID) {
		return Workspace{}, invalid("id %q", o.ID)
	}
	defer m.hold(filepath.Join(m.opts.Dir, treesDir, o.ID))()
	if w, err := m.Get(o.ID); err == nil {
		return w, nil
	}
	r, err := m.make(ctx, o)
	if err != nil {
		return Workspace{}, err
	}
	if o.Setup != "" {
		r.State = settingUp
		if err := m.save(r); err != nil {
			return Workspace{}, err
		}
		step("setup begins")
		output, err := m.setup(ctx, r)
		if err != nil {
			return Workspace{}, errors.Join(&SetupError{Output: output, Err: err}, m.undo(context.WithoutCancel(ctx), r))
		}
		r.Output = output
	}
	r.State = ready
	return r.Workspace, m.save(r)
}

// make creates the worktree. Only one is created at a time, so that no two use the same branch.
func (m *Manager) make(ctx context.Context, o CreateOptions) (record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.plan(ctx, o)
	if err != nil {
		return record{}, err
	}
	if err := m.save(r); err != nil {
		return record{}, err
	}
	step("worktree recorded")
	if err := m.addWorktree(ctx, r); err != nil {
		return record{}, errors.Join(err, m.undo(context.WithoutCancel(ctx), r))
	}
	step("worktree added")
	return r, nil
}

// plan checks the options and returns the initial record.
func (m *Manager) plan(ctx context.Context, o CreateOptions) (record, error) {
	top, err := m.toplevel(ctx, o.Repo)
	if err != nil {
		return record{}, err
	}
	common, err := m.git.line(ctx, top, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return record{}, err
	}
	r := record{State: making, CommonDir: common, NewBranch: true, Workspace: Workspace{
		ID: o.ID, Path: filepath.Join(m.opts.Dir, treesDir, o.ID), Repo: top, Branch: o.Branch, Setup: o.Setup, Owner: o.Owner,
	}}
	if r.Branch == "" {
		r.Branch = "parley/" + strings.TrimPrefix(o.ID, "w-")
	}
	if err := checkName("branch", r.Branch); err != nil {
		return record{}, err
	}
	if _, err := m.git.line(ctx, top, "check-ref-format", "refs/heads/"+r.Branch); answersNo(err) {
		return record{}, invalid("branch %q", r.Branch)
	} else if err != nil {
		return record{}, err
	}
	begin := "HEAD"
	if o.Base != "" {
		begin = o.Base
	}
	if _, err := m.git.line(ctx, top, "show-ref", "--verify", "--quiet", "refs/heads/"+r.Branch); err == nil {
		if o.Base != "" || o.Branch == "" {
			return record{}, fmt.Errorf("%w: %s", ErrExists, r.Branch)
		}
		r.NewBranch, begin = false, "refs/heads/"+r.Branch
	} else if !answersNo(err) {
		return record{}, err
	}
	if r.Target, err = m.target(ctx, top, o.Base, r.Branch); err != nil {
		return record{}, err
	}
	r.Base, err = m.commitOf(ctx, top, begin)
	return r, err
}

// target returns the branch at which a worktree starts: the base, if it is a branch, or the checked out one.
func (m *Manager) target(ctx context.Context, top, base, branch string) (target string, err error) {
	if target = base; base == "" {
		target, err = m.git.line(ctx, top, "symbolic-ref", "--quiet", "--short", "HEAD")
		if answersNo(err) { // a detached HEAD
			return "", nil
		}
	}
	if err != nil || target == branch {
		return "", err
	}
	is, err := m.isBranch(ctx, top, target)
	if err != nil || !is {
		return "", err
	}
	return target, nil
}

// isBranch reports whether a name is that of a local branch.
func (m *Manager) isBranch(ctx context.Context, dir, name string) (bool, error) {
	if checkName("branch", name) != nil {
		return false, nil
	}
	_, err := m.git.line(ctx, dir, "show-ref", "--verify", "--quiet", "refs/heads/"+name)
	if answersNo(err) {
		return false, nil
	}
	return err == nil, err
}

// commitOf returns the id of the named commit.
func (m *Manager) commitOf(ctx context.Context, dir, name string) (string, error) {
	if err := checkName("commit", name); err != nil {
		return "", err
	}
	id, err := m.git.line(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if answersNo(err) {
		return "", fmt.Errorf("%w: commit %q", ErrNotFound, name)
	}
	if err != nil {
		return "", err
	}
	return strings.TrimPrefix(id, "--end-of-options\n"), nil // some versions print it
}

// addWorktree creates the worktree with git. Without --no-track it would write to the configuration
// of the repository if the base is a remote branch.
func (m *Manager) addWorktree(ctx context.Context, r record) error {
	args := []string{"worktree", "add", "--quiet", "--no-track", "-b", r.Branch, "--", r.Path, r.Base}
	if !r.NewBranch {
		args = []string{"worktree", "add", "--quiet", "--", r.Path, r.Branch}
	}
	g, err := m.guard(ctx, r.Repo)
	if err != nil {
		return err
	}
	_, err = m.git.run(ctx, command{dir: r.Repo, args: args, guard: g, hooks: true})
	return err
}

// undo removes a worktree that was not used yet, including a partial one.
func (m *Manager) undo(ctx context.Context, r record) error {
	if err := m.dropWorktree(r, r.Path); err != nil {
		return err
	}
	if r.NewBranch {
		// Only if the branch is still at its start and is not checked out, because then it has no
		// commits.
		list, err := m.git.line(ctx, r.CommonDir, "worktree", "list", "--porcelain")
		if err != nil || strings.Contains(list+"\n", "\nbranch refs/heads/"+r.Branch+"\n") {
			return errors.Join(err, m.forget(r.ID))
		}
		if err := m.deleteRef(ctx, r.CommonDir, "refs/heads/"+r.Branch, r.Base); err != nil {
			return err
		}
	}
	return m.forget(r.ID)
}

// dropWorktree removes a directory and git's worktree metadata. git worktree prune would remove
// those of others too.
func (m *Manager) dropWorktree(r record, dir string) error {
	if err := removeAll(dir); err != nil {
		return err
	}
	if err := os.RemoveAll(m.adminDir(r)); err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	_ = os.Remove(filepath.Dir(m.adminDir(r))) // like git after the last worktree
	return nil
}

// deleteRef deletes a ref if it exists with this value.
func (m *Manager) deleteRef(ctx context.Context, repo, ref, value string) error {
	if missing(repo) {
		return nil // deleted with it
	}
	now, err := m.git.line(ctx, repo, "rev-parse", "--verify", "--quiet", ref)
	if answersNo(err) || err == nil && now != value {
		return nil // it was deleted, or belongs to another process now
	}
	if err != nil {
		return err
	}
	_, err = m.git.line(ctx, repo, "update-ref", "-d", ref, value)
	return err
}

func (m *Manager) forget(id string) error {
	if err := os.Remove(m.recordPath(id)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("workspace: %w", err)
	}
	return nil
}
