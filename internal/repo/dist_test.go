package repo

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestDist builds the command for this system as make dist does for every one. It has the
// stamped version and the right checksum, and contains no path of this machine. The other
// systems are type-checked by scripts/lint.
func TestDist(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("scripts/dist needs a shell")
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "scripts/dist", dir, runtime.GOOS+"/"+runtime.GOARCH)
	cmd.Env = append(os.Environ(), "VERSION=9.8.7")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("scripts/dist: %v\n%s", err, out)
	}
	name := "parley_9.8.7_" + runtime.GOOS + "_" + runtime.GOARCH
	program := readFile(t, filepath.Join(dir, name))
	sum := sha256.Sum256(program)
	if got, want := string(readFile(t, filepath.Join(dir, "SHA256SUMS"))), hex.EncodeToString(sum[:])+"  "+name+"\n"; got != want {
		t.Errorf("SHA256SUMS has %q, want %q", got, want)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{here, dir, filepath.Join(os.Getenv("HOME"), "go")} {
		if len(path) > 1 && bytes.Contains(program, []byte(path+"/")) {
			t.Errorf("the program holds the path %s", path)
		}
	}
	var got struct{ Version, Commit, Go, OS, Arch string }
	out, err := exec.CommandContext(t.Context(), filepath.Join(dir, name), "version", "--json").Output()
	if err != nil || json.Unmarshal(out, &got) != nil {
		t.Fatalf("parley version: %q, %v", out, err)
	}
	if got.Version != "9.8.7" || got.OS != runtime.GOOS || got.Arch != runtime.GOARCH || !strings.HasPrefix(got.Go, "go") {
		t.Errorf("the version is %+v", got)
	}
	head, err := exec.CommandContext(t.Context(), "git", "rev-parse", "HEAD").Output()
	if err == nil && !strings.HasPrefix(got.Commit, strings.TrimSpace(string(head))) {
		t.Errorf("the commit is %q, want %q", got.Commit, head)
	}
}
