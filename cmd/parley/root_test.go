package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

// An unknown command is an error, also with --help, below every command with subcommands.
func TestUnknownCommand(t *testing.T) {
	code := term.ExitOK
	var paths [][]string
	var walk func(c *cobra.Command, path []string)
	walk = func(c *cobra.Command, path []string) {
		if c.HasSubCommands() {
			paths = append(paths, path)
		}
		for _, sub := range c.Commands() {
			walk(sub, append(path[:len(path):len(path)], sub.Name()))
		}
	}
	walk(newRoot(&code), nil)
	if len(paths) < 2 {
		t.Fatalf("the commands with commands are %q", paths)
	}
	for _, path := range paths {
		for _, wrong := range [][]string{{"exprot", "--help"}, {"exprot", "-h"}, {"--help", "exprot"}, {"-h", "exprot"}} {
			args := slices.Concat(path, wrong)
			if cmd, err := unknownCommand(newRoot(&code), args); err == nil || !strings.Contains(err.Error(), "exprot") {
				t.Errorf("parley %s: %v of %s, want an error that names the word", strings.Join(args, " "), err, cmd.CommandPath())
			}
		}
		for _, rest := range [][]string{{"--help"}, {}, {"--", "x", "--help"}} {
			args := append(path[:len(path):len(path)], rest...)
			if _, err := unknownCommand(newRoot(&code), args); err != nil {
				t.Errorf("parley %s: %v", strings.Join(args, " "), err)
			}
		}
	}
}
