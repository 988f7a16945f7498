// Package e2e runs the SDK and the server against the real agent CLI. It is test support
// and not part of the product.
//
// The CLI comes from npm, pinned by package-lock.json in this directory and installed by
// scripts/install-cli into a cache outside the checkout. Its licence forbids
// redistribution, so it is never committed.
package e2e

import (
	"fmt"
	"os"

	"github.com/seed7221b0f9/parley/internal/clipath"
)

// CLIPath returns the path of the agent CLI that the tests run: the one that the
// environment variable PARLEY_CLI names, else the pinned one in the cache. It returns an
// error if there is no such file.
func CLIPath() (string, error) {
	if path := os.Getenv("PARLEY_CLI"); path != "" {
		if err := clipath.CheckFile(path); err != nil {
			return "", fmt.Errorf("PARLEY_CLI: %w", err)
		}
		return path, nil
	}
	path, err := clipath.Cached()
	if err != nil {
		return "", err
	}
	if err := clipath.CheckFile(path); err != nil {
		return "", fmt.Errorf("the agent CLI is not installed, run make test, or scripts/install-cli: %w", err)
	}
	return path, nil
}
