package server

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/internal/supervise"
	_ "github.com/seed7221b0f9/parley/internal/supervise/first"
	"github.com/seed7221b0f9/parley/server/api"
)

// TestSetup_stop checks that a setup command of a workspace and all processes that it has started
// end before the server is closed.
func TestSetup_stop(t *testing.T) {
	h := newRepoHarness(t, func(o *Options) { o.Supervisor, o.DrainTimeout = supervise.Self(), 10*time.Millisecond })
	pids := filepath.Join(t.TempDir(), "pids")
	setup := "sleep 300 & echo $! >>" + pids + "\nsetsid env -i sleep 300 & echo $! >>" + pids + "\necho $$ >>" + pids + "\nwait"
	ended := make(chan error, 1)
	client := h.client(h.token)
	go func() {
		ended <- client.Call(h.ctx(), "workspace.create", api.WorkspaceCreateParams{Repo: h.repo, Setup: setup}, nil)
	}()
	var fields []string
	eventually(t, "the setup command runs", func() bool {
		text, _ := os.ReadFile(pids)
		fields = strings.Fields(string(text))
		return len(fields) == 3 && strings.HasSuffix(string(text), "\n")
	})
	if err := h.stop(); err != nil {
		t.Errorf("the server stops with %v", err)
	}
	for _, field := range fields {
		pid, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		if syscall.Kill(pid, 0) == nil {
			t.Errorf("process %d of %q runs after the server was closed", pid, fields)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	if err := <-ended; err == nil {
		t.Error("the call has succeeded")
	}
	h.start()
}
