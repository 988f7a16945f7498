package agents

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzRegistry reads arbitrary files with the user's agents. Every returned agent has a valid name and a command.
func FuzzRegistry(f *testing.F) {
	for _, text := range []string{`[{"name":"x","command":["y"]}]`, `[{"name":"claude","command":["y"]}]`, `null`, `[null]`, `{`, `[{"name":"x","command":[""]}]`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		t.Setenv("HOME", t.TempDir())
		t.Setenv("XDG_CONFIG_HOME", os.Getenv("HOME"))
		file, err := RegistryFile()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		list, err := added()
		if err != nil {
			return
		}
		for _, k := range list {
			if err := k.check(); err != nil || !k.Added {
				t.Errorf("of %q the agent %+v is returned: %v", text, k, err)
			}
		}
		if _, err := Registry(); err != nil {
			t.Errorf("with %q there is no list: %v", text, err)
		}
	})
}
