package term

import (
	"fmt"
	"os"
	"syscall"

	"github.com/spf13/cobra"
)

// The exit codes; the help explains them.
const (
	ExitOK       = 0
	ExitFailed   = 1
	ExitUsage    = 2
	ExitNoCLI    = 3
	ExitCLIDied  = 4
	ExitSignal   = 128 // plus the signal's number
	ExitOnSIGINT = ExitSignal + int(syscall.SIGINT)
)

// SignalError is the error of a run that was ended by a signal.
type SignalError struct{ Signal os.Signal }

func (e *SignalError) Error() string { return "ended by signal: " + e.Signal.String() }

// Code returns the exit code.
func (e *SignalError) Code() int {
	if sig, ok := e.Signal.(syscall.Signal); ok {
		return ExitSignal + int(sig)
	}
	return ExitOnSIGINT
}

// OutputError is the error of writing to standard output.
type OutputError struct{ err error }

func (e *OutputError) Error() string { return "writing the output: " + e.err.Error() }

func (e *OutputError) Unwrap() error { return e.err }

// OutputFailed wraps a write error in an *OutputError.
func OutputFailed(err error) error { return &OutputError{err} }

// UsageError is an invalid command line.
type UsageError struct {
	Text  string
	Plain bool // the help has no more information
}

func (e *UsageError) Error() string { return e.Text }

// Usagef returns a *UsageError.
func Usagef(format string, args ...any) error {
	return &UsageError{Text: fmt.Sprintf(format, args...)}
}

// NoArguments returns an error for any argument.
func NoArguments(cmd *cobra.Command, args []string) error { return Arguments(0, 0)(cmd, args) }

// Arguments requires a number of arguments between least and most, and names them in
// errors.
func Arguments(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) > most && most == 0 && cmd.HasSubCommands():
			return Usagef("unknown command %q for %q%s", args[0], cmd.CommandPath(), suggestion(cmd, args[0]))
		case len(args) > most && most == 0:
			return Usagef("%s takes no argument, not %q", cmd.CommandPath(), args[0])
		case len(args) > most:
			return Usagef("%s takes no more than %s; what has blanks in it needs quotes: %s", cmd.CommandPath(), Plural(int64(most), "argument"), cmd.UseLine())
		case len(args) < least:
			return Usagef("%s needs %s: %s", cmd.CommandPath(), Plural(int64(least), "argument"), cmd.UseLine())
		}
		return nil
	}
}

// suggestion returns a suggestion for an unknown command.
func suggestion(cmd *cobra.Command, word string) string {
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	if best := Nearest(word, names); best != "" {
		return "; did you mean " + best + "?"
	}
	return ""
}
