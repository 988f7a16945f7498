package agents

import (
	"os"
	"path/filepath"
	"testing"
)

// TestByteOrderMark reads the user's agents from a file with a byte order mark at its start.
func TestByteOrderMark(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("AppData", dir)
	t.Setenv("XDG_CONFIG_HOME", dir)
	file, err := RegistryFile()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("\ufeff"+`[{"name":"mine","command":["x"]}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	if list, err := added(); err != nil || len(list) != 1 || list[0].Name != "mine" {
		t.Errorf("the agents are %v, %v; want mine", list, err)
	}
}
