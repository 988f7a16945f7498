// Package e2e runs the SDK and the server against the real agent CLI. It is test support:
// nothing that is shipped imports it.
//
// The CLI comes from npm, pinned by package-lock.json in this directory and installed by
// scripts/install-cli into a cache outside the checkout. Its licence forbids passing it
// on, so nothing of it is ever committed.
package e2e

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

//go:embed package-lock.json
var lockFile []byte

// CLIPath returns the path of the agent CLI that the tests run: the one that the
// environment variable PARLEY_CLI names, else the pinned one in the cache. It returns an
// error if there is no such file.
func CLIPath() (string, error) {
	if path := os.Getenv("PARLEY_CLI"); path != "" {
		if err := checkFile(path); err != nil {
			return "", fmt.Errorf("PARLEY_CLI: %w", err)
		}
		return path, nil
	}
	path, err := cachedPath()
	if err != nil {
		return "", err
	}
	if err := checkFile(path); err != nil {
		return "", fmt.Errorf("the agent CLI is not installed, run make test, or scripts/install-cli: %w", err)
	}
	return path, nil
}

// cachedPath returns where scripts/install-cli puts the CLI.
func cachedPath() (string, error) {
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
	sum := sha256.Sum256(lockFile)
	return filepath.Join(cache, "cli-"+hex.EncodeToString(sum[:])[:12], filepath.FromSlash(name)), nil
}

// platform is what npm and the dynamic loaders call a processor.
type platform struct{ cpu, glibc, musl string }

var platforms = map[string]platform{
	"amd64": {cpu: "x64", glibc: "/lib64/ld-linux-x86-64.so.2", musl: "/lib/ld-musl-x86_64.so.1"},
	"arm64": {cpu: "arm64", glibc: "/lib/ld-linux-aarch64.so.1", musl: "/lib/ld-musl-aarch64.so.1"},
}

// binaryName returns the slash-separated path of the CLI inside an installation. On Linux
// the loaders that exist tell glibc from musl; a system with both counts as glibc.
func binaryName(goos, goarch string, exists func(string) bool) (string, error) {
	p, ok := platforms[goarch]
	if !ok {
		return "", fmt.Errorf("there is no agent CLI for %s/%s", goos, goarch)
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
		return "", fmt.Errorf("there is no agent CLI for %s/%s", goos, goarch)
	}
	return "node_modules/@anthropic-ai/claude-agent-sdk-" + system + "-" + p.cpu + libc + "/" + exe, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func checkFile(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a file", path)
	}
	return nil
}
