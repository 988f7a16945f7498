package codexcli

import (
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// The script and the tests use the same paths.
func TestPath_script(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the script is a shell script")
	}
	for _, version := range []string{Newer, Older} {
		out, err := exec.Command("../../../../scripts/install-codex", "--print-path", version).Output()
		if err != nil {
			t.Fatal(err)
		}
		path, err := Path(version)
		if got := strings.TrimSpace(string(out)); err != nil || got != path {
			t.Errorf("the script says %s, Path %s, %v", got, path, err)
		}
		if got, err := exec.Command(Require(t, version), "--version").Output(); err != nil || !strings.Contains(string(got), version) {
			t.Errorf("%s --version: %q, %v", path, got, err)
		}
	}
}
