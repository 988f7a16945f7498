package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/internal/clipath"
)

// The script that installs the CLI and the code that searches it use the same path.
func TestScriptAgrees(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the script prints the path with slashes")
	}
	script := filepath.Join("..", "..", "..", "scripts", "install-cli")
	for name, cache := range map[string]string{"default": "", "PARLEY_CACHE": filepath.Join(t.TempDir(), "a b")} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PARLEY_CLI", "")
			t.Setenv("PARLEY_CACHE", cache)
			want, err := clipath.Cached()
			if err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command("sh", script, "--print-path").Output()
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimSuffix(string(out), "\n"); got != want {
				t.Errorf("scripts/install-cli --print-path: %s\nthis package:                      %s", got, want)
			}
		})
	}
}

func TestCLIPathOverride(t *testing.T) {
	path := filepath.Join(t.TempDir(), "claude")
	t.Setenv("PARLEY_CLI", path)
	if got, err := CLIPath(); err == nil {
		t.Errorf("CLIPath() = %q for a missing PARLEY_CLI, want an error", got)
	}
	if err := os.WriteFile(path, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if got, err := CLIPath(); err != nil || got != path {
		t.Errorf("CLIPath() = %q, %v, want %q", got, err, path)
	}
}

func TestCLIPathNotInstalled(t *testing.T) {
	t.Setenv("PARLEY_CLI", "")
	t.Setenv("PARLEY_CACHE", t.TempDir())
	if _, err := CLIPath(); err == nil || !strings.Contains(err.Error(), "scripts/install-cli") {
		t.Errorf("CLIPath() error is %v, want one that names scripts/install-cli", err)
	}
}

// The lock file pins one version by content and does not name a registry.
func TestLockFile(t *testing.T) {
	text, err := os.ReadFile("package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	var lock struct {
		Packages map[string]struct{ Version, Resolved, Integrity string }
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		t.Fatal(err)
	}
	if len(lock.Packages) < 2 {
		t.Fatalf("package-lock.json names %d packages", len(lock.Packages))
	}
	for name, p := range lock.Packages {
		switch {
		case name == "":
		case p.Resolved != "":
			t.Errorf("%s has a download address; write the lock file with the .npmrc in this directory", name)
		case p.Integrity == "":
			t.Errorf("%s has no integrity member", name)
		case p.Version != "0.3.325":
			t.Errorf("%s is %s", name, p.Version)
		}
	}
}

// The installation is named after the lock file.
func TestPin(t *testing.T) {
	lock, err := os.ReadFile("package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(lock); hex.EncodeToString(sum[:])[:len(clipath.Pin)] != clipath.Pin {
		t.Errorf("clipath.Pin is %s, the lock file's is %x", clipath.Pin, sum[:6])
	}
}
