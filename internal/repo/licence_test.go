package repo

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

var (
	licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying)([.-].*)?$`)
	copyleft    = regexp.MustCompile(`GNU (AFFERO |LESSER |LIBRARY )?GENERAL PUBLIC LICENSE`)
)

// licenceFault describes a problem with the licence of the module in dir, or returns "".
func licenceFault(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	found := false
	for _, e := range entries {
		if e.IsDir() || !licenceFile.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return "", err
		}
		// Other licences mention these in lower case as compatible.
		if copyleft.Match(text) {
			return e.Name() + " is a copyleft licence", nil
		}
		found = true
	}
	if !found {
		return "there is no licence file", nil
	}
	return "", nil
}

func TestLicences(t *testing.T) {
	dirs := map[string]string{}
	for _, goos := range systems {
		for _, p := range goList(t, goos, "-deps", "./cmd/...") {
			if p.Module != nil && !p.Module.Main {
				dirs[p.Module.Path] = p.Module.Dir
			}
		}
	}
	for path, dir := range dirs {
		if dir == "" {
			t.Errorf("%s is linked into a command but not in the module cache", path)
			continue
		}
		fault, err := licenceFault(dir)
		if err != nil {
			t.Fatal(err)
		}
		if fault != "" {
			t.Errorf("%s is linked into a command: %s", path, fault)
		}
	}
}

func TestLicenceFault(t *testing.T) {
	dir := t.TempDir()
	check := func(want string) {
		t.Helper()
		if got, err := licenceFault(dir); err != nil || got != want {
			t.Errorf("licenceFault = %q, %v, want %q", got, err, want)
		}
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check("there is no licence file")
	write("LICENSE.txt", "Mozilla Public License\n… the GNU General Public License, Version 2.0 …")
	check("")
	write("COPYING", "  GNU GENERAL PUBLIC LICENSE\n  Version 3")
	check("COPYING is a copyleft licence")
}
