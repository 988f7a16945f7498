//go:build linux

package box

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/spawn"
	"github.com/seed7221b0f9/parley/spawn/spawntest"
)

// TestSpawner_conformance checks that a box of each network, with and without a supervisor, fulfils the contract of package spawn.
func TestSpawner_conformance(t *testing.T) {
	program := bwrap(t)
	for name, next := range map[string]spawn.Spawner{"supervised": local(), "alone": proc.LocalOptions{}.Spawner()} {
		t.Run(name, func(t *testing.T) {
			spawntest.Run(t, spawntest.Options{Elsewhere: true, Spawner: func(tb testing.TB) spawn.Spawner {
				b := &Box{Program: program, Init: self(t), Home: filepath.Join(tempDir(t), "home"), Network: NetworkOff}
				return inDir(tempDir(t), b.Spawner(next))
			}})
		})
	}
}

// failing lists programs that fail in the same way as bwrap when a kernel or a container refuses a
// box.
var failing = []struct{ name, prints, want string }{
	{"no user namespaces", "bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces.", "refuses user namespaces"},
	{"AppArmor", "bwrap: setting up uid map: Permission denied", "apparmor_restrict_unprivileged_userns"},
	{"seccomp", "bwrap: Creating new namespace failed: Operation not permitted", "seccomp profile"},
	{"no more", "bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)", "user.max_user_namespaces"},
	{"no network", "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", "refuses a network"},
	{"masked proc", "bwrap: Can't mount proc on /newroot/proc: Operation not permitted", "masked paths"},
	{"old", "bwrap: Unknown option --as-pid-1", "too old"},
	{"anything else", "bwrap: Bad weather", "cannot make a box"},
}

// TestSpawner_refused checks that no process is started if the system refuses a box, and that the
// error has the cause and a remedy.
func TestSpawner_refused(t *testing.T) {
	for _, tt := range failing {
		t.Run(tt.name, func(t *testing.T) {
			dir := tempDir(t)
			program := filepath.Join(dir, "bwrap")
			if err := os.WriteFile(program, []byte("#!/bin/sh\necho \""+tt.prints+"\" >&2\nexit 1\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			started := false
			next := spawn.Func(func(context.Context, spawn.Command) (spawn.Process, error) {
				started = true
				return nil, errors.New("started")
			})
			b := &Box{Program: program, Init: self(t), Home: filepath.Join(dir, "home"), Network: NetworkOff}
			_, err := b.Spawner(next).Spawn(t.Context(), spawn.Command{Path: "/bin/sh", Dir: dir})
			if started || !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), tt.prints) {
				t.Errorf("started %t, error %v", started, err)
			}
		})
	}
}

// TestFind checks that a missing bwrap has a remedy and that only absolute directories are searched.
func TestFind(t *testing.T) {
	dir := tempDir(t)
	if _, err := Find(dir); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "package bubblewrap") {
		t.Errorf("without bwrap: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "bwrap"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if path, err := Find("/nowhere:" + dir); err != nil || path != filepath.Join(dir, "bwrap") {
		t.Errorf("Find returned %q, %v", path, err)
	}
	t.Chdir(dir)
	if path, err := Find(".:"); err == nil {
		t.Errorf("Find returned %q of a relative directory", path)
	}
}

// TestCommand_refuses checks that boxes that would not confine are rejected.
func TestCommand_refuses(t *testing.T) {
	dir := tempDir(t)
	link := filepath.Join(dir, "link")
	if err := os.Symlink("/etc", link); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		edit func(*Box, *spawn.Command)
		want string
	}{
		{"the root", func(_ *Box, c *spawn.Command) { c.Dir = "/" }, "cannot be shown"},
		{"the home", func(b *Box, c *spawn.Command) { b.Home = dir }, "cannot be shown"},
		{"a link", func(_ *Box, c *spawn.Command) { c.Dir = link }, "symbolic link"},
		{"a relative path", func(b *Box, _ *spawn.Command) { b.Write = []string{"cache"} }, "not absolute"},
		{"a path with dots", func(b *Box, _ *spawn.Command) { b.Read = []string{dir + "/../x"} }, "not absolute and clean"},
		{"a missing directory", func(b *Box, _ *spawn.Command) { b.Write = []string{dir + "/none"} }, "does not exist"},
		{"a directory of the server", func(b *Box, _ *spawn.Command) { b.Hide = []string{dir} }, "files of the server"},
		{"processes", func(b *Box, _ *spawn.Command) { b.Read = []string{"/proc/1"} }, "replaced"},
		{"sockets", func(b *Box, _ *spawn.Command) { b.Write = []string{"/run"} }, "replaced"},
		{"no directory", func(_ *Box, c *spawn.Command) { c.Dir = "" }, "no working directory"},
		{"another user", func(_ *Box, c *spawn.Command) { c.User = "nobody" }, "another user"},
		{"no program", func(_ *Box, c *spawn.Command) { c.Path = dir + "/none" }, "the program"},
		{"an unknown network", func(b *Box, _ *spawn.Command) { b.Network = "" }, "not off, allow"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := &Box{Program: "/usr/bin/bwrap", Init: "/usr/bin/parley", Home: "/home/user", Network: NetworkOff}
			cmd := spawn.Command{Path: "/bin/sh", Dir: dir}
			tt.edit(b, &cmd)
			if _, err := b.Command(cmd); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Command returned %v, want %q", err, tt.want)
			}
		})
	}
}
