package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/spf13/cobra"
)

// TestArgumentsAreNamed calls every command with too few and too many arguments. The
// error names the command, and is not the library's "accepts 1 arg(s), received 0".
func TestArgumentsAreNamed(t *testing.T) {
	var code int
	refused := 0
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			walk(c)
		}
		if cmd.Name() == "completion" || cmd.HasParent() && cmd.Parent().Name() == "completion" || cmd.Name() == "help" {
			return
		}
		for _, args := range [][]string{nil, slices.Repeat([]string{"x"}, 40)} {
			err := cmd.ValidateArgs(args)
			if err == nil {
				continue
			}
			refused++
			if text := err.Error(); strings.Contains(text, "arg(s)") || !strings.Contains(text, cmd.CommandPath()) {
				t.Errorf("%s with %d arguments: %q", cmd.CommandPath(), len(args), text)
			}
		}
	}
	walk(newRoot(&code))
	if refused < 20 {
		t.Errorf("only %d refusals were looked at", refused)
	}
}

// An error has a single prefix "error".
func TestErrorPrefix(t *testing.T) {
	p := &term.Pen{}
	for text, want := range map[string]string{
		"Error: it broke":        "error: it broke",
		"error: it broke":        "error: it broke",
		"it broke":               "error: it broke",
		"Error: error: it broke": "error: it broke",
		"an Error: inside":       "error: an Error: inside",
	} {
		if got := p.Failure(text); got != want {
			t.Errorf("failure(%q) = %q, want %q", text, got, want)
		}
	}
}
