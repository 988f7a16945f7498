package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/serve"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

const serveLong = `Serve holds sessions of agents and serves them to any number of viewers: with the page
that it prints the address of, with parley attach, or with any HTTP client.

It listens on loopback and always wants a token. The address that it prints has one in its
fragment, which no log sees. It is valid at that port until the server is stopped with Ctrl-C or
server.drain, also after a crash or SIGTERM: its hash is in the data directory. "parley token"
makes others, with a role and an end. A server for other machines needs TLS, or --insecure behind a proxy
that has it, and the names it is called by as --allowed-host.

SIGTERM and SIGINT drain: new work is refused, running turns have --drain-timeout, the rest
is interrupted and resumes after the next start. A second signal ends at once; nothing that
was acknowledged is lost. SIGTERM leaves the agents running, as a crash does, and the next server on
the same data takes them over, unless --no-host applies. Ctrl-C and "parley host stop" end them.

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
