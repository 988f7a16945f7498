package main

import (
	"errors"
	"fmt"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/doctor"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/history"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/serve"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/usage"
	"github.com/spf13/cobra"
)

// execute runs the command line and returns the exit code.
func execute(args []string) int {
	code := term.ExitOK
	root := newRoot(&code)
	root.SetArgs(args)
	root.SetOut(term.StandardOutput())
	complain := term.StandardError()
	root.SetErr(complain)
	cmd, err := root.ExecuteC()
	if err == nil {
		return code
	}
	fmt.Fprintln(complain, "parley:", err)
	if hint, ok := errors.AsType[*term.UsageError](err); !ok || !hint.Plain {
		fmt.Fprintf(complain, "%q says more.\n", cmd.CommandPath()+" --help")
	}
	return term.ExitUsage
}

func newRoot(code *int) *cobra.Command {
	root := &cobra.Command{
		Use:           "parley",
		Short:         "Run coding agents",
		Long:          "Parley runs coding agents that speak the Claude Agent SDK protocol.",
		Version:       thisBuild().String(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          term.NoArguments,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.AddCommand(newRun(code), newChat(code), newACP(code), history.New(code), usage.New(code), doctor.New(code, &serve.Examiner{}), newMan(), newVersion())
	addServerCommands(root, code)
	root.SetHelpCommand(newHelp())
	return root
}
