// Package bwraptest finds bubblewrap for tests, where scripts/install-bwrap finds or installs it.
package bwraptest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/short"
)

// Dir returns the directory of bwrap. Without one it skips the test, or fails it with CI=true. A test calls it before it changes HOME.
func Dir(tb testing.TB) string {
	tb.Helper()
	short.Skip(tb, "boxes")
	if path, err := exec.LookPath("bwrap"); err == nil {
		return filepath.Dir(path)
	}
	cache := os.Getenv("PARLEY_CACHE")
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			tb.Fatal(err)
		}
		cache = filepath.Join(user, "parley")
	}
	dir := filepath.Join(cache, "bubblewrap", "usr", "bin")
	if _, err := os.Stat(filepath.Join(dir, "bwrap")); err != nil {
		Missing(tb, err)
	}
	return dir
}

// Missing skips a test for a reason, or fails it with CI=true.
func Missing(tb testing.TB, reason error) {
	tb.Helper()
	if os.Getenv("CI") == "true" {
		tb.Fatalf("no boxes: %v; scripts/install-bwrap installs bubblewrap", reason)
	}
	tb.Skipf("no boxes: %v; scripts/install-bwrap installs bubblewrap", reason)
}

// Visible selects a temporary directory that boxes show, if the current one is below /dev. TestMain calls it first.
func Visible() {
	if strings.HasPrefix(os.TempDir(), "/dev/") {
		os.Unsetenv("TMPDIR")
	}
}
