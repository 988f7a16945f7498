package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/claude"
)

// execute runs the command line and returns the exit code.
func execute(args []string) int {
	code := exitOK
	root := newRoot(&code)
	root.SetArgs(args)
	cmd, err := root.ExecuteC()
	if err == nil {
		return code
	}
	fmt.Fprintln(os.Stderr, "parley:", err)
	if hint, ok := errors.AsType[*usageError](err); !ok || !hint.plain {
		fmt.Fprintf(os.Stderr, "%q says more.\n", cmd.CommandPath()+" --help")
	}
	return exitUsage
}

// usageError is a command line that makes no sense.
type usageError struct {
	text  string
	plain bool // the help says no more about it
}

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error {
	return &usageError{text: fmt.Sprintf(format, args...)}
}

func newRoot(code *int) *cobra.Command {
	root := &cobra.Command{
		Use:           "parley",
		Short:         "Run coding agents",
		Long:          "Parley runs coding agents that speak the Claude Agent SDK protocol.",
		Version:       fmt.Sprintf("%s (%s %s/%s)", claude.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.AddCommand(newRun(code), newChat(code), newSessions(code), newUsage(code), newDoctor(code))
	return root
}
