package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
)

// The program in the README works unchanged, with a claude on PATH.
func TestREADME(t *testing.T) {
	t.Parallel()
	cli := e2e.CLI(t)
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "```go\npackage main")
	program, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("the README has no program")
	}
	// Inside the module, so that it finds this version and its dependencies.
	src := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(src, []byte("package main"+program), 0o600); err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(t.TempDir(), "program")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", bin, src)
	build.Dir = root
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	api := claudetest.StartFakeAPI(t, claudetest.Replies(claudetest.Say("It is 4.")))
	env, err := claudetest.HermeticEnv(t.TempDir(), api.URL())
	if err != nil {
		t.Fatal(err)
	}
	path := t.TempDir()
	if err := os.Symlink(cli, filepath.Join(path, "claude")); err != nil {
		t.Fatal(err)
	}
	run := exec.Command(bin)
	run.Dir = t.TempDir()
	run.Env = append(env, "PATH="+path+":/usr/bin:/bin")
	out, err := run.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "It is 4.") || !strings.Contains(string(out), "1 turns, $0.0001") {
		t.Errorf("%v\n%s; want err == nil and strings.Contains(string(out), \"It is 4.\") and strings.Contains(string(out), \"1 turns, $0.0001\")", err, out)
	}
}
