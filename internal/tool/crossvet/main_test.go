package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// files is a module with a wrong type and a wrong format, which only Windows compiles.
var files = map[string]string{
	"go.mod":              "module m\n\ngo 1.26\n",
	"a/a.go":              "package a\n\nfunc F() int { return value }\n",
	"a/a_windows.go":      "package a\n\nconst value = \"one\"\n",
	"a/a_other.go":        "//go:build !windows\n\npackage a\n\nconst value = 1\n",
	"b/b.go":              "package b\n",
	"b/b_windows_test.go": "package b\n\nimport \"testing\"\n\nfunc TestB(t *testing.T) { t.Errorf(\"%d\", \"one\") }\n",
}

// A type error and a finding of an analyzer in files of one system are reported for that system, tests included.
func TestCheck(t *testing.T) {
	t.Setenv("GOFLAGS", "-buildvcs=false")
	t.Setenv("GOWORK", "off")
	t.Setenv("GOPROXY", "off")
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for system, want := range map[string][]string{
		"darwin":  nil,
		"windows": {"a.go:3:23: cannot use value", "b_windows_test.go:5:38: (*testing.common).Errorf format %d has arg \"one\" of wrong type string"},
	} {
		found, err := check(dir, system)
		match := func(got, want string) bool { return strings.Contains(got, want) }
		if err != nil || !slices.EqualFunc(found, want, match) {
			t.Errorf("%s: %v, found\n%s\nwant\n%s", system, err, strings.Join(found, "\n"), strings.Join(want, "\n"))
		}
	}
	if found, err := check(filepath.Join(dir, "none"), "darwin"); err == nil {
		t.Errorf("a folder that does not exist: found %q, want an error", found)
	}
}
