package acpclient

import (
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// The script and the tests must agree on where the library is.
func TestPath_script(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the script is a shell script")
	}
	out, err := exec.Command("../../../../scripts/install-acp", "--print-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	path, err := Path()
	if got := strings.TrimSpace(string(out)); err != nil || got != path {
		t.Errorf("the script says %s, Path %s, %v", got, path, err)
	}
}
