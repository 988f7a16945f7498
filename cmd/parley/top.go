package main

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/remote"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/top"
)

const topLong = `Top shows the state of a server and updates it: its sessions with their state, model, tokens
and cost, the requests that wait for a person, the amount spent of each budget, the queue, its
memory, and the 99th percentile of the time of calls. Sessions that need a person are first.

Ctrl-C ends it. If standard output is not a terminal, and with --once and --json, it
prints one table or one JSON object and ends. If the server cannot be reached, top reports
it and retries.

Exit codes:
    0  ended by Ctrl-C, or one table was printed
    1  the server did not answer, or refused
    2  invalid command line`

func newTop(code *int) *cobra.Command {
	var f remote.Flags
	var o top.Options
	cmd := &cobra.Command{
		Use: "top [flags]", Short: "Show the activity of a server, live", Long: topLong, Args: term.NoArguments, DisableFlagsInUseLine: true,
		Example: "  parley top\n  parley top --server https://agents.example:7717\n  parley top --once\n  parley top --json | jq '.sessions[] | select(.prompts > 0)'",
	}
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if o.Interval < 100*time.Millisecond {
			return term.Usagef("--interval %v is shorter than 100ms", o.Interval)
		}
		return nil
	}
	// An unreachable server is reported and retried.
	cmd.RunE = withClient(code, &f, func(ctx context.Context, c *client.Client, _ io.Writer, _ []string) error { return top.Show(ctx, c, o) })
	cmd.Flags().BoolVar(&o.Once, "once", false, "print one table and end")
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print one JSON object and end")
	cmd.Flags().DurationVar(&o.Interval, "interval", 2*time.Second, "interval between requests to the server")
	cmd.Flags().BoolVar(&o.NoColor, "no-color", false, "disable colours")
	f.Register(cmd.Flags())
	return cmd
}
