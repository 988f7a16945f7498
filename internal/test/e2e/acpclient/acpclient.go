// Package acpclient finds the official client library of the Agent Client Protocol, and has
// a program on it that runs a script against an agent. It is test support.
//
// The library comes from npm, pinned by the lock file of this directory and installed by
// scripts/install-acp into a cache outside the checkout.
package acpclient

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/short"
)

//go:embed package-lock.json
var lock []byte

// Program is the source of the program, which must lie in the directory of the library:
//
//	node client.mjs SCRIPT AGENT [ARGUMENT...]
//
//go:embed client.mjs
var Program []byte

// Require returns the directory of the library. Without it the test is skipped, and the
// reason printed; it fails where CI=true.
func Require(tb testing.TB) string {
	tb.Helper()
	short.Skip(tb, "the official ACP client")
	path, err := Path()
	if err == nil {
		_, err = os.Stat(path)
	}
	switch {
	case err == nil:
		return path
	case os.Getenv("CI") == "true":
		tb.Fatalf("this test needs the ACP client library: %v", err)
	default:
		tb.Skipf("this test needs the ACP client library, run scripts/install-acp: %v", err)
	}
	return ""
}

// Path returns where scripts/install-acp puts the library.
func Path() (string, error) {
	cache := os.Getenv("PARLEY_CACHE")
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("no cache directory, set PARLEY_CACHE: %w", err)
		}
		cache = filepath.Join(user, "parley")
	}
	sum := sha256.Sum256(lock)
	return filepath.Join(cache, "acp-"+hex.EncodeToString(sum[:])[:12], "node_modules", "@agentclientprotocol", "sdk"), nil
}
