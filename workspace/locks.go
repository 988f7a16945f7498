package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// cleanRefs removes the locks of an owner's refs that a killed git has left, once for each
// owner. Only this manager writes these refs, and no git of a manager before it runs any
// more, or this one would not have the lock of the data directory.
func (m *Manager) cleanRefs(common, owner string) error {
	type result struct {
		sync.Once
		err error
	}
	v, _ := m.cleaned.LoadOrStore(owner, &result{})
	r := v.(*result)
	r.Do(func() {
		names, err := filesIn(filepath.Join(common, filepath.FromSlash(refPrefix(owner))), "", ".lock")
		r.err = errors.Join(err, removeFiles(names...))
	})
	return r.err
}

// cleanBranch removes the lock of the branch of a workspace, which a git that was killed
// while it made the branch or a commit on it has left. Nothing else writes the branch: it is
// checked out in the workspace.
func cleanBranch(r record) error {
	return removeFiles(filepath.Join(r.CommonDir, "refs", "heads", filepath.FromSlash(r.Branch)) + ".lock")
}

// removeFiles removes files that may be gone already.
func removeFiles(names ...string) error {
	for _, name := range names {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("workspace: %w", err)
		}
	}
	return nil
}

// filesIn returns the paths of the files in a directory whose names have a beginning and an
// end. A directory that is not there has none. Unlike a glob it takes any name of the
// directory.
func filesIn(dir, prefix, suffix string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("workspace: %w", err)
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) && strings.HasSuffix(e.Name(), suffix) {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	return names, nil
}
