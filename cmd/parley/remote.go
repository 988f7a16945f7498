package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/internal/regular"
	"github.com/seed7221b0f9/parley/server/api"
)

// remoteFlags say which server is meant.
type remoteFlags struct{ server, data string }

func (f *remoteFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.server, "server", "", "address of the server (default: the one of --data; the token comes from PARLEY_TOKEN)")
	cmd.Flags().StringVar(&f.data, "data", defaultData(), "data directory of a server on this machine")
}

// connect returns a client of the server that is meant.
func (f *remoteFlags) connect() (*client.Client, error) {
	address := f.server
	if address == "" {
		data, err := regular.Read(filepath.Join(f.data, addressName), maxAddress)
		if err != nil {
			return nil, fmt.Errorf("no server runs with the data in %s; name one with --server", f.data)
		}
		address = strings.TrimSpace(string(data))
	}
	opts := client.Options{URL: address}
	if !strings.Contains(address, "#token=") {
		if opts.Token = os.Getenv("PARLEY_TOKEN"); opts.Token == "" {
			return nil, errors.New("there is no token; set PARLEY_TOKEN")
		}
	}
	return client.New(opts)
}

// remote makes the RunE of a command that talks to a server.
func remote(code *int, f *remoteFlags, run func(ctx context.Context, c *client.Client, out io.Writer, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c, err := f.connect()
		if err == nil {
			err = run(cmd.Context(), c, cmd.OutOrStdout(), args)
		}
		if err != nil {
			fmt.Fprintln(term.StandardError(), "parley:", term.OneLine(err.Error()))
			*code = 1
		}
		return nil
	}
}

// callLimit bounds a call of a command.
const callLimit = 2 * time.Minute

func call(ctx context.Context, c *client.Client, method string, params, result any) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	return c.Call(ctx, method, params, result)
}

func newToken(code *int) *cobra.Command {
	cmd := &cobra.Command{
		Use: "token", Short: "Make, list and revoke tokens of a server", Args: term.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newTokenCreate(code), newTokenList(code), newTokenRevoke(code))
	return cmd
}

func newTokenCreate(code *int) *cobra.Command {
	f := &remoteFlags{}
	var p api.TokensCreateParams
	var expires time.Duration
	cmd := &cobra.Command{Use: "create [flags]", Short: "Make a token and print it once", Args: term.NoArguments, DisableFlagsInUseLine: true}
	cmd.RunE = remote(code, f, func(ctx context.Context, c *client.Client, out io.Writer, _ []string) error {
		p.ExpiresIn = int64(expires / time.Second)
		var r api.TokensCreateResult
		if err := call(ctx, c, "tokens.create", p, &r); err != nil {
			return err
		}
		fmt.Fprintln(out, r.Token)
		return nil
	})
	cmd.Flags().StringVar(&p.Role, "role", "viewer", "viewer, operator or admin")
	cmd.Flags().StringVar(&p.Name, "name", "", "who it is for; others see the name")
	cmd.Flags().StringVar(&p.Tenant, "tenant", "", "tenant whose sessions alone it sees, and whom budgets count it for")
	cmd.Flags().DurationVar(&expires, "expires", 30*24*time.Hour, "after how long it ends; 0 is never")
	f.register(cmd)
	return cmd
}

func newTokenList(code *int) *cobra.Command {
	f := &remoteFlags{}
	cmd := &cobra.Command{Use: "list [flags]", Short: "List tokens without their secrets", Args: term.NoArguments, DisableFlagsInUseLine: true}
	cmd.RunE = remote(code, f, func(ctx context.Context, c *client.Client, out io.Writer, _ []string) error {
		var r api.TokensListResult
		if err := call(ctx, c, "tokens.list", api.Empty{}, &r); err != nil {
			return err
		}
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "ID\tROLE\tNAME\tTENANT\tSESSION\tEXPIRES")
		for _, t := range r.Tokens {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", term.OneLine(t.ID), term.OneLine(t.Role), term.OneLine(t.Name), term.OneLine(t.Tenant), term.OneLine(t.SessionID), term.OneLine(t.ExpiresAt))
		}
		return w.Flush()
	})
	f.register(cmd)
	return cmd
}

