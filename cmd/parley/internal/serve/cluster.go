package serve

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/remote"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server/cluster"
)

// secretKey returns the key that the servers on a NATS cluster share, or nil if none is set.
func (f *Settings) secretKey() ([]byte, error) {
	switch {
	case f.nats == "" && f.secretKeyFile != "":
		return nil, term.Usagef("--secret-key-file is for several servers: see --nats")
	case f.nats == "":
		return nil, nil
	case f.secretKeyFile == "":
		return nil, term.Usagef("--nats needs --secret-key-file: a file with %d random bytes or more, the same on every server", cluster.MinKey)
	}
	key, err := readKey(f.secretKeyFile)
	if err == nil && len(key) < cluster.MinKey {
		err = fmt.Errorf("%s has %d bytes; it needs %d", f.secretKeyFile, len(key), cluster.MinKey)
	}
	return []byte(key), err
}

// joinCluster adds the server to those on a NATS cluster. It returns nil without --nats.
func (f *Settings) joinCluster(ctx context.Context, key []byte, l net.Listener, store *eventlog.Store, logger *slog.Logger) (*cluster.Cluster, func(), error) {
	if f.nats == "" {
		return nil, func() {}, nil
	}
	dir := filepath.Join(f.Data, remote.ServerDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, err
	}
	node, err := cluster.NodeID(dir)
	if err != nil {
		return nil, nil, err
	}
	name, err := os.Hostname()
	if err != nil {
		name = node
	}
	c, err := cluster.Open(ctx, cluster.Options{Store: store, Node: node, Name: name, Address: f.address(l), Version: f.Version, Key: key, Logger: logger})
	if err != nil {
		return nil, nil, err
	}
	return c, c.Close, nil
}
