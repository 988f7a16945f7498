package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// maxIncludes limits the conditionally included files of a repository's configuration.
const maxIncludes = 100

// included returns the settings in files that the repository's settings include, even if the condition of an include is false now: it may
// be true in a later worktree or on another branch. The directories are the one where git was run and the top of the working tree.
func (m *Manager) included(ctx context.Context, all []setting, dirs ...string) (more []setting, err error) {
	seen := map[string]bool{}
	open := all
	for len(open) > 0 {
		var next []setting
		for _, s := range open {
			if s.own() || !s.includes() {
				continue
			}
			paths, err := m.includePaths(s, dirs)
			if err != nil {
				return nil, err
			}
			for _, path := range paths {
				if info, err := os.Stat(path); seen[path] || err != nil || !info.Mode().IsRegular() {
					continue
				}
				if seen[path] = true; len(seen) > maxIncludes {
					return nil, fmt.Errorf("%w: the configuration of %s includes more than %d files", ErrUnsafe, dirs[0], maxIncludes)
				}
				out, err := m.git.run(ctx, command{dir: dirs[0], args: []string{"config", "--file", path, "--no-includes", "--list", "-z"}})
				if err != nil {
					return nil, err
				}
				next = append(next, parseFile(string(out), path)...)
			}
		}
		more, open = append(more, next...), next
	}
	return more, nil
}

// includes reports whether a setting names a file with more settings.
func (s setting) includes() bool {
	key := strings.ToLower(s.key)
	return key == "include.path" || strings.HasPrefix(key, "includeif.") && strings.HasSuffix(key, ".path")
}

// includePaths returns the files that a setting may name. A relative path starts at the file with the setting, which git may name
// from either directory.
func (m *Manager) includePaths(s setting, dirs []string) ([]string, error) {
	path := s.value
	switch {
	case path == "":
		return nil, nil
	case strings.HasPrefix(path, "~/"):
		return []string{filepath.Join(m.git.variable("HOME"), path[2:])}, nil
	case strings.HasPrefix(path, "~"), strings.HasPrefix(path, "%("):
		return nil, fmt.Errorf("%w: the configuration of %s includes %q, which is not checked", ErrUnsafe, dirs[0], path)
	case filepath.IsAbs(path):
		return []string{filepath.Clean(path)}, nil
	case filepath.IsAbs(s.file):
		return []string{filepath.Join(filepath.Dir(s.file), path)}, nil
	}
	var all []string
	for _, dir := range dirs {
		all = append(all, filepath.Join(dir, filepath.Dir(s.file), path))
	}
	return all, nil
}

// parseFile reads the output of git config --file --list -z.
func parseFile(out, file string) (all []setting) {
	for entry := range strings.SplitSeq(out, "\x00") {
		if key, value, _ := strings.Cut(entry, "\n"); key != "" {
			all = append(all, setting{scope: "local", key: key, value: value, file: file})
		}
	}
	return all
}

// checkTop returns an error unless git's top of the working tree is the nearest directory with git data: a repository can name another one
// (core.worktree), and git would read and change its files.
func checkTop(dir, top string) error {
	at, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	want, err := filepath.EvalSymlinks(top)
	if err != nil {
		return err
	}
	for ; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			break
		}
		if at == filepath.Dir(at) {
			return nil // git has found its data in another way, which the caller has to allow
		}
	}
	if at != want {
		return fmt.Errorf("%w: the configuration of %s names another working tree, %s", ErrUnsafe, at, want)
	}
	return nil
}
