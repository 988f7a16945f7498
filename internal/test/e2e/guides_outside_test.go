package e2e_test

import (
	"archive/zip"
	"encoding/json"
	"flag"
	"fmt"
	"go/format"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/internal/test/checkout"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
	"github.com/seed7221b0f9/parley/internal/test/guide"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

var update = flag.Bool("update", false, "write the programs of the pages into docs/guide/testdata")

// program returns the Go code of a page as the one file of a program, or of a test, and the name of the file.
func (a *assembly) program() (name, text string, err error) {
	name = "main.go"
	if !a.HasMain {
		name = "main_test.go"
	}
	var b strings.Builder
	b.WriteString("package main\n\nimport (\n")
	for _, path := range slices.Sorted(maps.Keys(a.paths)) {
		fmt.Fprintf(&b, "\t%q\n", path)
	}
	b.WriteString(")\n")
	for line := range strings.Lines(a.body.String()) {
		if !strings.HasPrefix(line, "//line ") {
			b.WriteString(line)
		}
	}
	formatted, err := format.Source([]byte(b.String()))
	return name, string(formatted), err
}

// TestGuides_files checks that docs/guide/testdata contains the program of every page with a
// program.
func TestGuides_files(t *testing.T) {
	root := checkout.Root()
	programs := filepath.Join(root, "docs", "guide", "testdata")
	want := map[string]string{}
	for page, a := range assembled(t, root) {
		if !a.HasMain && len(a.Tests) == 0 {
			continue
		}
		name, text, err := a.program()
		if err != nil {
			t.Fatalf("the program of page %s: %v", page, err)
		}
		want[filepath.Join(page, name)] = text
	}
	if *update {
		if err := os.RemoveAll(programs); err != nil {
			t.Fatal(err)
		}
		for name, text := range want {
			writeFile(t, filepath.Join(programs, name), text)
		}
	}
	got := map[string]string{}
	err := filepath.WalkDir(programs, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		rel, _ := filepath.Rel(programs, name)
		got[rel] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/guide/testdata differs from the pages (-pages +files); go test -run TestGuides_files -update ./internal/test/e2e writes it:\n%s", diff)
	}
}

// TestGuides_outside builds the programs of docs/guide/testdata in a module that has Parley by "go get" alone, as the first guide
// describes it, and runs them. Usually that is the first program, in a soak run all of them.
func TestGuides_outside(t *testing.T) {
	t.Parallel()
	cli := e2e.CLI(t)
	root := checkout.Root()
	env := publish(t, root)
	pages := []string{"start"}
	if short.Count(0, 1, 2) == 2 {
		pages = slices.Sorted(maps.Keys(guideRuns))
	}
	for _, page := range pages {
		t.Run(page, func(t *testing.T) {
			dir := t.TempDir()
			inGuide(t, dir, root, env)
			build := []string{"go", "build", "-o", "program", "."}
			if copyProgram(t, filepath.Join(root, "docs", "guide", "testdata", page), dir) == "main_test.go" {
				build = []string{"go", "test", "-c", "-o", "program", "."}
			}
			for _, path := range foreign(t, dir) {
				command(t, dir, env, "go", "get", path)
			}
			command(t, dir, env, build...)
			runGuide(t, []string{filepath.Join(dir, "program")}, cli, guideRuns[page])
		})
	}
}

// publish makes a module proxy of files from the checkout at root, with the one version v0.1.0, and returns the environment for a go
// command that gets Parley from there and other modules from the module cache of the caller.
func publish(t *testing.T, root string) []string {
	t.Helper()
	const version = "v0.1.0"
	path := strings.TrimSuffix(module, "/")
	proxy := t.TempDir()
	dir := filepath.Join(proxy, filepath.FromSlash(path), "@v")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	info, err := json.Marshal(map[string]string{"Version": version, "Time": "2026-01-01T00:00:00Z"})
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"list": version + "\n", version + ".info": string(info), version + ".mod": string(mod)} {
		writeFile(t, filepath.Join(dir, name), text)
	}
	archive(t, root, filepath.Join(dir, version+".zip"), path+"@"+version)
	out, err := exec.Command("go", "env", "GOMODCACHE", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	cache := strings.Fields(string(out))
	home := t.TempDir()
	return []string{
		"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir(), "GOCACHE=" + cache[1], "GOMODCACHE=" + filepath.Join(home, "mod"), "GOENV=off",
		"GOPROXY=file://" + proxy + ",file://" + filepath.Join(cache[0], "cache", "download"), "GOSUMDB=off", "GOTOOLCHAIN=local", "GOFLAGS=-modcacherw -trimpath", "CGO_ENABLED=0", "GOWORK=off",
	}
}

// archive writes the Go files of the module at root and the files that they embed as a zip file of a module proxy.
func archive(t *testing.T, root, file, prefix string) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := zip.NewWriter(f)
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, name)
		if d.IsDir() {
			_, nested := os.Stat(filepath.Join(name, "go.mod"))
			if rel != "." && (nested == nil || slices.Contains([]string{".git", "testdata", "node_modules", "bin"}, d.Name())) {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		to, err := w.CreateHeader(&zip.FileHeader{Name: prefix + "/" + filepath.ToSlash(rel)})
		if err != nil {
			return err
		}
		from, err := os.Open(name)
		if err != nil {
			return err
		}
		defer from.Close()
		_, err = io.Copy(to, from)
		return err
	})
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// inGuide runs the commands with which the first guide makes a module, in dir.
func inGuide(t *testing.T, dir, root string, env []string) {
	t.Helper()
	const page = "docs/guide/start.md"
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(page)))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range guide.Snippets(page, string(text)) {
		if s.Lang() == "sh" && strings.Contains(s.Text, "go mod init") {
			command(t, dir, env, "sh", "-ec", strings.Replace(s.Text, "mkdir ask && cd ask\n", "", 1))
			return
		}
	}
	t.Fatalf("%s has no commands that make a module", page)
}

// copyProgram copies the one file of a page's program into dir and returns its name.
func copyProgram(t *testing.T, from, dir string) string {
	t.Helper()
	for _, name := range []string{"main.go", "main_test.go"} {
		if text, err := os.ReadFile(filepath.Join(from, name)); err == nil {
			writeFile(t, filepath.Join(dir, name), string(text))
			return name
		}
	}
	t.Fatalf("%s has no program", from)
	return ""
}

// foreign returns the imports of the program in dir that are not in the standard library.
func foreign(t *testing.T, dir string) (paths []string) {
	t.Helper()
	for _, name := range []string{"main.go", "main_test.go"} {
		text, _ := os.ReadFile(filepath.Join(dir, name))
		head, _, _ := strings.Cut(string(text), "\n)\n")
		for line := range strings.Lines(head) {
			path := strings.Trim(strings.TrimSpace(line), `"`)
			if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

func command(t *testing.T, dir string, env []string, argv ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
	}
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
