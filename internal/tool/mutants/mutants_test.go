//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/internal/test/short"
)

// checkout returns a module with one function, a test of it, and bugs.
func checkout(t *testing.T, bugs []mutant) string {
	t.Helper()
	dir := t.TempDir()
	list, err := json.Marshal(bugs)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod":  "module example.com/m\n\ngo 1.24\n",
		"m.go":    "package m\n\nfunc add(a, b int) int { return a + b }\n\nfunc zero() int { return 0 }\n",
		"hang.go": "package m\n\nfunc hangs() bool { return false }\n",
		"m_test.go": "package m\n\nimport (\n\t\"os\"\n\t\"os/exec\"\n\t\"strconv\"\n\t\"testing\"\n)\n\nfunc TestAdd(t *testing.T) {\n\tif add(1, 2) != 3 {\n\t\tt.Error(\"wrong\")\n\t}\n}\n\n" +
			"func TestNothing(t *testing.T) {}\n\nfunc TestFails(t *testing.T) { t.Error(\"always\") }\n\n" +
			"func TestHang(t *testing.T) {\n\tif !hangs() {\n\t\treturn\n\t}\n\tcmd := exec.Command(\"sleep\", \"600\")\n\tif err := cmd.Start(); err != nil {\n\t\tt.Fatal(err)\n\t}\n" +
			"\tos.WriteFile(os.Getenv(\"PIDFILE\"), []byte(strconv.Itoa(cmd.Process.Pid)), 0o600)\n\tcmd.Wait()\n}\n",
		"testdata/mutants/m.json": string(list),
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

func TestOutcomes(t *testing.T) {
	short.Skip(t, "go test in copies of a module")
	bug := func(id, was, is, test string) mutant {
		return mutant{ID: id, File: "m.go", Old: was, New: is, Package: ".", Run: test}
	}
	for _, tt := range []struct {
		bug  mutant
		want outcome
	}{
		{bug("c", "a + b", "a - b", "^TestAdd$"), caught},
		{bug("s", "a + b", "a - b", "^TestNothing$"), survived},
		{bug("gone", "a * b", "a - b", "^TestAdd$"), stale},
		{bug("twice", "return", "panic", "^TestAdd$"), stale},
		{bug("b", "a + b", "a + c", "^TestAdd$"), broken},
		{bug("f", "a + b", "a - b", "^TestFails$"), unsound},
		{bug("n", "a + b", "a - b", "^TestMissing$"), unsound},
		{mutant{ID: "e", File: "m.go", Old: "return 0", New: "return -0", Equivalent: "there is no -0"}, equivalent},
		{mutant{ID: "eg", File: "m.go", Old: "return 1", New: "return -0", Equivalent: "there is no -0"}, stale},
	} {
		root := checkout(t, []mutant{tt.bug})
		var out bytes.Buffer
		ok, err := check(t.Context(), &job{root: root, only: regexp.MustCompile(""), limit: time.Minute, out: &out})
		if err != nil {
			t.Fatal(err)
		}
		if good := tt.want == caught || tt.want == equivalent; ok != good || !strings.HasPrefix(out.String(), string(tt.want)+" ") {
			t.Errorf("%s: ok %v, want %s: %s", tt.bug.ID, ok, tt.want, out.String())
		}
		if text, err := os.ReadFile(filepath.Join(root, "m.go")); err != nil || !strings.Contains(string(text), "a + b") {
			t.Errorf("%s: the checkout was changed: %s, %v", tt.bug.ID, text, err)
		}
	}
}

// TestCancelled checks that the end of the context, as with Ctrl-C, ends the tests and their
// processes.
func TestCancelled(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	t.Setenv("PIDFILE", file)
	root := checkout(t, []mutant{{ID: "h", File: "hang.go", Old: "return false", New: "return true", Package: ".", Run: "^TestHang$"}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := check(ctx, &job{root: root, only: regexp.MustCompile(""), limit: 5 * time.Minute, out: &bytes.Buffer{}})
		done <- err
	}()
	var pid int
	for tick := time.NewTicker(20 * time.Millisecond); pid == 0; <-tick.C {
		text, _ := os.ReadFile(file) // missing at first
		pid, _ = strconv.Atoi(string(text))
		select {
		case err := <-done:
			t.Fatalf("it ended by itself: %v", err)
		default:
		}
	}
	cancel()
	if err := <-done; err == nil {
		t.Error("no error")
	}
	// It was killed, which takes a moment. Until its new parent reaps it, it is a zombie, which has no
	// command line.
	runs := func() bool {
		text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
		return err == nil && len(text) > 0 && syscall.Kill(pid, 0) == nil
	}
	for end := time.After(20 * time.Second); runs(); {
		select {
		case <-end:
			_ = syscall.Kill(pid, syscall.SIGKILL)
			t.Fatalf("process %d is left", pid)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func TestBadLists(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON": "{", "empty": "[]", "no test": `[{"id":"a","file":"f","old":"x","new":"y"}]`, "no file": `[{"id":"a","old":"x","new":"y","package":".","run":"T"}]`,
		"same": `[{"id":"a","file":"f","old":"x","new":"x","package":".","run":"T"}]`, "outside": `[{"id":"a","file":"../../f","old":"x","new":"y","package":".","run":"T"}]`,
		"twice": `[{"id":"a","file":"f","old":"x","new":"y","package":".","run":"T"},{"id":"a","file":"f","old":"x","new":"y","package":".","run":"T"}]`,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "a.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if list, err := readList(dir); err == nil {
			t.Errorf("%s: %v; want err != nil", name, list)
		}
	}
}

// The list of this project is current: every place is found, without running tests.
func TestListIsNotStale(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	list, err := readList(filepath.Join(root, "testdata", "mutants"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(m.File)))
		if n := strings.Count(string(text), m.Old); err != nil || n != 1 {
			t.Errorf("%s: %v, its text occurs %d times in %s", m.ID, err, n, m.File)
		}
	}
}
