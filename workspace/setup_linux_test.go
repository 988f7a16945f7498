package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/internal/supervise"
	_ "github.com/seed7221b0f9/parley/internal/supervise/first"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/spawn"
)

// TestSetup_children checks that processes that a setup command leaves in the background end with it: when it succeeds, fails and hangs. Without
// a supervisor those in its process group do.
func TestSetup_children(t *testing.T) {
	short.SkipQuick(t, "starts many processes")
	supervised := proc.LocalOptions{Supervisor: supervise.Self()}.Spawner()
	for name, tt := range map[string]struct {
		last    string
		spawner spawn.Spawner
	}{
		"succeeds": {"exit 0", supervised}, "fails": {"exit 3", supervised}, "hangs": {"wait", supervised}, "without a supervisor": {"exit 0", nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.Manager.opts.Spawner = tt.spawner
			pids := filepath.Join(t.TempDir(), "pids")
			setup, want := "sleep 300 & echo $! >>"+pids+"\n", 1
			if tt.spawner != nil {
				setup, want = setup+"setsid env -i sleep 300 & echo $! >>"+pids+"\n", 2
			}
			ctx, cancel := context.WithCancel(w.ctx())
			defer cancel()
			ended := make(chan struct{})
			go func() {
				for {
					if _, err := os.Stat(pids + ".done"); err == nil && name == "hangs" {
						cancel()
					}
					select {
					case <-ended:
						return
					case <-time.After(5 * time.Millisecond):
					}
				}
			}()
			_, err := w.Create(ctx, CreateOptions{Repo: w.repo, Setup: setup + "echo >" + pids + ".done\n" + tt.last})
			close(ended)
			if e, failed := errors.AsType[*SetupError](err); failed != (tt.last != "exit 0") || failed && name == "hangs" != errors.Is(e, context.Canceled) {
				t.Errorf("Create: %v", err)
			}
			text, _ := os.ReadFile(pids)
			fields := strings.Fields(string(text))
			for _, field := range fields {
				pid, err := strconv.Atoi(field)
				if err != nil {
					t.Fatal(err)
				}
				if syscall.Kill(pid, 0) == nil && !isZombie(pid) {
					t.Errorf("process %d of %q runs", pid, fields)
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}
			if len(fields) != want {
				t.Errorf("there were the processes %q, want %d", fields, want)
			}
		})
	}
}

// isZombie reports whether a process has ended and was not waited for: its parent is not this process.
func isZombie(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	_, state, _ := strings.Cut(string(stat), ") ")
	return err == nil && strings.HasPrefix(state, "Z")
}
