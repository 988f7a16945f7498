//go:build unix

package joined

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/server/ports"
	"github.com/seed7221b0f9/parley/spawn"
)

// Marks are the same after a restart, and differ between sessions and machines.
func TestMarks(t *testing.T) {
	dirs := []string{filepath.Join(t.TempDir(), "new"), t.TempDir()}
	seen := map[string]bool{}
	for _, dir := range dirs {
		first, err := marks(dir)
		must(t, err)
		again, err := marks(dir)
		must(t, err)
		for _, session := range []string{"s-1", "s-2"} {
			mark := first(session)
			if len(mark) != 32 || mark != again(session) || seen[mark] {
				t.Errorf("the mark of %s is %q, then %q", session, mark, again(session))
			}
			seen[mark] = true
		}
		if first("") != "" {
			t.Error("no session has a mark")
		}
		info, err := os.Stat(filepath.Join(dir, marksFile))
		must(t, err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("the secret has the mode %v, want 0600", info.Mode())
		}
	}
	must(t, os.WriteFile(filepath.Join(dirs[0], marksFile), nil, 0o600))
	if _, err := marks(dirs[0]); err == nil {
		t.Error("an empty secret is used")
	}
}

// An agent is started with the mark of its session.
func TestStart_mark(t *testing.T) {
	at := newMachine(t, func(o *Options) { o.Mark = func(session string) string { return "mark of " + session } })
	var cmd spawn.Command
	must(t, at.Start(context.Background(), host.Launch{Agent: "claude", Dir: at.root + "/offered", Key: "s-1"}, func(c spawn.Command) error {
		cmd = c
		return nil
	}))
	if want := ports.Variable + "=mark of s-1"; !slices.Contains(cmd.Env, want) {
		t.Errorf("the environment has no %s: %q", want, cmd.Env)
	}
}
