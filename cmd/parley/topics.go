package main

import (
	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/manual"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

//go:generate go run . man --format markdown ../../docs/reference

const helpLong = `Help shows the help of a command, or the guide of a topic.

"parley help topics" lists the topics. "parley docs" shows the guides in the browser.`

// newHelp returns the command that shows the help of commands and topics.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use: "help [command or topic]", Short: "Help about a command or a topic", Long: helpLong,
		Example: "  parley help run\n  parley help topics\n  parley help permissions",
		RunE:    manual.ShowHelp,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return manual.Words(cmd.Root(), args), cobra.ShellCompDirectiveNoFileComp
		},
	}
}

const manLong = `Man writes the manual pages of all commands (section 1) and topics (section 7) into a
directory that exists, for packages: a page for each, named parley-run.1 or parley-hooks.7.

With --format markdown it writes one file, commands.md, with every command and flag.`

// newMan returns the command that writes manual pages.
func newMan() *cobra.Command {
	cmd := &cobra.Command{
		Use: "man [flags] DIR", Short: "Write manual pages into a directory", Long: manLong, Args: term.Arguments(1, 1), DisableFlagsInUseLine: true,
		Example: "  parley man /usr/local/share/man/man1\n  parley completion bash > /etc/bash_completion.d/parley",
	}
	format := cmd.Flags().String("format", "man", "man or markdown")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		cmd.Root().InitDefaultCompletionCmd()
		switch *format {
		case "man":
			return manual.WritePages(cmd.Root(), args[0])
		case "markdown":
			return manual.WriteMarkdown(cmd.Root(), args[0])
		}
		return term.Usagef("--format %s is neither man nor markdown", *format)
	}
	return cmd
}
