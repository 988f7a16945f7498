package workspace

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// RevertOptions selects the change that [Tree.Revert] reverts. File is required.
type RevertOptions struct {
	// From and To are the compared states, as in [Tree.Diff]. If To is empty, the change is that of
	// the current files; otherwise the file may have changed since, except in the lines of the
	// hunk.
	From, To string
	// File is the path of the file, and Hunk the id of one of its hunks; an empty Hunk means
	// the whole file.
	File, Hunk string
}

// Revert reverts a hunk or all changes of a file and leaves everything else unchanged. It returns
// the state before, with which it can be undone. The error is a [*StaleError] if the hunk has
// changed since it was shown or the file changes during the call, [ErrNothing] if the file has not
// changed, and [ErrUnsafe] if the file cannot be replaced safely.
func (t *Tree) Revert(ctx context.Context, o RevertOptions) (before State, err error) {
	if err := checkPath(o.File); err != nil {
		return State{}, err
	}
	defer t.m.hold(t.dir)()
	seen := t.currentInfo(o.File)
	now, err := t.snapshot(ctx)
	if err != nil {
		return State{}, err
	}
	from, err := t.treeOf(ctx, o.From)
	if err != nil {
		return State{}, err
	}
	to := now.Tree
	if o.To != "" {
		if to, err = t.treeOf(ctx, o.To); err != nil {
			return State{}, err
		}
	}
	if err := leftOut(now, o.File); err != nil {
		return State{}, err
	}
	r := reverting{tree: t, from: from, to: to, now: now.Tree, RevertOptions: o}
	d, err := t.compare(ctx, from, to)
	if err != nil {
		return State{}, err
	}
	f, ok := d.file(o.File)
	switch {
	case !ok && o.Hunk != "":
		return State{}, &StaleError{File: o.File, Hunk: o.Hunk, Hunks: []Hunk{}}
	case !ok:
		return State{}, fmt.Errorf("%w: %s", ErrNothing, o.File)
	case f.OldMode == modeRepo || f.NewMode == modeRepo:
		return State{}, fmt.Errorf("%w: %s is a submodule", ErrUnsafe, o.File)
	}
	changes, err := r.plan(ctx, f)
	if err != nil {
		return State{}, err
	}
	for _, c := range changes {
		guard := func() error { return nil }
		if c.path == o.File {
			guard = func() error { return r.unchanged(ctx, seen) }
		}
		if err := t.replace(c, guard); err != nil {
			return State{}, err
		}
	}
	return now, nil
}

// leftOut rejects a file that is not in the snapshot with its current content.
func leftOut(s State, path string) error {
	for _, l := range s.Left {
		if l.Path == path || strings.HasPrefix(path, l.Path+"/") {
			return fmt.Errorf("%w: %s is %s, and could not be brought back", ErrUnsafe, path, l.Why)
		}
	}
	return nil
}

// reverting is one call of Revert. The states are ids of trees.
type reverting struct {
	RevertOptions
	tree          *Tree
	from, to, now string
}

// plan returns the files to write, the named one last.
func (r *reverting) plan(ctx context.Context, f File) ([]replacement, error) {
	if r.Hunk != "" {
		h, err := r.find(f)
		if err != nil {
			return nil, err
		}
		if len(f.Hunks) > 1 || f.Kind != Added && f.Kind != Deleted {
			c, err := r.hunk(ctx, f, h)
			return []replacement{c}, err
		}
	}
	return r.file(ctx, f)
}

// find returns the requested hunk.
func (r *reverting) find(f File) (Hunk, error) {
	for _, h := range f.Hunks {
		if h.ID == r.Hunk {
			return h, nil
		}
	}
	return Hunk{}, &StaleError{File: f.Path, Hunk: r.Hunk, Hunks: Near(f.Hunks, r.Hunk)}
}

// stale returns the error for a hunk that cannot be reverted in the current file.
func (r *reverting) stale(ctx context.Context) error {
	e := &StaleError{File: r.File, Hunk: r.Hunk, Hunks: []Hunk{}}
	if now, err := r.tree.snapshot(ctx); err == nil {
		if d, err := r.tree.compare(ctx, r.from, now.Tree); err == nil {
			f, _ := d.file(r.File)
			if e.Hunks = f.Hunks; r.Hunk != "" {
				e.Hunks = Near(f.Hunks, r.Hunk)
			}
		}
	}
	return e
}

// hunk returns the current file without a hunk.
func (r *reverting) hunk(ctx context.Context, f File, h Hunk) (replacement, error) {
	shown, err := r.tree.blob(ctx, f.newBlob)
	if err != nil {
		return replacement{}, err
	}
	text, ok := h.without(shown)
	if !ok {
		return replacement{}, r.stale(ctx)
	}
	mode := f.NewMode
	if r.now != r.to {
		nowMode, nowBlob, err := r.tree.entry(ctx, r.now, f.Path)
		if err != nil {
			return replacement{}, err
		}
		if nowMode == "" || nowMode == modeLink || nowMode == modeRepo {
			return replacement{}, r.stale(ctx)
		}
		current, err := r.tree.blob(ctx, nowBlob)
		if err != nil {
			return replacement{}, err
		}
		mode = nowMode
		if current != shown {
			if text, ok, err = r.tree.merge(ctx, current, shown, text); err != nil {
				return replacement{}, err
			}
			if !ok {
				return replacement{}, r.stale(ctx)
			}
		}
	}
	data, err := r.tree.smudged(ctx, f.Path, text)
	return replacement{path: f.Path, mode: mode, data: data}, err
}

// file returns the replacements that revert a whole file.
func (r *reverting) file(ctx context.Context, f File) ([]replacement, error) {
	if r.now != r.to {
		mode, blob, err := r.tree.entry(ctx, r.now, f.Path)
		if err != nil {
			return nil, err
		}
		if mode != f.NewMode || mode != "" && blob != f.newBlob {
			return nil, r.stale(ctx)
		}
	}
	if f.Kind == Added {
		return []replacement{{path: f.Path}}, nil
	}
	target := f.Path
	if f.Kind == Moved {
		target = f.OldPath
		mode, _, err := r.tree.entry(ctx, r.now, target)
		if err != nil {
			return nil, err
		}
		if mode != "" {
			return nil, fmt.Errorf("%w: %s is there again", ErrUnsafe, target)
		}
	}
	text, err := r.tree.blob(ctx, f.oldBlob)
	if err != nil {
		return nil, err
	}
	data := []byte(text)
	if f.OldMode != modeLink {
		if data, err = r.tree.smudged(ctx, target, text); err != nil {
			return nil, err
		}
	}
	back := replacement{path: target, mode: f.OldMode, data: data}
	if f.Kind == Moved {
		return []replacement{back, {path: f.Path}}, nil
	}
	return []replacement{back}, nil
}

// currentInfo returns the current info of a file; nil if it does not exist.
func (t *Tree) currentInfo(path string) fs.FileInfo {
	info, err := os.Lstat(filepath.Join(t.dir, filepath.FromSlash(path)))
	if err != nil {
		return nil
	}
	return info
}

// unchanged returns an error if the file differs from the one in the snapshot.
func (r *reverting) unchanged(ctx context.Context, was fs.FileInfo) error {
	is := r.tree.currentInfo(r.File)
	same := was == nil && is == nil
	if was != nil && is != nil {
		same = os.SameFile(was, is) && was.Size() == is.Size() && was.ModTime().Equal(is.ModTime()) && was.Mode() == is.Mode()
	}
	if !same {
		return r.stale(ctx)
	}
	return nil
}
