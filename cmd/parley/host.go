package main

import (
	"context"
	"io"
	"log/slog"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/hostctl"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/remote"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/internal/supervise"
)

const hostLong = `Host shows and stops the process that runs the agents of "parley serve" and outlives the server,
and offers the agents of this machine to a server on another one.

Exit codes:
    0  done, also if no host runs
    1  the host or the server did not answer, or refused
    2  invalid command line`

func newHost(code *int) *cobra.Command {
	cmd := &cobra.Command{
		Use: "host", Short: "List and stop agents that outlive the server, and offer agents to a server", Long: hostLong, Args: term.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	asJSON := false
	list := hostCommand(code, "list", "List the agents of the host", func(ctx context.Context, dataDir string, out io.Writer) error {
		l, err := hostctl.Ask(ctx, dataDir)
		if err != nil {
			return err
		}
		if asJSON {
			return term.StandardOutput().EncodeJSON(l)
		}
		return l.Write(out, time.Now())
	})
	list.Flags().BoolVar(&asJSON, "json", false, "print the list as JSON")
	cmd.AddCommand(list,
		hostCommand(code, "stop", "End the agents and the host", hostctl.Stop),
		hostCommand(code, "logs", "Print the log of the host", func(_ context.Context, dataDir string, out io.Writer) error { return hostctl.Logs(dataDir, out) }),
		newHostRun(code), newHostJoin(code))
	return cmd
}

// hostCommand returns a command that queries the host of a data directory.
func hostCommand(code *int, name, short string, run func(ctx context.Context, dataDir string, out io.Writer) error) *cobra.Command {
	data := remote.DefaultData()
	cmd := &cobra.Command{Use: name + " [flags]", Short: short, Args: term.NoArguments, DisableFlagsInUseLine: true}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		failed(code, run(cmd.Context(), data, cmd.OutOrStdout()))
		return nil
	}
	cmd.Flags().StringVar(&data, "data", data, "data directory of the server")
	return cmd
}

func newHostRun(code *int) *cobra.Command {
	var o host.Options
	cmd := hostCommand(code, "run", "Run the host in the foreground, until it is stopped", func(ctx context.Context, dataDir string, _ io.Writer) error {
		ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
		defer stop()
		o.Supervisor = supervise.Self()
		return host.Run(ctx, dataDir, o, slog.New(slog.NewTextHandler(term.StandardError(), nil)))
	})
	cmd.Long = "Run runs the host in the foreground. Its agents end with it. A server starts its host itself:\nthis command is for service managers that keep processes apart."
	cmd.Flags().DurationVar(&o.OrphanTimeout, "orphan-timeout", 24*time.Hour, "time that an agent runs without a server")
	cmd.Flags().DurationVar(&o.IdleTimeout, "idle-timeout", time.Minute, "end after this time without a server and agents")
	return cmd
}
