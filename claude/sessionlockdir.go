package claude

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed7221b0f9/parley/internal/claudedir"
)

// lockDir returns the directory of the session locks, or "" if it is unknown.
func lockDir(l *launch) string {
	env := claudedir.Environ(l.environ())
	dir := claudedir.Config(env)
	if l.Isolation != nil && l.Isolation.ConfigDir != "" {
		dir = l.Isolation.ConfigDir
	} else if !claudedir.Known(env) {
		return ""
	}
	return filepath.Join(dir, "parley", "locks")
}

// makeLockDir creates the directory of the locks and its parent. A symbolic link in place of
// either is an error: no file below the configuration directory is written through links.
func makeLockDir(dir string) error {
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(filepath.Dir(parent), 0o700); err != nil {
		return err
	}
	for _, path := range []string{parent, dir} {
		if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return fmt.Errorf("claude: %s is not a separate directory", path)
		}
	}
	return nil
}
