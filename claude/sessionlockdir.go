package claude

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed7221b0f9/parley/internal/claudedir"
)

// lockDir is where the locks of sessions are, "" if that is not known.
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

// makeLockDir makes the directory of the locks and the one that it is in. A link in the place of
// either is an error: below the configuration directory nothing is written through links.
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
			return fmt.Errorf("claude: %s is not a directory of its own", path)
		}
	}
	return nil
}
