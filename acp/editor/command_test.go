package editor_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/checkout"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// built is the path of the command, which is built once for all tests.
var built struct {
	sync.Once
	dir, path string
	err       error
}

// parley builds the command as scripts/dist does, so that its packages are compiled once.
func parley(tb testing.TB) string {
	tb.Helper()
	short.Skip(tb, "parley, which it has to build")
	built.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "parley-acp-"); built.err != nil {
			return
		}
		built.path = filepath.Join(built.dir, "parley")
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", built.path, "./cmd/parley")
		cmd.Dir, cmd.Env = checkout.Root(), append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			built.err = err
			os.Stderr.Write(out)
		}
	})
	if built.err != nil {
		tb.Fatal(built.err)
	}
	return built.path
}

// slots limits the number of agents with a CLI that run concurrently.
var slots = make(chan struct{}, 4)

// begin waits for a slot, which it releases at the end of the test.
func begin(t *testing.T) {
	t.Helper()
	select {
	case slots <- struct{}{}:
	case <-t.Context().Done():
		t.Fatal(t.Context().Err())
	}
	t.Cleanup(func() { <-slots })
}

// runner runs scripts against parley acp with the real CLI.
func runner(tb testing.TB, args ...string) *Runner {
	tb.Helper()
	cli := e2e.CLI(tb)
	sleep := 0.4
	if os.Getenv("PARLEY_SOAK") != "" {
		sleep = 1
	}
	return &Runner{
		Command: append([]string{parley(tb), "acp", "--cli", cli}, args...), Dir: tb.TempDir(),
		Servers: filepath.Join(checkout.Root(), "testdata", "wire-servers"), Sleep: sleep,
		Env: []string{"GORACE=atexit_sleep_ms=0"},
	}
}
