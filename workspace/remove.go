package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// RemoveOptions decides what may be lost with a workspace. The zero value loses no work.
type RemoveOptions struct {
	// Force removes the workspace with all work in it, and its branch.
	Force bool
	// KeepBranch keeps the branch, so that its commits are not lost.
	KeepBranch bool
}

// Remove removes a worktree and, if [Manager.Create] created it, its branch. It returns a
// [*LossError] if changes, untracked files or commits would be lost, unless RemoveOptions.Force is
// set. Files that git ignores are removed without asking.
func (m *Manager) Remove(ctx context.Context, id string, o RemoveOptions) error {
	defer m.hold(filepath.Join(m.opts.Dir, treesDir, id))()
	r, err := m.load(id)
	if err != nil {
		return err
	}
	if r.State != ready {
		return fmt.Errorf("%w: workspace %q is %s", ErrNotFound, id, r.State)
	}
	if err := m.checkLoss(ctx, r, o); err != nil {
		return err
	}
	r.State, r.KeepBranch = removing, o.KeepBranch || !r.NewBranch
	if r.Tip, err = m.tip(ctx, r); err != nil {
		return err
	}
	if err := m.save(r); err != nil {
		return err
	}
	step("removal recorded")
	if err := os.Rename(r.Path, m.trash(r)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fmt.Errorf("workspace: %w", err), m.keepWorktree(r))
	}
	step("worktree in the trash")
	return m.finishRemove(ctx, r)
}

// keepWorktree makes a workspace usable again that was to be removed and was not moved to the trash.
func (m *Manager) keepWorktree(r record) error {
	r.State, r.KeepBranch, r.Tip = ready, false, ""
	return m.save(r)
}

func (m *Manager) trash(r record) string { return filepath.Join(m.opts.Dir, trashDir, r.ID) }

// finishRemove removes the rest of a worktree that was moved to the trash.
func (m *Manager) finishRemove(ctx context.Context, r record) error {
	if err := m.dropWorktree(r, m.trash(r)); err != nil {
		return err
	}
	step("worktree dropped")
	if !r.KeepBranch && r.Tip != "" {
		if err := m.deleteRef(ctx, r.CommonDir, "refs/heads/"+r.Branch, r.Tip); err != nil {
			return err
		}
	}
	if err := m.dropRefs(ctx, r.CommonDir, r.ID); err != nil {
		return err
	}
	return m.forget(r.ID)
}

// maxLoss is the number of lost files and commits that an error lists.
const maxLoss = 20

// checkLoss returns an error with the work that would be lost with a worktree. If its directory was
// removed by other means, its commits can still be lost.
func (m *Manager) checkLoss(ctx context.Context, r record, o RemoveOptions) error {
	if o.Force {
		return nil
	}
	loss := &LossError{}
	tips := []string{}
	if _, err := os.Lstat(r.Path); err == nil {
		g, err := m.guard(ctx, r.Path)
		if err != nil {
			return err
		}
		out, err := m.git.run(ctx, command{dir: r.Path, guard: g, max: 1 << 20, args: []string{
			"status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=none",
		}})
		if err != nil && !errors.Is(err, errCut) {
			return err
		}
		for entry := range strings.SplitSeq(string(out), "\x00") {
			if len(entry) > 3 {
				loss.Files = append(loss.Files, entry[3:])
			}
		}
		head, err := m.commitOf(ctx, r.Path, "HEAD")
		if err != nil {
			return err
		}
		tips = append(tips, head)
	}
	keep := o.KeepBranch || !r.NewBranch
	if !keep {
		tip, err := m.tip(ctx, r)
		if err != nil {
			return err
		}
		if tip != "" {
			tips = append(tips, tip)
		}
	}
	commits, err := m.unique(ctx, r, tips, keep)
	if err != nil {
		return err
	}
	loss.Commits = commits
	if len(loss.Files) > maxLoss {
		loss.Files, loss.More = loss.Files[:maxLoss], true
	}
	if len(loss.Commits) > maxLoss {
		loss.Commits, loss.More = loss.Commits[:maxLoss], true
	}
	if len(loss.Files)+len(loss.Commits) > 0 {
		return loss
	}
	return nil
}

// tip returns the commit of a workspace's branch, "" if the branch or the repository was deleted.
func (m *Manager) tip(ctx context.Context, r record) (string, error) {
	if missing(r.CommonDir) {
		return "", nil
	}
	id, err := m.commitOf(ctx, r.CommonDir, "refs/heads/"+r.Branch)
	if errors.Is(err, ErrNotFound) {
		return "", nil
	}
	return id, err
}

// unique returns commits that are reachable from tips and from no ref that stays.
func (m *Manager) unique(ctx context.Context, r record, tips []string, keep bool) ([]string, error) {
	if len(tips) == 0 {
		return nil, nil
	}
	args := append([]string{"rev-list", "--abbrev-commit", fmt.Sprintf("--max-count=%d", maxLoss+1)}, tips...)
	args = append(args, "--not")
	if !keep {
		args = append(args, "--exclude=refs/heads/"+globEscape(r.Branch))
	}
	args = append(args, "--glob=refs/heads/*", "--tags", "--remotes")
	out, err := m.git.line(ctx, r.CommonDir, args...)
	if err != nil {
		return nil, err
	}
	return strings.Fields(out), nil
}

// globEscape returns a pattern that matches only the name. Branch names can contain only these
// special characters.
func globEscape(name string) string {
	return strings.NewReplacer("]", "\\]", "{", "\\{", "}", "\\}").Replace(name)
}

// removeAll removes a directory, including directories without write permission.
func removeAll(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o700) // if it fails, so does the removal
		}
		return nil
	})
	return os.RemoveAll(dir)
}
