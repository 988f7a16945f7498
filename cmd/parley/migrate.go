package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/serve"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

const migrateLong = `Migrate copies the data of a server from a data directory to a NATS cluster, or back: sessions,
the audit log, the ledger of budgets and the queue of webhooks with the numbers of their events, uploads,
parameters of sessions with passwords, tokens, webhooks and subscriptions of push messages. No server
may run on either side. The source is not changed. The target is empty, or has a part of the source, as
after an earlier call that was interrupted: then the rest is copied. At the end the target is read again
and compared with the source, by the number and the hash of the messages of every session.

It does not copy the printed link, worktrees and running agents.
Until the copy is complete, a server refuses the target.

Exit codes:
    0  everything was copied, or with --dry-run can be copied
    1  failed; the reason is printed
    2  invalid command line`

func newMigrate(code *int) *cobra.Command {
	f := &serve.Migration{}
	cmd := &cobra.Command{
		Use: "migrate [flags] cluster|directory", Short: "Copy sessions from a data directory to a cluster, or back", Long: migrateLong, Args: term.Arguments(1, 1), DisableFlagsInUseLine: true,
		Example:   "  parley migrate --nats nats://a:4222 --nats-replicas 3 --secret-key-file secret --dry-run cluster\n  parley migrate --nats nats://a:4222 --secret-key-file secret --data copy directory",
		ValidArgs: []string{"cluster", "directory"},
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if args[0] != "cluster" && args[0] != "directory" {
			return term.Usagef("migrate %q: the target is cluster or directory", args[0])
		}
		if err := f.Load(os.LookupEnv); err != nil {
			return err
		}
		failed(code, f.Run(cmd.Context(), cmd.OutOrStdout(), args[0] == "cluster"))
		return nil
	}
	f.Register(cmd.Flags())
	return cmd
}
