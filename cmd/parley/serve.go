package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/serve"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

const serveLong = `Serve runs sessions of agents and serves them to any number of viewers: on the page whose
address it prints, with parley attach, or with any HTTP client.

It listens on loopback and always requires a token. The fragment of the printed address holds
one, so that no log records it. It is valid at that port until the server is stopped with Ctrl-C
or server.drain, also after a crash or SIGTERM: its hash is in the data directory. "parley token"
creates others, with a role and an expiry. A server for other machines needs TLS, or --insecure
behind a proxy with TLS, and its host names as --allowed-host.

SIGTERM ends the server and leaves the agents running, as a crash does; the next server on the
same data takes them over. Ctrl-C, and SIGTERM where --no-host applies, drain: new work is refused, running
turns have --drain-timeout, the rest is interrupted and resumes after the next start. Ctrl-C and
"parley host stop" end the agents. A second signal ends the server at once. Acknowledged inputs
are never lost.

With --replace it takes the place of the server that runs on the same data: port, tokens, sessions
and agents. If it cannot start, that server continues.

Each flag is also a variable, PARLEY_LISTEN for --listen, and a member of the --config file.`

func newServe(code *int) *cobra.Command {
	f := &serve.Settings{Version: thisBuild().Version}
	cmd := &cobra.Command{
		Use:                   "serve [flags]",
		Short:                 "Serve sessions of agents",
		Long:                  serveLong,
		Args:                  term.NoArguments,
		ValidArgsFunction:     cobra.NoFileCompletions,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.Load(cmd.Flags(), os.LookupEnv); err != nil {
				return &term.UsageError{Text: err.Error()}
			}
			if f.PrintConfig {
				return f.Print(cmd.Flags(), cmd.OutOrStdout())
			}
			if err := f.Check(); err != nil {
				return err
			}
			if err := f.Serve(cmd.Context(), cmd.OutOrStdout()); err != nil {
				fmt.Fprintln(term.StandardError(), "parley:", err)
				*code = 1
			}
			return nil
		},
	}
	cmd.Flags().SortFlags = false
	f.Register(cmd.Flags())
	return cmd
}
