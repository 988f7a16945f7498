package editor_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/checkout"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// clientDir contains the lock file that pins the official client library, which scripts/install-acp
// installs into a cache outside of the checkout, and a program that uses it to run a script against
// an agent.
func clientDir() string {
	return filepath.Join(checkout.Root(), "internal", "test", "e2e", "acpclient")
}

// clientProgram is the source of the program, which must lie in the directory of the library:
//
//	node client.mjs SCRIPT AGENT [ARGUMENT...]
func clientProgram(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(clientDir(), "client.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// requireACPClient returns the directory of the official client library. If it is missing, the test
// is skipped with the reason, and fails with CI=true.
func requireACPClient(tb testing.TB) string {
	tb.Helper()
	short.Skip(tb, "the official ACP client")
	path, err := acpClientPath()
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

// acpClientPath returns the directory in which scripts/install-acp installs the library.
func acpClientPath() (string, error) {
	cache := os.Getenv("PARLEY_CACHE")
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("no cache directory, set PARLEY_CACHE: %w", err)
		}
		cache = filepath.Join(user, "parley")
	}
	lock, err := os.ReadFile(filepath.Join(clientDir(), "package-lock.json"))
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(lock)
	return filepath.Join(cache, "acp-"+hex.EncodeToString(sum[:])[:12], "node_modules", "@agentclientprotocol", "sdk"), nil
}

// The script and the tests must use the same directory for the library.
func TestACPClientPath_script(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the script is a shell script")
	}
	out, err := exec.Command(filepath.Join(checkout.Root(), "scripts", "install-acp"), "--print-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	path, err := acpClientPath()
	if got := strings.TrimSpace(string(out)); err != nil || got != path {
		t.Errorf("the script says %s, acpClientPath %s, %v", got, path, err)
	}
}
