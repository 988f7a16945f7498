package notify_test

import (
	"context"
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
	"github.com/seed7221b0f9/parley/server/notify"
	"github.com/seed7221b0f9/parley/webhook"
)

// TestCommand_children checks that the child processes of a command end with it, when it exits and when it is killed.
func TestCommand_children(t *testing.T) {
	for name, last := range map[string]string{"exits": "exit 0", "hangs": "wait"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			program, pids := filepath.Join(dir, "hook"), filepath.Join(dir, "pids")
			script := "#!/bin/sh\nsleep 300 & echo $! >>" + pids + "\nsetsid env -i sleep 300 & echo $! >>" + pids + "\necho >" + pids + ".done\n" + last + "\n"
			if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() {
				for {
					_, err := os.Stat(pids + ".done")
					if err == nil && name == "hangs" {
						cancel()
					}
					select {
					case <-ctx.Done():
						return
					case <-time.After(5 * time.Millisecond):
					}
				}
			}()
			err := notify.Command(ctx, program, proc.LocalOptions{Supervisor: supervise.Self()}.Spawner(), []string{"PATH=" + os.Getenv("PATH")}, webhook.Event{Type: webhook.TurnDone})
			if (err == nil) != (name == "exits") {
				t.Errorf("Command: %v", err)
			}
			text, _ := os.ReadFile(pids)
			for _, field := range strings.Fields(string(text)) {
				pid, _ := strconv.Atoi(field)
				if syscall.Kill(pid, 0) == nil {
					t.Errorf("process %d runs", pid)
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}
			if n := len(strings.Fields(string(text))); n != 2 {
				t.Errorf("%d processes", n)
			}
		})
	}
}
