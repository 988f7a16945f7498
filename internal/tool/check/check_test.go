package main

import (
	"go/ast"
	"go/token"
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

// write makes the files in a new folder and returns it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
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
	return dir
}

// equal fails the test unless each finding contains what is wanted at its place.
func equal(t *testing.T, found []string, err error, want []string) {
	t.Helper()
	if err != nil || !slices.EqualFunc(found, want, strings.Contains) {
		t.Errorf("%v, found\n%s\nwant\n%s", err, strings.Join(found, "\n"), strings.Join(want, "\n"))
	}
}

// TestCheck: a type error and a finding of an analyzer in files of one system are reported for that system, tests included.
func TestCheck(t *testing.T) {
	dir := write(t, files)
	for system, want := range map[string][]string{
		"darwin":  nil,
		"windows": {"a.go:3:23: cannot use value", "b_windows_test.go:5:38: (*testing.common).Errorf format %d has arg \"one\" of wrong type string"},
	} {
		found, err := check(dir, system, false)
		equal(t, found, err, want)
	}
	if found, err := check(filepath.Join(dir, "none"), "darwin", false); err == nil {
		t.Errorf("a folder that does not exist: found %q, want an error", found)
	}
}

// TestCheck_staticcheck: the findings of Staticcheck are reported except where a comment excludes them. What only tests use is
// used.
func TestCheck_staticcheck(t *testing.T) {
	dir := write(t, map[string]string{
		"go.mod": "module m\n\ngo 1.26\n",
		"a/a.go": `package a

import "strings"

func unused() {}

func forTests() {}

func F(s string) string {
	strings.ToLower(s)
	//lint:ignore SA1019 the test is about it
	s = strings.Title(s)
	return strings.Title(s)
}
`,
		"a/a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { forTests() }\n",
		"b/b.go":      "//lint:file-ignore U1000,SA4017 the test is about it\n\npackage b\n\nimport \"strings\"\n\nfunc unused() { strings.ToLower(\"\") }\n",
	})
	found, err := check(dir, "linux", true)
	equal(t, found, err, []string{
		"a.go:10:2: ToLower doesn't have side effects and its return value is ignored (SA4017)",
		"a.go:13:9: strings.Title has been deprecated",
		"a.go:5:6: func unused is unused (U1000)",
	})
}

// TestParseFile: functions of other modules have no bodies, except where the language requires one.
func TestParseFile(t *testing.T) {
	const text = "package p\n\ntype T[E any] []E\n\nfunc init() { f() }\nfunc f() { init() }\nfunc g[E any]() { f() }\nfunc (*T[E]) m() { f() }\n"
	for name, want := range map[string]string{
		filepath.Join("/x", "pkg", "mod", "m@v1", "p.go"): "init{} f g{..} m{..}",
		filepath.Join("/x", "m", "p.go"):                  "init{..} f{..} g{..} m{..}",
	} {
		f, err := parseFile(token.NewFileSet(), name, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			switch {
			case !ok:
			case fn.Body == nil:
				got = append(got, fn.Name.Name)
			default:
				got = append(got, fn.Name.Name+"{"+strings.Repeat("..", len(fn.Body.List))+"}")
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", name, strings.Join(got, " "), want)
		}
	}
}
