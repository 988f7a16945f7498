package joined

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// resolve returns the absolute path of a directory without symbolic links.
func resolve(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	path, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a directory", dir)
	}
	return path, err
}

// allowed returns the path of a directory that a server names, without symbolic links. The error does not tell whether a directory
// outside of the offered ones exists.
func (p *Policy) allowed(dir string) (string, error) {
	refused := fmt.Errorf("directory %q is not below the directories of this machine", dir)
	if !filepath.IsAbs(dir) || strings.ContainsRune(dir, 0) {
		return "", refused
	}
	path, err := resolve(dir)
	for _, root := range p.dirs {
		if err == nil && below(root, path) {
			return path, nil
		}
	}
	return "", refused
}

// below reports whether a path is a directory or in it. Both have no symbolic links.
func below(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}
