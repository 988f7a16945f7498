package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/diff"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/remote"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/serve"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/server/api"
)

// failed writes the error of a command, if any, and sets the exit code.
func failed(code *int, err error) {
	if err == nil {
		return
	}
	fmt.Fprintln(term.StandardError(), "parley:", term.OneLine(err.Error()))
	diff.WriteChanged(term.StandardError(), err)
	*code = max(*code, term.ExitFailed)
}

// noneListed writes a note to standard error if a list is empty.
func noneListed(n int, note string) {
	if n == 0 {
		fmt.Fprintln(term.StandardError(), note)
	}
}

// onServer returns the RunE of a command that needs a reachable server.
func onServer(code *int, f *remote.Flags, run func(ctx context.Context, c *client.Client, out io.Writer, args []string) error) func(*cobra.Command, []string) error {
	return withClient(code, f, func(ctx context.Context, c *client.Client, out io.Writer, args []string) error {
		if err := remote.Reach(ctx, c); err != nil {
			return err
		}
		return run(ctx, c, out, args)
	})
}

// withClient returns the RunE of a command with a client of a server.
func withClient(code *int, f *remote.Flags, run func(ctx context.Context, c *client.Client, out io.Writer, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c, err := f.Connect()
		if err == nil {
			err = run(cmd.Context(), c, cmd.OutOrStdout(), args)
		}
		failed(code, err)
		return nil
	}
}

func newToken(code *int) *cobra.Command {
	cmd := &cobra.Command{
		Use: "token", Short: "Create, list and revoke tokens of a server", Args: term.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newTokenCreate(code), newTokenList(code), newTokenRevoke(code))
	return cmd
}

func newTokenCreate(code *int) *cobra.Command {
	f := &remote.Flags{}
	var p api.TokensCreateParams
	var expires time.Duration
	cmd := &cobra.Command{Use: "create [flags]", Short: "Create a token and print it once", Args: term.NoArguments, DisableFlagsInUseLine: true}
	cmd.RunE = onServer(code, f, func(ctx context.Context, c *client.Client, out io.Writer, _ []string) error {
		p.ExpiresIn = int64(expires / time.Second)
		var r api.TokensCreateResult
		if err := remote.Call(ctx, c, "tokens.create", p, &r); err != nil {
			return err
		}
		fmt.Fprintln(out, r.Token)
		return nil
	})
	cmd.Flags().StringVar(&p.Role, "role", "viewer", "viewer, operator, admin, or host, which can only join a machine")
	cmd.Flags().StringVar(&p.Name, "name", "", "name that others see, such as the person or program it is for")
	cmd.Flags().StringVar(&p.Tenant, "tenant", "", "tenant of the token: it sees only sessions of this tenant, and budgets count it there")
	cmd.Flags().StringVar(&p.AgentOf, "agent-of", "", "session of the agent that gets the token; sessions that it starts are charged to this session")
	cmd.Flags().BoolVar(&p.Answers, "answers", false, "with --agent-of: the agent may answer requests")
	cmd.Flags().DurationVar(&expires, "expires", 30*24*time.Hour, "lifetime; 0 means that it never expires")
	f.Register(cmd.Flags())
	return cmd
}

func newTokenList(code *int) *cobra.Command {
	f := &remote.Flags{}
	cmd := &cobra.Command{Use: "list [flags]", Short: "List tokens without their secrets", Args: term.NoArguments, DisableFlagsInUseLine: true}
	cmd.RunE = onServer(code, f, func(ctx context.Context, c *client.Client, out io.Writer, _ []string) error {
		var r api.TokensListResult
		if err := remote.Call(ctx, c, "tokens.list", api.Empty{}, &r); err != nil {
			return err
		}
		noneListed(len(r.Tokens), "no tokens, except the one that the server printed when it started")
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "ID\tROLE\tNAME\tTENANT\tSESSION\tEXPIRES")
		for _, t := range r.Tokens {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", term.OneLine(t.ID), term.OneLine(t.Role), term.OneLine(t.Name), term.OneLine(t.Tenant), term.OneLine(t.SessionID), term.OneLine(t.ExpiresAt))
		}
		return w.Flush()
	})
	f.Register(cmd.Flags())
	return cmd
}

func newTokenRevoke(code *int) *cobra.Command {
	f := &remote.Flags{}
	cmd := &cobra.Command{Use: "revoke [flags] ID", Short: "Revoke a token", Args: term.Arguments(1, 1), DisableFlagsInUseLine: true}
	cmd.RunE = onServer(code, f, func(ctx context.Context, c *client.Client, _ io.Writer, args []string) error {
		return remote.Call(ctx, c, "tokens.revoke", api.TokensRevokeParams{ID: args[0]}, nil)
	})
	f.Register(cmd.Flags())
	return cmd
}

// listRemote prints the sessions of a server.
func listRemote(ctx context.Context, c *client.Client, out io.Writer) error {
	var r api.ListResult
	if err := remote.Call(ctx, c, "session.list", api.ListParams{}, &r); err != nil {
		return err
	}
	noneListed(len(r.Sessions), "the server has no sessions; parley run --server starts one")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SESSION\tSTATE\tAGENT\tTITLE")
	for _, s := range r.Sessions {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", term.OneLine(s.SessionID), term.OneLine(s.State), term.OneLine(s.Provider), term.OneLine(s.Title))
	}
	return w.Flush()
}

func newBackup(code *int) *cobra.Command {
	f := &remote.Flags{}
	cmd := &cobra.Command{
		Use: "backup [flags] FILE", Short: "Back up the logs of a server, even while it runs", Args: term.Arguments(1, 1), DisableFlagsInUseLine: true,
		Long: "Backup writes all sessions to a file. A server that runs is asked for it; without one\nthe data directory is read. The file must not exist yet.",
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		failed(code, serve.Backup(cmd.Context(), f, args[0]))
		return nil
	}
	f.Register(cmd.Flags())
	return cmd
}

func newRestore(code *int) *cobra.Command {
	data := remote.DefaultData()
	cmd := &cobra.Command{Use: "restore [flags] FILE", Short: "Fill an empty data directory with a backup", Args: term.Arguments(1, 1), DisableFlagsInUseLine: true}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		failed(code, serve.Restore(cmd.Context(), args[0], data))
		return nil
	}
	cmd.Flags().StringVar(&data, "data", data, "data directory; its log must be empty")
	return cmd
}

// listsServer adds the flag --server to parley sessions, which lists the sessions of a server.
func listsServer(cmd *cobra.Command, code *int) {
	f := &remote.Flags{}
	cmd.Flags().StringVar(&f.Server, "server", "", "list the sessions of the server at this address; the token comes from PARLEY_TOKEN")
	local := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !cmd.Flags().Changed("server") {
			return local(cmd, args)
		}
		return onServer(code, f, func(ctx context.Context, c *client.Client, out io.Writer, _ []string) error {
			return listRemote(ctx, c, out)
		})(cmd, args)
	}
}

// addServerCommands adds the commands for servers.
func addServerCommands(root *cobra.Command, code *int) {
	root.AddCommand(newServe(code), newAttach(code), newToken(code), newBackup(code), newRestore(code), newTop(code), newDiff(code), newWorkspace(code), newHost(code), newMachines(code), newNodes(code), newMigrate(code), newMCP(code))
	for _, cmd := range root.Commands() {
		if cmd.Name() == "sessions" {
			listsServer(cmd, code)
		}
	}
}
