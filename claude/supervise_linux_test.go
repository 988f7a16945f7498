package claude_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/spawn"
)

// TestPrewarmDied: a prewarmed process that was killed reports it.
func TestPrewarmDied(t *testing.T) {
	for name, use := range map[string]func(w *claude.Warm) error{
		"Connect": func(w *claude.Warm) error { _, err := w.Connect(t.Context()); return err },
		"Run":     func(w *claude.Warm) error { _, err := w.Run(t.Context(), "hello"); return err },
	} {
		w := prewarm(t, claudetest.FakeCLI("hello"))
		if err := syscall.Kill(w.PID(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		<-w.Done()
		err := use(w)
		exit, ok := errors.AsType[*claude.ExitError](err)
		if !ok || exit.Signal != "SIGKILL" || !exit.Foreign || !strings.Contains(err.Error(), "has not sent") {
			t.Errorf("%s: %v; want ok and exit.Signal == \"SIGKILL\" and exit.Foreign and strings.Contains(err.Error(), \"has not sent\")", name, err)
		}
	}
}

func TestMemoryOfAProcess(t *testing.T) {
	client, err := claude.Connect(t.Context(), claudetest.FakeCLI("hello"))
	if err != nil {
		t.Fatal(err)
	}
	n, err := client.MeasureMemory()
	if err != nil || n < 1<<20 {
		t.Errorf("%d, %v; want err == nil and n >= 1<<20", n, err)
	}
	client.Close()
	if _, err := client.MeasureMemory(); !errors.Is(err, claude.ErrNoMemory) {
		t.Errorf("of one that has ended: %v", err)
	}
}

func openRegistry(t *testing.T, dir string) (*claude.Registry, []claude.Child) {
	t.Helper()
	r, swept, err := claude.OpenRegistry(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r, swept
}

// TestRegistryOfASession: the process is in the registry while it runs, and its temporary files are
// below it.
func TestRegistryOfASession(t *testing.T) {
	dir := t.TempDir()
	opts := claudetest.FakeCLI("hello")
	opts.Registry, _ = openRegistry(t, dir)
	opts.Isolation = &claude.Isolation{}
	opts.Settings = `{"x":"` + strings.Repeat("y", 64<<10) + `"}`
	client, err := claude.Connect(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	children := opts.Registry.Children()
	if len(children) != 1 || children[0].PID != client.View().PID || children[0].Path != opts.CLIPath {
		t.Errorf("children %+v", children)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "owner-*", "tmp", "parley-*")); len(files) != 2 {
		t.Errorf("temporary files: %v", files)
	}
	if err := opts.Registry.Close(); !errors.Is(err, claude.ErrChildren) {
		t.Error(err)
	}
	client.Close()
	if left := opts.Registry.Children(); len(left) > 0 {
		t.Errorf("children %+v", left)
	}
	if files, _ := os.ReadDir(opts.Registry.TempDir()); len(files) > 0 {
		t.Errorf("temporary files: %v", files)
	}
}

// somewhere is a spawner that reports where it runs processes.
type somewhere struct {
	spawn.Spawner
	here bool
}

func (s somewhere) Local() bool { return s.here }

// TestSpawner_local: with a spawner that runs the CLI on this machine the session has its lock and the
// memory of the CLI is known, as without a spawner; with another one neither.
func TestSpawner_local(t *testing.T) {
	for _, here := range []bool{true, false} {
		opts := claudetest.FakeCLI("hello")
		opts.Spawner = somewhere{proc.Local, here}
		opts.SessionID = "6f0c1d3e-0000-4000-8000-00000000000a"
		opts.Env = maps.Clone(opts.Env)
		opts.Env["CLAUDE_CONFIG_DIR"] = t.TempDir()
		client, err := claude.Connect(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.MeasureMemory(); (err == nil) != here {
			t.Errorf("local %v: MeasureMemory returns %v", here, err)
		}
		again := opts.Clone()
		again.SessionID, again.Resume = "", opts.SessionID
		second, err := claude.Connect(t.Context(), again)
		if _, busy := errors.AsType[*claude.SessionBusyError](err); busy != here {
			t.Errorf("local %v: a second client of the session: %v", here, err)
		}
		if err == nil {
			second.Close()
		}
		client.Close()
	}
}
