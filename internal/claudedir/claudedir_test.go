package claudedir_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/internal/claudedir"
	"github.com/seed7221b0f9/parley/internal/random"
)

func TestConfig(t *testing.T) {
	home := "HOME"
	if runtime.GOOS == "windows" {
		home = "USERPROFILE"
	}
	for name, tt := range map[string]struct {
		env  []string
		want string
	}{
		"home":             {[]string{home + "=/h"}, filepath.Join("/h", ".claude")},
		"given":            {[]string{home + "=/h", "CLAUDE_CONFIG_DIR=/c"}, "/c"},
		"empty is not set": {[]string{home + "=/h", "CLAUDE_CONFIG_DIR="}, filepath.Join("/h", ".claude")},
		"the last counts":  {[]string{"CLAUDE_CONFIG_DIR=/a", "CLAUDE_CONFIG_DIR=/b"}, "/b"},
		"composed":         {[]string{"CLAUDE_CONFIG_DIR=/e\u0301"}, "/\u00e9"},
		"not a variable":   {[]string{"CLAUDE_CONFIG_DIR", home + "=/h"}, filepath.Join("/h", ".claude")},
		"nothing":          {nil, ".claude"},
	} {
		if got := claudedir.Config(claudedir.Environ(tt.env)); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// The fixed project name counts only with a configuration directory, and only if it is a
// valid directory name on every system.
func TestProject(t *testing.T) {
	dir := t.TempDir()
	key := claudedir.ProjectKey(dir)
	for name, want := range map[string]string{
		"fixed-name": "fixed-name", "A_1": "A_1", strings.Repeat("x", 64): strings.Repeat("x", 64), "con1": "con1", "com10": "com10",
		"": key, "a b": key, "a/b": key, "..": key, "a.b": key, "é": key, strings.Repeat("x", 65): key,
		"con": key, "NUL": key, "Aux": key, "prn": key, "com0": key, "LPT9": key, "x\n": key,
	} {
		env := []string{"CLAUDE_CODE_PROJECT_DIR_NAME=" + name, "CLAUDE_CONFIG_DIR=/c"}
		if got := claudedir.Project(claudedir.Environ(env), dir); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
		if got := claudedir.Project(claudedir.Environ(env[:1]), dir); got != key {
			t.Errorf("%q without a configuration directory: %q, want %q", name, got, key)
		}
	}
}

func TestProjectKey(t *testing.T) {
	dir := t.TempDir()
	real := filepath.Join(dir, "a b", "c.d_e😀é")
	if err := os.MkdirAll(real, 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(real, link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	base := claudedir.Dashes(claudedir.RealPath(dir))
	want := base + "-a-b-c-d-e---" // two units for the emoji, one for the letter
	if len(want) > claudedir.MaxKey {
		t.Skip("the temporary directory has a long name:", dir)
	}
	for _, path := range []string{real, link} {
		if got := claudedir.ProjectKey(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	t.Chdir(real)
	if got := claudedir.ProjectKey(""); got != want {
		t.Errorf("the working directory: %q, want %q", got, want)
	}
}

// A long path is cut to 200 units and ends in a hash: the absolute value of a 32-bit hash
// with multiplier 31.
func TestLongProjectKey(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the expected keys are of paths without a drive")
	}
	for path, suffix := range map[string]string{
		"/" + strings.Repeat("x", 200): "-d0i18x",
		"/" + strings.Repeat("y", 250): "-hj261b",
	} {
		got := claudedir.ProjectKey(path)
		if len(got) <= claudedir.MaxKey || got[:claudedir.MaxKey] != claudedir.Dashes(path)[:claudedir.MaxKey] || got[claudedir.MaxKey:] != suffix {
			t.Errorf("%d units: %q", len(path), got[claudedir.MaxKey:])
		}
	}
	if path := "/" + strings.Repeat("x", 199); claudedir.ProjectKey(path) != claudedir.Dashes(path) {
		t.Error("200 units were cut")
	}
}

func TestID(t *testing.T) {
	id := random.UUID()
	if !claudedir.ValidID(id) || id == random.UUID() || id[14] != '4' || !strings.ContainsRune("89ab", rune(id[19])) {
		t.Errorf("id is %v; want claudedir.ValidID(id) and id != random.UUID() and id[14] == '4' and strings.ContainsRune(\"89ab\", rune(id[19]))", id)
	}
	for _, bad := range []string{"", "x", id + "0", id[:35], strings.ReplaceAll(id, "-", "0"), "g" + id[1:], "../" + id[3:], id[:8] + "/" + id[9:]} {
		if claudedir.ValidID(bad) {
			t.Errorf("%q was taken", bad)
		}
	}
	if !claudedir.ValidID(strings.ToUpper(id)) {
		t.Error("capitals were refused")
	}
}
