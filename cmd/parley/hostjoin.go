package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/joined"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

const hostJoinLong = `Join offers Claude Code on this machine to a server. It connects to the server, so that this
machine opens no port, and reconnects when the link is lost. Agents continue without a link. Ctrl-C ends the
link and leaves the agents running; they end 24 hours later if the machine does not join again.

The server names an agent, a directory and options; this machine makes the command. Programs, MCP
servers, hooks and variables come from the configuration of this machine. Agents run below --dir, and
no response of the server raises their permission mode above --max-mode. A server can still prompt
agents and approve their calls, and thereby use the rights of this user. The token comes from
--token-file, from PARLEY_TOKEN or from a line of standard input. Instead of a token, a line can be
the code that the page shows under Machines; at a terminal the command asks for it. The code is
exchanged for a token, which is kept below --data for its owner only.

Exit codes:
    0  ended by a signal
    1  the server refused the token, or the host cannot run
    2  invalid command line`

func newHostJoin(code *int) *cobra.Command {
	f := &joined.Settings{}
	cmd := &cobra.Command{
		Use: "join [flags] URL", Short: "Offer the agents of this machine to a server", Long: hostJoinLong, Args: term.Arguments(1, 1),
		Example:           "  parley host join --token-file ~/.config/parley/token --dir ~/src https://parley.example.com",
		ValidArgsFunction: cobra.NoFileCompletions, DisableFlagsInUseLine: true,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		err := f.Join(cmd.Context(), args[0], os.Stdin, cmd.OutOrStdout())
		if _, usage := err.(*term.UsageError); usage {
			return err
		}
		failed(code, err)
		return nil
	}
	cmd.Flags().SortFlags = false
	f.Register(cmd.Flags())
	return cmd
}
