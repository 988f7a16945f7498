package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestBinaryName(t *testing.T) {
	const (
		glibc = "/lib64/ld-linux-x86-64.so.2"
		musl  = "/lib/ld-musl-x86_64.so.1"
	)
	tests := []struct {
		goos, goarch string
		files        []string
		want         string // between the package name's stem and the end; empty is an error
	}{
		{"linux", "amd64", []string{glibc}, "linux-x64/claude"},
		{"linux", "amd64", []string{musl}, "linux-x64-musl/claude"},
		{"linux", "amd64", []string{glibc, musl}, "linux-x64/claude"},
		{"linux", "amd64", nil, "linux-x64/claude"},
		{"linux", "arm64", []string{"/lib/ld-musl-aarch64.so.1"}, "linux-arm64-musl/claude"},
		{"linux", "arm64", []string{"/lib/ld-linux-aarch64.so.1"}, "linux-arm64/claude"},
		{"darwin", "arm64", nil, "darwin-arm64/claude"},
		{"darwin", "amd64", nil, "darwin-x64/claude"},
		{"windows", "amd64", nil, "win32-x64/claude.exe"},
		{"windows", "arm64", nil, "win32-arm64/claude.exe"},
		{"linux", "riscv64", nil, ""},
		{"plan9", "amd64", nil, ""},
	}
	for _, tt := range tests {
		got, err := binaryName(tt.goos, tt.goarch, func(path string) bool { return slices.Contains(tt.files, path) })
		if tt.want == "" {
			if err == nil {
				t.Errorf("binaryName(%s, %s) = %q, want an error", tt.goos, tt.goarch, got)
			}
			continue
		}
		want := "node_modules/@anthropic-ai/claude-agent-sdk-" + tt.want
		if err != nil || got != want {
			t.Errorf("binaryName(%s, %s) with %v = %q, %v, want %q", tt.goos, tt.goarch, tt.files, got, err, want)
		}
	}
}

// The script that installs the CLI and the code that looks for it must agree on the place.
func TestScriptAgrees(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the script prints the path with slashes")
	}
	script := filepath.Join("..", "..", "scripts", "install-cli")
	for name, cache := range map[string]string{"default": "", "PARLEY_CACHE": filepath.Join(t.TempDir(), "a b")} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PARLEY_CLI", "")
			t.Setenv("PARLEY_CACHE", cache)
			want, err := cachedPath()
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

// The lock file pins one version by content and leaves the registry to the machine.
func TestLockFile(t *testing.T) {
	var lock struct {
		Packages map[string]struct{ Version, Resolved, Integrity string }
	}
	if err := json.Unmarshal(lockFile, &lock); err != nil {
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