func newTokenRevoke(code *int) *cobra.Command {
	f := &remoteFlags{}
	cmd := &cobra.Command{Use: "revoke [flags] ID", Short: "End a token", Args: term.Arguments(1, 1), DisableFlagsInUseLine: true}
	cmd.RunE = remote(code, f, func(ctx context.Context, c *client.Client, _ io.Writer, args []string) error {
		return call(ctx, c, "tokens.revoke", api.TokensRevokeParams{ID: args[0]}, nil)
	})
	f.register(cmd)
	return cmd
}

// listRemote prints the sessions of a server.
func listRemote(ctx context.Context, c *client.Client, out io.Writer) error {
	var r api.ListResult
	if err := call(ctx, c, "session.list", api.ListParams{}, &r); err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SESSION\tSTATE\tAGENT\tTITLE")
	for _, s := range r.Sessions {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", term.OneLine(s.SessionID), term.OneLine(s.State), term.OneLine(s.Provider), term.OneLine(s.Title))
	}
	return w.Flush()
}

func newBackup(code *int) *cobra.Command {
	f := &remoteFlags{}
	cmd := &cobra.Command{
		Use: "backup [flags] FILE", Short: "Back up the logs of a server, also while it runs", Args: term.Arguments(1, 1), DisableFlagsInUseLine: true,
		Long: "Backup writes all sessions to a file. A server that runs is asked for it; without one\nthe data directory is read. The file must not exist yet.",
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := f.backup(cmd.Context(), args[0]); err != nil {
			fmt.Fprintln(term.StandardError(), "parley:", term.OneLine(err.Error()))
			*code = 1
		}
		return nil
	}
	f.register(cmd)
	return cmd
}

// backup writes to a new file, which is removed again if the backup is not whole.
func (f *remoteFlags) backup(ctx context.Context, name string) (err error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, file.Close()); err != nil {
			_ = os.Remove(name)
		}
	}()
	c, err := f.connect()
	if err == nil {
		err = c.Backup(ctx, file)
	} else if f.server == "" {
		err = backupDir(ctx, filepath.Join(f.data, "log"), file)
	}
	return errors.Join(err, file.Sync())
}

func backupDir(ctx context.Context, dir string, w io.Writer) error {
	if _, err := os.Stat(dir); err != nil {
		return err
	}
	store, err := eventlog.Open(ctx, &eventlog.Options{Dir: dir})
	if err != nil {
		return err
	}
	err = store.Backup(ctx, w)
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeLimit)
	defer cancel()
	return errors.Join(err, store.Close(bound))
}

func newRestore(code *int) *cobra.Command {
	data := defaultData()
	cmd := &cobra.Command{Use: "restore [flags] FILE", Short: "Fill an empty data directory with a backup", Args: term.Arguments(1, 1), DisableFlagsInUseLine: true}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		err := restore(cmd.Context(), args[0], data)
		if err != nil {
			fmt.Fprintln(term.StandardError(), "parley:", term.OneLine(err.Error()))
			*code = 1
		}
		return nil
	}
	cmd.Flags().StringVar(&data, "data", data, "data directory; its log must be empty")
	return cmd
}

func restore(ctx context.Context, name, data string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := os.MkdirAll(data, 0o700); err != nil {
		return err
	}
	return eventlog.Restore(ctx, file, &eventlog.Options{Dir: filepath.Join(data, "log")})
}

// withServer gives a command of this machine the flag --server, with which it works on a
// server in place of it.
func withServer(cmd *cobra.Command, code *int, run func(ctx context.Context, c *client.Client, out io.Writer) error) {
	f := &remoteFlags{}
	cmd.Flags().StringVar(&f.server, "server", "", "work on the server at this address; the token comes from PARLEY_TOKEN")
	local := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !cmd.Flags().Changed("server") {
			return local(cmd, args)
		}
		return remote(code, f, func(ctx context.Context, c *client.Client, out io.Writer, _ []string) error { return run(ctx, c, out) })(cmd, args)
	}
}

// addServerCommands adds what has to do with servers to the command line.
func addServerCommands(root *cobra.Command, code *int) {
	root.AddCommand(newServe(code), newAttach(code), newToken(code), newBackup(code), newRestore(code), newTop(code), newDiff(code), newWorkspace(code))
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "sessions":
			withServer(cmd, code, listRemote)
		case "chat":
			withServer(cmd, code, func(ctx context.Context, c *client.Client, out io.Writer) error { return chatRemote(ctx, c, out, code) })
		}
	}
}
