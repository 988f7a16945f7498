package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/remote"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/server"
	"github.com/seed7221b0f9/parley/server/cluster"
)

// Migration copies a server's data between a data directory and a cluster.
type Migration struct {
	serve  Settings
	set    *pflag.FlagSet
	dryRun bool
	secret []byte
}

// migrateFlags are the settings of parley serve that also apply to a migration.
var migrateFlags = []string{"config", "data", "quota-mb", "nats", "nats-credentials", "nats-ca", "nats-replicas", "secret-key-file"}

// Register adds the flags.
func (m *Migration) Register(p *pflag.FlagSet) {
	all := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	m.serve.Register(all)
	for _, name := range migrateFlags {
		p.AddFlag(all.Lookup(name))
	}
	p.BoolVar(&m.dryRun, "dry-run", false, "read the source and check that the target can be reached, and write nothing")
	m.set = all
}

// Load completes the settings with the environment and the configuration file, and checks them.
func (m *Migration) Load(lookup func(string) (string, bool)) (err error) {
	if err := m.serve.Load(m.set, lookup); err != nil {
		return &term.UsageError{Text: err.Error()}
	}
	if m.serve.nats == "" {
		return term.Usagef("migrate needs the cluster: --nats and --secret-key-file")
	}
	m.secret, err = m.serve.secretKey()
	return err
}

// Run copies all data, and prints its progress.
func (m *Migration) Run(ctx context.Context, out io.Writer, toCluster bool) error {
	there := m.serve.storeOptions(nil)
	here := *there
	here.URL, here.Credentials, here.RootCAs, here.Replicas, here.Dir = "", "", "", 0, filepath.Join(m.serve.Data, remote.LogDir)
	from, to := &here, there
	if !toCluster {
		from, to = to, from
	}
	if err := m.alone(ctx, there, toCluster); err != nil {
		return err
	}
	done, err := eventlog.Copy(ctx, from, to, eventlog.CopyOptions{DryRun: m.dryRun, Progress: m.progress(out)})
	if err != nil {
		return err
	}
	if m.dryRun {
		fmt.Fprintf(out, "There are %d logs with %d messages (%d MB), with the hash %x. Nothing was written.\n", done.Sessions, done.Messages, done.Bytes>>20, done.Sum[:8])
		return nil
	}
	fmt.Fprintf(out, "%d logs with %d messages are the same on both sides, with the hash %x; %d messages were copied.\n", done.Sessions, done.Messages, done.Sum[:8], done.Written)
	var state server.CopiedState
	err = m.withCluster(ctx, there, func(c *cluster.Cluster) error {
		var err error
		state, err = server.CopyState(ctx, filepath.Join(m.serve.Data, remote.ServerDir), c, toCluster)
		return err
	})
	if err == nil {
		fmt.Fprintf(out, "%d uploads, %d secrets, %d tokens and %d webhooks and subscriptions are the same on both sides; %d were copied.\n",
			state.Uploads, state.Secrets, state.Tokens, state.Webhooks, state.Written)
	}
	return err
}

// progressEvery is the minimum time between two lines about the progress.
const progressEvery = time.Second

// progress returns a function that prints the progress at most every progressEvery.
func (m *Migration) progress(out io.Writer) func(eventlog.Copied) {
	next := time.Now().Add(progressEvery)
	return func(c eventlog.Copied) {
		if now := time.Now(); now.After(next) {
			fmt.Fprintf(out, "%d messages of %d logs (%d MB) were read, %d were copied.\n", c.Messages, c.Sessions, c.Bytes>>20, c.Written)
			next = now.Add(progressEvery)
		}
	}
}

// alone returns an error if a server of the cluster runs. An incomplete target cannot be opened, so it has no servers.
func (m *Migration) alone(ctx context.Context, there *eventlog.Options, toCluster bool) error {
	if m.dryRun && toCluster {
		return nil // checking would create the missing parts
	}
	err := m.withCluster(ctx, there, func(c *cluster.Cluster) error {
		nodes, err := c.Nodes(ctx)
		if err == nil && len(nodes) > 1 {
			err = fmt.Errorf("%d servers of the cluster run; stop them first", len(nodes)-1)
		}
		return err
	})
	if errors.Is(err, eventlog.ErrBackup) {
		return nil
	}
	return err
}

// withCluster joins the cluster as a member that is not a server, and calls do.
func (m *Migration) withCluster(ctx context.Context, there *eventlog.Options, do func(c *cluster.Cluster) error) error {
	store, err := eventlog.Open(ctx, there)
	if err != nil {
		return err
	}
	c, err := cluster.Open(ctx, cluster.Options{Store: store, Node: "migrate-" + random.Hex(4), Name: "parley migrate", Version: m.serve.Version, Key: m.secret})
	if err == nil {
		err = do(c)
		c.Close()
	}
	return errors.Join(err, closeStore(store))
}
