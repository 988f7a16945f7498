//go:build linux

package box

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/internal/supervise"
	_ "github.com/seed7221b0f9/parley/internal/supervise/first"
	"github.com/seed7221b0f9/parley/internal/test/bwraptest"
	"github.com/seed7221b0f9/parley/spawn"
	"github.com/seed7221b0f9/parley/spawn/spawntest"
	"go.uber.org/goleak"
)

// TestMain runs the tests, or plays the process in a box that a test has started.
func TestMain(m *testing.M) {
	Enter()
	fakeDockerMain()
	spawntest.Main()
	attemptMain()
	bwraptest.Visible()
	code := m.Run()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// bwrap returns the program that scripts/install-bwrap finds or installs. Without it or without
// user namespaces it skips the test.
func bwrap(t *testing.T) string {
	t.Helper()
	program := filepath.Join(bwraptest.Dir(t), "bwrap")
	if err := Probe(t.Context(), program, self(t), NetworkOff); err != nil {
		bwraptest.Missing(t, err)
	}
	return program
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// tempDir returns a directory with a path without symbolic links.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// local starts processes on this machine, below a supervisor as the server does.
func local() spawn.Spawner { return proc.LocalOptions{Supervisor: supervise.Self()}.Spawner() }

// inDir runs commands without a directory in this one.
func inDir(dir string, next spawn.Spawner) spawn.Spawner {
	return spawn.Func(func(ctx context.Context, cmd spawn.Command) (spawn.Process, error) {
		if cmd.Dir == "" {
			cmd.Dir = dir
		}
		return next.Spawn(ctx, cmd)
	})
}
