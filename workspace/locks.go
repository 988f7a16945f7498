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

// cleanRefs removes the locks of a killed git on an owner's refs, once per owner. Only this manager
// writes these refs, and no git of an earlier manager is running, or this one would not have the
// lock of the data directory.
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

// cleanBranch removes the lock on the branch of a workspace from a git that was killed while it
// created the branch or a commit. No other process writes the branch: it is checked out in the
// workspace.
func cleanBranch(r record) error {
	return removeFiles(filepath.Join(r.CommonDir, "refs", "heads", filepath.FromSlash(r.Branch)) + ".lock")
}

// removeFiles removes files that may not exist.
func removeFiles(names ...string) error {
	for _, name := range names {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("workspace: %w", err)
		}
	}
	return nil
}

// missing reports whether a directory does not exist.
func missing(dir string) bool {
	_, err := os.Stat(dir)
	return errors.Is(err, fs.ErrNotExist)
}

// filesIn returns the paths of the files in a directory with a prefix and a suffix. A missing
// directory is empty. Unlike a glob it accepts any directory name.
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
