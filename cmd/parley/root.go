package main

import (
	"errors"
	"fmt"
	"strings"

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
	cmd, err := unknownCommand(root, args)
	if err == nil {
		cmd, err = root.ExecuteC()
	}
	if err == nil {
		return code
	}
	fmt.Fprintln(complain, "parley:", err)
	if hint, ok := errors.AsType[*term.UsageError](err); !ok || !hint.Plain {
		fmt.Fprintf(complain, "Run %q for help.\n", cmd.CommandPath()+" --help")
	}
	return term.ExitUsage
}

// unknownCommand returns an error for an unknown command, also with --help: the help of another
// command would be misleading.
func unknownCommand(root *cobra.Command, args []string) (*cobra.Command, error) {
	cmd, rest, err := root.Find(args)
	if err != nil || !cmd.HasSubCommands() || cmd.Args == nil {
		return cmd, nil // the command reports other errors
	}
	words, help := split(rest)
	if !help {
		return cmd, nil
	}
	return cmd, cmd.Args(cmd, words)
}

// split returns the arguments before "--" that are no flags, and whether they include a flag for help.
func split(args []string) (words []string, help bool) {
	for _, arg := range args {
		switch {
		case arg == "--":
			return words, help
		case arg == "--help" || arg == "-h":
			help = true
		case !strings.HasPrefix(arg, "-"):
			words = append(words, arg)
		}
	}
	return words, help
}

func newRoot(code *int) *cobra.Command {
	root := &cobra.Command{
		Use:           "parley",
		Short:         "Run coding agents",
		Long:          "Parley runs coding agents: Claude Code, Codex, and agents that speak the Agent Client Protocol.",
		Version:       thisBuild().String(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          term.NoArguments,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.AddCommand(newRun(code), newChat(code), newACP(code), newAgents(code), history.New(code), usage.New(code), doctor.New(code, &serve.Examiner{}), newDocs(code), newMan(), newVersion())
	addServerCommands(root, code)
	root.SetHelpCommand(newHelp())
	root.InitDefaultCompletionCmd()
	if completion, _, err := root.Find([]string{"completion"}); err == nil {
		completion.Args = term.NoArguments
		completion.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() } // otherwise an unknown shell is no error
	}
	return root
}
