package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// blob returns the content of a file in a snapshot, in git's form.
func (t *Tree) blob(ctx context.Context, id string) (string, error) {
	out, err := t.m.git.run(ctx, command{dir: t.dir, args: []string{"cat-file", "blob", id}})
	return string(out), err
}

// entry returns mode and id of a file in a tree; both are empty if it does not exist.
func (t *Tree) entry(ctx context.Context, tree, path string) (mode, id string, err error) {
	out, err := t.m.git.run(ctx, command{dir: t.dir, args: []string{"ls-tree", "-z", tree, "--", path}})
	if err != nil {
		return "", "", err
	}
	for line := range strings.SplitSeq(string(out), "\x00") {
		head, name, ok := strings.Cut(line, "\t")
		if parts := strings.Fields(head); ok && name == path && len(parts) == 3 {
			return parts[0], parts[2], nil
		}
	}
	return "", "", nil
}

// smudged returns a content in the form that git would write to the file: with the configured line
// ends and filters of the path. The error is [ErrFilter] if one of the filters is not run.
func (t *Tree) smudged(ctx context.Context, path, text string) ([]byte, error) {
	g, err := t.m.guard(ctx, t.dir)
	if err != nil {
		return nil, err
	}
	found, err := t.filtered(ctx, g, []string{path})
	if err != nil {
		return nil, err
	}
	if found[path] {
		return nil, fmt.Errorf("%w: %s", ErrFilter, path)
	}
	id, err := t.m.git.run(ctx, command{dir: t.dir, args: []string{"hash-object", "-t", "blob", "-w", "--no-filters", "--stdin"}, stdin: strings.NewReader(text)})
	if err != nil {
		return nil, err
	}
	prefix, err := filepath.Rel(t.top, t.dir)
	if err != nil {
		return nil, fmt.Errorf("workspace: %w", err)
	}
	full := filepath.ToSlash(filepath.Join(prefix, filepath.FromSlash(path)))
	return t.m.git.run(ctx, command{dir: t.top, guard: g, args: []string{"cat-file", "--filters", "--path=" + full, strings.TrimSpace(string(id))}})
}

// merge applies the changes between two texts to a third one. It returns false on a conflict.
func (t *Tree) merge(ctx context.Context, current, from, to string) (string, bool, error) {
	dir, err := os.MkdirTemp(filepath.Join(t.m.opts.Dir, scratchDir), "merge-")
	if err != nil {
		return "", false, fmt.Errorf("workspace: %w", err)
	}
	defer os.RemoveAll(dir)
	for name, text := range map[string]string{"current": current, "from": from, "to": to} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return "", false, fmt.Errorf("workspace: %w", err)
		}
	}
	out, err := t.m.git.run(ctx, command{dir: dir, args: []string{"merge-file", "-p", "--quiet", "current", "from", "to"}})
	if e, ok := errors.AsType[*GitError](err); ok && e.Exit > 0 && e.Exit < 128 {
		return "", false, nil
	}
	return string(out), err == nil, err
}
