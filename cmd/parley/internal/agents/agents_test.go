package agents_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/agents"
	"github.com/seed7221b0f9/parley/internal/proc"
)

// TestChoose checks which agents are offered: those of --agent in order, else the
// installed ones, else the simulated one.
func TestChoose(t *testing.T) {
	with, without := t.TempDir(), t.TempDir()
	both, more := t.TempDir(), t.TempDir()
	for _, program := range []string{filepath.Join(with, "claude"), filepath.Join(both, "claude"), filepath.Join(both, "codex"), filepath.Join(more, "codex"), filepath.Join(more, "opencode"), filepath.Join(more, "codex-acp")} {
		if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", without)
	t.Setenv("XDG_CONFIG_HOME", "")
	for _, c := range []struct {
		path, args string
		want       []string // the default first
		simulated  bool
		err        string
	}{
		{path: with, want: []string{"claude"}},
		{path: without, want: []string{"sim"}, simulated: true},
		{path: with, args: "claude,sim", want: []string{"claude", "sim"}},
		{path: with, args: "sim,claude", want: []string{"sim", "claude"}, simulated: true},
		{path: without, args: "claude", err: "not installed"},
		{path: without, args: "sim,claude", err: "not installed"},
		{path: both, want: []string{"claude", "codex"}},
		{path: more, want: []string{"codex", "acp:opencode"}},
		{path: more, args: "codex-acp,opencode", want: []string{"acp:codex-acp", "acp:opencode"}},
		{path: both, args: "codex", want: []string{"codex"}},
		{path: both, args: "codex,claude", want: []string{"codex", "claude"}},
		{path: with, args: "codex", err: "not installed"},
		{path: with, args: "claude,claude", err: "twice"},
		{path: with, args: "other", err: "the agents are claude"},
	} {
		t.Setenv("PATH", c.path)
		if path, err := proc.Find("", os.Environ()); err == nil && c.path == without {
			t.Skipf("a CLI is installed for everyone on this machine: %s", path)
		}
		args := slices.DeleteFunc(strings.Split(c.args, ","), func(name string) bool { return name == "" })
		s, err := agents.Choose(args, agents.Place{Data: t.TempDir(), Env: os.Environ()}, slog.New(slog.DiscardHandler))
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q gave %v, want an error with %q", c.args, err, c.err)
			}
			continue
		}
		var names []string
		for _, p := range s.Providers {
			names = append(names, p.Name())
		}
		if err != nil || !slices.Equal(names, c.want) || s.Simulated != c.simulated || c.simulated != (s.Note != "") {
			t.Errorf("%q gave %v, simulated %v, note %q, %v, want %v, %v", c.args, names, s.Simulated, s.Note, err, c.want, c.simulated)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
