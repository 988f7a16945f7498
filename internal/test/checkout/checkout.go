// Package checkout locates the source tree that a test runs in.
package checkout

import (
	"os"
	"path/filepath"
)

// Root returns the directory of the module that contains the working directory, and "." if no
// parent has a go.mod. It searches the disk because a binary built with -trimpath does not
// record its source path.
func Root() string {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	return "."
}
