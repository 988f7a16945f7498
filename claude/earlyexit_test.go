package claude_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
)

// A program that is not the CLI gives an error with its path and its output, from Connect
// and from Run.
func TestEarlyExit(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs are scripts of a Unix shell")
	}
	for _, tt := range []struct {
		name, script string
		want         []string
	}{
		{"silent", "exit 0", []string{"exit status 0", "stdout is empty"}},
		{"talks", "echo hello world; echo oops >&2", []string{"exit status 0", "hello world", "oops"}},
		{"talks a lot", "i=0; while [ $i -lt 500 ]; do echo some words $i; i=$((i+1)); done", []string{"exit status 0", "some words 1"}},
		{"fails", "echo hello; echo unknown option >&2; exit 3", []string{"code 3", "hello", "unknown option"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "program")
			if err := os.WriteFile(path, []byte("#!/bin/sh\n"+tt.script+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			opts := &claude.Options{CLIPath: path, CleanEnv: true, Env: map[string]string{"HOME": dir, "PATH": "/bin:/usr/bin"}, Logger: slog.New(slog.DiscardHandler)}
			_, err := claude.Connect(t.Context(), opts)
			_, runErr := claude.Run(t.Context(), "hello", opts)
			for _, err := range []error{err, runErr} {
				early, ok := errors.AsType[*claude.EarlyExitError](err)
				if !ok || early.Path != path || len(early.Stdout) > 4<<10 || !errors.Is(err, claude.ErrNoResult) {
					t.Errorf("%v; want ok and early.Path == path and len(early.Stdout) <= 4<<10 and errors.Is(err, claude.ErrNoResult)", err)
					continue
				}
				for _, want := range append(tt.want, path) {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("%v says nothing of %q", err, want)
					}
				}
			}
		})
	}
}

// After Close every call fails with ErrClosed, even if the CLI died before.
func TestClosedAfterDeath(t *testing.T) {
	for _, code := range []int{0, 7} {
		program := func(cli *claudetest.CLI) int {
			if _, err := cli.Handshake(); err != nil {
				return 1
			}
			return code
		}
		c, err := claude.Connect(t.Context(), &claude.Options{Spawner: claudetest.InProcess(program), Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		c.Wait()
		if _, err := c.Interrupt(t.Context()); code != 0 && (errors.Is(err, claude.ErrClosed) || err == nil) {
			t.Errorf("before Close: %v", err)
		}
		c.Close()
		_, sent := c.Send(t.Context(), claude.Text("hello"))
		_, interrupted := c.Interrupt(t.Context())
		_, set := c.SetModel(t.Context(), "m")
		_, listed := c.ListMCPServers(t.Context())
		for name, err := range map[string]error{"Send": sent, "ListMCPServers": listed, "Interrupt": interrupted,
			"SetModel": set, "Control": c.Control(t.Context(), "x", nil, nil), "WaitIdle": c.WaitIdle(t.Context())} {
			if !errors.Is(err, claude.ErrClosed) {
				t.Errorf("exit %d, %s: %v", code, name, err)
			}
			if exit, ok := errors.AsType[*claude.ExitError](err); code != 0 && (!ok || exit.Code != code) {
				t.Errorf("exit %d, %s: %v has lost the reason", code, name, err)
			}
		}
	}
}
