// Package codexcli finds the pinned codex programs that the suite runs. It is test support.
//
// They come from npm, pinned by the lock files below this directory and installed by
// scripts/install-codex into a cache outside the checkout.
package codexcli

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/short"
)

// The pinned versions: the SDK is written for the newer one; the older one must work as far
// as it supports the protocol.
const (
	Newer = "0.166.0"
	Older = "0.144.6"
)

//go:embed */package-lock.json
var locks embed.FS

// Require returns the path of a pinned version. Without the program it skips the test with a
// reason, or fails it with CI=true.
func Require(tb testing.TB, version string) string {
	tb.Helper()
	short.Skip(tb, "codex")
	path, err := Path(version)
	if err != nil {
		tb.Skipf("this test needs codex: %v", err)
	}
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CI") == "true" {
			tb.Fatalf("this test needs codex %s: %v", version, err)
		}
		tb.Skipf("this test needs codex %s, run scripts/install-codex: %v", version, err)
	}
	return path
}

// Path returns the path at which scripts/install-codex installs a version. It returns an error if
// Codex is not built for this system.
func Path(version string) (string, error) {
	name, err := binaryName(runtime.GOOS, runtime.GOARCH)
	if err != nil {
		return "", err
	}
	lock, err := locks.ReadFile(version + "/package-lock.json")
	if err != nil {
		return "", err
	}
	cache := os.Getenv("PARLEY_CACHE")
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("no cache directory, set PARLEY_CACHE: %w", err)
		}
		cache = filepath.Join(user, "parley")
	}
	sum := sha256.Sum256(lock)
	return filepath.Join(cache, "codex-"+hex.EncodeToString(sum[:])[:12], filepath.FromSlash(name)), nil
}

func binaryName(goos, goarch string) (string, error) {
	cpu := map[string][2]string{"amd64": {"x64", "x86_64"}, "arm64": {"arm64", "aarch64"}}[goarch]
	system := map[string][3]string{
		"linux": {"linux", "unknown-linux-musl", "codex"}, "darwin": {"darwin", "apple-darwin", "codex"},
		"windows": {"win32", "pc-windows-msvc", "codex.exe"},
	}[goos]
	if cpu[0] == "" || system[0] == "" {
		return "", fmt.Errorf("codex does not support %s/%s", goos, goarch)
	}
	return fmt.Sprintf("node_modules/@openai/codex-%s-%s/vendor/%s-%s/bin/%s", system[0], cpu[0], cpu[1], system[1], system[2]), nil
}
