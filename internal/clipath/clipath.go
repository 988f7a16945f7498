// Package clipath locates the pinned agent CLI that scripts/install-cli installs.
package clipath

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Pin is the beginning of the SHA-256 of internal/test/e2e/package-lock.json, which names the installation; a test there
// compares the two.
const Pin = "a7f222f5d32b"

// Cached returns the path at which scripts/install-cli installs the CLI. The file need not exist.
func Cached() (string, error) {
	name, err := binaryName(runtime.GOOS, runtime.GOARCH, exists)
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
	return filepath.Join(cache, "cli-"+Pin, filepath.FromSlash(name)), nil
}

// platform has the names of a processor in npm and in dynamic loaders.
type platform struct{ cpu, glibc, musl string }

var platforms = map[string]platform{
	"amd64": {cpu: "x64", glibc: "/lib64/ld-linux-x86-64.so.2", musl: "/lib/ld-musl-x86_64.so.1"},
	"arm64": {cpu: "arm64", glibc: "/lib/ld-linux-aarch64.so.1", musl: "/lib/ld-musl-aarch64.so.1"},
}

// binaryName returns the slash-separated path of the CLI inside an installation. On Linux the existing loaders
// distinguish glibc from musl; a system with both counts as glibc.
func binaryName(goos, goarch string, exists func(string) bool) (string, error) {
	p, ok := platforms[goarch]
	if !ok {
		return "", fmt.Errorf("the agent CLI does not support %s/%s", goos, goarch)
	}
	system, libc, exe := goos, "", "claude"
	switch goos {
	case "linux":
		if !exists(p.glibc) && exists(p.musl) {
			libc = "-musl"
		}
	case "darwin":
	case "windows":
		system, exe = "win32", "claude.exe"
	default:
		return "", fmt.Errorf("the agent CLI does not support %s/%s", goos, goarch)
	}
	return "node_modules/@anthropic-ai/claude-agent-sdk-" + system + "-" + p.cpu + libc + "/" + exe, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// CheckFile returns an error if path is not a regular file.
func CheckFile(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a file", path)
	}
	return nil
}
