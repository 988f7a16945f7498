package joined

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
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
func (p *Policy) allowed(ctx context.Context, dir string) (string, error) {
	local, err := p.files.get(ctx)
	if err != nil {
		return "", err
	}
	path, err := local.Dir(dir)
	if err == nil {
		path, err = resolve(path)
	}
	if err != nil {
		return "", fmt.Errorf("directory %q is not below the directories of this machine", dir)
	}
	return path, nil
}
