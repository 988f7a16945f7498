package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// execute runs the command line and returns the exit code.
func execute(args []string) int {
	code := exitOK
	root := newRoot(&code)
	root.SetArgs(args)
	root.SetOut(standardOutput())
	complain := standardError()
	root.SetErr(complain)
	cmd, err := root.ExecuteC()
	if err == nil {
		return code
	}
	fmt.Fprintln(complain, "parley:", err)
	if hint, ok := errors.AsType[*usageError](err); !ok || !hint.plain {
		fmt.Fprintf(complain, "%q says more.\n", cmd.CommandPath()+" --help")
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

// noArguments refuses arguments.
func noArguments(cmd *cobra.Command, args []string) error { return arguments(0, 0)(cmd, args) }

// arguments wants at least and at most so many arguments, and says which.
func arguments(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) > most && most == 0 && cmd.HasSubCommands():
			return usagef("unknown command %q for %q%s", args[0], cmd.CommandPath(), meant(cmd, args[0]))
		case len(args) > most && most == 0:
			return usagef("%s takes no argument, not %q", cmd.CommandPath(), args[0])
		case len(args) > most:
			return usagef("%s takes no more than %s; what has blanks in it needs quotes: %s", cmd.CommandPath(), plural(int64(most), "argument"), cmd.UseLine())
		case len(args) < least:
			return usagef("%s needs %s: %s", cmd.CommandPath(), plural(int64(least), "argument"), cmd.UseLine())
		}
		return nil
	}
}

// meant is a suggestion for a word that is not a command.
func meant(cmd *cobra.Command, word string) string {
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	if best := nearest(word, names); best != "" {
		return "; is " + best + " meant?"
	}
	return ""
}

func newRoot(code *int) *cobra.Command {
	root := &cobra.Command{
		Use:           "parley",
		Short:         "Run coding agents",
		Long:          "Parley runs coding agents that speak the Claude Agent SDK protocol.",
		Version:       thisBuild().String(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArguments,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.AddCommand(newRun(code), newChat(code), newACP(code), newSessions(code), newUsage(code), newDoctor(code), newMan(), newVersion())
	addServerCommands(root, code)
	root.SetHelpCommand(newHelp())
	return root
}
