package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Git's settings are read with their scope and file, without the settings on the command line.
func TestParseSettings(t *testing.T) {
	out := strings.Join([]string{"local", "file:.git/config", "core.pager\nless -R\nx", "command", "command line:", "core.hookspath\n/dev/null", "global", "file:/etc/file:x", "user.name", "worktree", "blob:abc", "a.b\n", "cut"}, "\x00")
	want := []setting{{scope: "local", key: "core.pager", value: "less -R\nx", file: ".git/config"}, {scope: "global", key: "user.name", file: "/etc/file:x"}, {scope: "worktree", key: "a.b", file: "blob:abc"}}
	got := parseSettings(out)
	if len(got) != len(want) {
		t.Fatalf("the settings are %+v, want %+v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("setting %d is %+v, want %+v", i, got[i], want[i])
		}
	}
	if got := parseSettings(""); len(got) != 0 {
		t.Errorf("of nothing the settings are %+v", got)
	}
}

// The special characters of a branch are escaped, and no others.
func TestGlobEscape(t *testing.T) {
	for name, want := range map[string]string{"main": "main", "a/b-c.d": "a/b-c.d", "a]b": `a\]b`, "{x}": `\{x\}`, "]{}": `\]\{\}`} {
		if got := globEscape(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

// The lock of a branch is removed, and no other file.
func TestCleanBranch(t *testing.T) {
	dir := t.TempDir()
	r := record{CommonDir: dir, Workspace: Workspace{Branch: "a/b"}}
	if err := cleanBranch(r); err != nil {
		t.Errorf("without a lock: %v, want no error", err)
	}
	heads := filepath.Join(dir, "refs", "heads", "a")
	if err := os.MkdirAll(heads, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"b", "b.lock", "c.lock"} {
		if err := os.WriteFile(filepath.Join(heads, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := cleanBranch(r); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(heads)
	if err != nil || len(left) != 2 || left[0].Name() != "b" || left[1].Name() != "c.lock" {
		t.Errorf("%v, %v are left, want b and the lock of the other branch", left, err)
	}
}
