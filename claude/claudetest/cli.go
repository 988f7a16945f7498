package claudetest

import (
	"fmt"
	"os"

	"github.com/seed7221b0f9/parley/internal/clipath"
	"github.com/seed7221b0f9/parley/internal/proc"
)

// FindCLI returns the path of the real CLI for a test: the one in the environment variable PARLEY_CLI, else the
// pinned one in the cache of this project's scripts/install-cli, else a claude on the caller's PATH or in the
// directories of installers. A PARLEY_CLI that is not a file is an error.
func FindCLI() (string, error) {
	if path := os.Getenv("PARLEY_CLI"); path != "" {
		if err := clipath.CheckFile(path); err != nil {
			return "", fmt.Errorf("claudetest: PARLEY_CLI: %w", err)
		}
		return path, nil
	}
	if path, err := clipath.Cached(); err == nil && clipath.CheckFile(path) == nil {
		return path, nil
	}
	path, err := proc.Find("", os.Environ())
	if err != nil {
		return "", fmt.Errorf("claudetest: %w", err)
	}
	return path, nil
}
