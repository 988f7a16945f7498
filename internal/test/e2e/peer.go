package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/checkout"
)

// Peer returns the directory node_modules of a peer that scripts/install-peers has installed, such as adapter. Without it the test is
// skipped with a reason, or fails with CI=true.
func Peer(tb testing.TB, name string) string {
	tb.Helper()
	missing := tb.Skipf
	if os.Getenv("CI") == "true" {
		missing = tb.Fatalf
	}
	pin, err := os.ReadFile(filepath.Join(checkout.Root(), "bench", name, "package-lock.json"))
	if err != nil {
		tb.Fatal(err)
	}
	cache := os.Getenv("PARLEY_CACHE")
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			missing("this test needs %s, and there is no cache directory: %v", name, err)
		}
		cache = filepath.Join(user, "parley")
	}
	sum := sha256.Sum256(pin)
	dir := filepath.Join(cache, "bench-"+name+"-"+hex.EncodeToString(sum[:])[:12])
	if _, err := os.Stat(filepath.Join(dir, "installed")); err != nil {
		missing("this test needs %s, run scripts/install-peers %s: %v", name, name, err)
	}
	return filepath.Join(dir, "node_modules")
}
