package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// partly returns the paths to commit except those without a chosen hunk, and the index entries of those that are
// committed in part. The error is a [*StaleError] if a chosen hunk no longer exists.
func (t *Tree) partly(ctx context.Context, d Diff, o CommitOptions) (named, parts []string, err error) {
	for path := range o.Hunks {
		if _, ok := d.file(path); !ok {
			return nil, nil, fmt.Errorf("%w: %s has not changed", ErrNotFound, path)
		}
	}
	if len(o.Hunks) == 0 {
		return o.Files, nil, nil
	}
	named = []string{}
	for _, f := range d.Files {
		if o.Files != nil && !slices.Contains(o.Files, f.Path) {
			continue
		}
		chosen, some := o.Hunks[f.Path]
		if some && len(chosen) == 0 {
			continue
		}
		named = append(named, f.Path)
		if !some {
			continue
		}
		entry, err := t.part(ctx, f, chosen)
		if err != nil {
			return nil, nil, err
		}
		if entry != "" {
			parts = append(parts, entry)
		}
	}
	for _, path := range o.Files {
		if _, some := o.Hunks[path]; !some && !slices.Contains(named, path) {
			return nil, nil, fmt.Errorf("%w: %s has not changed", ErrNotFound, path)
		}
	}
	return named, parts, nil
}

// part returns the index entry of a file with only the chosen hunks, or "" if all are chosen.
func (t *Tree) part(ctx context.Context, f File, chosen []string) (string, error) {
	for _, id := range chosen {
		if !slices.ContainsFunc(f.Hunks, func(h Hunk) bool { return h.ID == id }) {
			return "", &StaleError{File: f.Path, Hunk: id, Hunks: Near(f.Hunks, id)}
		}
	}
	if f.Truncated || f.Binary || f.Large || f.NewMode == modeRepo || f.NewMode == modeLink {
		return "", fmt.Errorf("%w: %s can only be committed whole", ErrUnsafe, f.Path)
	}
	if len(chosen) >= len(f.Hunks) {
		return "", nil
	}
	if f.Kind == Deleted {
		return "", fmt.Errorf("%w: the deletion of %s can only be committed whole", ErrUnsafe, f.Path)
	}
	text, err := t.blob(ctx, f.newBlob)
	if err != nil {
		return "", err
	}
	for _, h := range slices.Backward(f.Hunks) { // earlier hunks keep their line numbers
		if slices.Contains(chosen, h.ID) {
			continue
		}
		var ok bool
		if text, ok = h.without(text); !ok {
			return "", &StaleError{File: f.Path, Hunk: h.ID, Hunks: f.Hunks}
		}
	}
	id, err := t.m.git.run(ctx, command{dir: t.dir, args: []string{"hash-object", "-t", "blob", "-w", "--no-filters", "--stdin"}, stdin: strings.NewReader(text)})
	if err != nil {
		return "", err
	}
	prefix, err := filepath.Rel(t.top, t.dir)
	if err != nil {
		return "", fmt.Errorf("workspace: %w", err)
	}
	full := filepath.ToSlash(filepath.Join(prefix, filepath.FromSlash(f.Path)))
	return f.NewMode + " " + strings.TrimSpace(string(id)) + " 0\t" + full, nil
}

// commitParts commits parts of files. Git gets a separate index, as it creates one itself for a commit of some
// files, so that other entries of the user's index stay there uncommitted.
func (t *Tree) commitParts(ctx context.Context, g *guard, files, parts []string, message string) (Committed, error) {
	index, err := os.CreateTemp(filepath.Join(t.m.opts.Dir, scratchDir), "index-")
	if err != nil {
		return Committed{}, fmt.Errorf("workspace: %w", err)
	}
	_ = index.Close() // only the name is needed
	defer os.Remove(index.Name())
	if err := os.Remove(index.Name()); err != nil { // git reports an empty file as a damaged index
		return Committed{}, fmt.Errorf("workspace: %w", err)
	}
	own := []string{"GIT_INDEX_FILE=" + index.Name()}
	if _, err := t.m.git.run(ctx, command{dir: t.dir, env: own, guard: g, args: []string{"read-tree", "HEAD"}}); err != nil {
		return Committed{}, err
	}
	for _, env := range [][]string{nil, own} {
		if err := t.stage(ctx, g, env, files); err != nil {
			return Committed{}, err
		}
		_, err := t.m.git.run(ctx, command{dir: t.top, env: env, guard: g, args: []string{"update-index", "-z", "--index-info"}, stdin: strings.NewReader(strings.Join(parts, "\x00") + "\x00")})
		if err != nil {
			return Committed{}, err
		}
	}
	step("files staged")
	out, err := t.m.git.run(ctx, command{dir: t.dir, env: own, guard: g, hooks: true, both: true, max: 1 << 20, args: []string{"commit", "--quiet", "--file=" + message}})
	if err != nil {
		return Committed{}, err
	}
	commit, branch := t.Head(ctx)
	return Committed{Commit: commit, Branch: branch, Files: files, Output: strings.ToValidUTF8(string(out), "\uFFFD")}, nil
}
