package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/internal/regularfile"
)

// State is the content of all files of a tree at one moment, as a git tree object. Left lists the
// files that are not part of it.
type State struct {
	Tree string // its id
	Left []LeftOut

	untracked map[string]bool
}

// LeftOut is a file that is not part of a snapshot because it is too large, not readable, a separate
// repository, or needs a filter that is not trusted. If the index has the file, the snapshot has the
// version of the index.
type LeftOut struct {
	Path string
	Size int64
	Why  string // large, unreadable, repository, or NeedsFilter
}

// NeedsFilter is LeftOut.Why of a file that would have other content in git: a filter of the
// repository only, such as that of Git LFS installed with --local, is not run.
const NeedsFilter = "filter"

// snapshotTries is the number of attempts of a snapshot while files change.
const snapshotTries = 3

// Snapshot stores the current files of the directory, including untracked files and without ignored
// ones. It only reads the working tree and its index. The snapshot is kept until [Manager.Forget]
// is called for its owner.
func (t *Tree) Snapshot(ctx context.Context) (State, error) {
	defer t.m.hold(t.dir)()
	return t.snapshot(ctx)
}

// snapshot is Snapshot for a caller that holds the tree.
func (t *Tree) snapshot(ctx context.Context) (State, error) {
	var failed error
	for range snapshotTries {
		s, err := t.trySnapshot(ctx)
		if err == nil {
			return s, t.keep(ctx, s.Tree)
		}
		failed = err
		if exitCode(err) < 0 { // not a file that changed meanwhile
			break
		}
	}
	return State{}, failed
}

func (t *Tree) trySnapshot(ctx context.Context) (State, error) {
	env := []string{"GIT_INDEX_FILE=" + t.privateIndex()}
	g, err := t.m.guard(ctx, t.dir)
	if err != nil {
		return State{}, err
	}
	if err := t.copyIndex(); err != nil {
		return State{}, err
	}
	out, err := t.m.git.run(ctx, command{dir: t.dir, env: env, guard: g, args: []string{"ls-files", "-t", "-z", "--modified", "--deleted", "--others", "--exclude-standard"}})
	if err != nil {
		return State{}, err
	}
	s := State{untracked: map[string]bool{}}
	var changed []string
	for entry := range strings.SplitSeq(string(out), "\x00") {
		tag, path, ok := strings.Cut(entry, " ")
		if !ok {
			continue
		}
		if left, ok := t.leaveOut(path); ok {
			s.Left = append(s.Left, left)
			continue
		}
		if tag == "?" {
			s.untracked[path] = true
		}
		changed = append(changed, path)
	}
	slices.Sort(changed) // a file that is modified and deleted is listed twice
	changed = slices.Compact(changed)
	found, err := t.filtered(ctx, g, changed)
	if err != nil {
		return State{}, err
	}
	changed = slices.DeleteFunc(changed, func(path string) bool {
		info := t.currentInfo(path)
		if !found[path] || info == nil { // git needs no filter for a deleted file
			return false
		}
		s.Left = append(s.Left, LeftOut{Path: path, Size: info.Size(), Why: NeedsFilter})
		return true
	})
	if err := t.stage(ctx, g, env, changed); err != nil {
		return State{}, err
	}
	tree, err := t.m.git.run(ctx, command{dir: t.dir, env: env, guard: g, args: []string{"write-tree"}}) // git compares files that are as new as the index again, with their filters
	s.Tree = strings.TrimSpace(string(tree))
	return s, err
}

// stage updates an index to the current files, and removes deleted ones.
func (t *Tree) stage(ctx context.Context, g *guard, env, files []string) error {
	root, err := os.OpenRoot(t.dir)
	if err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	defer root.Close()
	var gone, there []string
	for _, path := range files {
		_, err := root.Lstat(filepath.FromSlash(path))
		if err != nil || noLinks(root, path) != nil { // the target of a link is not in the tree
			gone = append(gone, path)
		} else {
			there = append(there, path)
		}
	}
	for _, c := range []struct {
		paths []string
		args  []string
	}{{gone, []string{"--force-remove"}}, {there, []string{"--add", "--remove", "--replace"}}} {
		if len(c.paths) == 0 {
			continue
		}
		_, err := t.m.git.run(ctx, command{dir: t.dir, env: env, guard: g, args: append(append([]string{"update-index"}, c.args...), "-z", "--stdin"),
			stdin: strings.NewReader(strings.Join(c.paths, "\x00") + "\x00")})
		if err != nil {
			return err
		}
	}
	return nil
}

// leaveOut reports whether a file cannot be part of a snapshot.
func (t *Tree) leaveOut(path string) (LeftOut, bool) {
	if strings.HasSuffix(path, "/") {
		return LeftOut{Path: strings.TrimSuffix(path, "/"), Why: "repository"}, true
	}
	name := filepath.Join(t.dir, filepath.FromSlash(path))
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return LeftOut{}, false // it is deleted, or a link
	}
	if info.Size() > t.m.opts.MaxFile {
		return LeftOut{Path: path, Size: info.Size(), Why: "large"}, true
	}
	f, err := regularfile.OpenNoFollow(name)
	if errors.Is(err, fs.ErrPermission) {
		return LeftOut{Path: path, Size: info.Size(), Why: "unreadable"}, true
	}
	if err == nil {
		_ = f.Close() // only opened to check
	}
	return LeftOut{}, false
}

// copyIndex copies the working tree's index to the private index. It gets the same time: git treats
// a file as changed if it is not older than the index, and a newer index would hide changes right
// after it was written.
func (t *Tree) copyIndex() (err error) {
	private := t.privateIndex()
	for _, name := range []string{private, private + ".lock"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("workspace: %w", err)
		}
	}
	from, err := regularfile.Open(t.index)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // no file was ever added
	}
	if err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	to, err := os.OpenFile(private, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	_, err = io.Copy(to, from)
	if err = errors.Join(err, to.Close()); err == nil {
		err = os.Chtimes(private, info.ModTime(), info.ModTime())
	}
	if err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	return nil
}
