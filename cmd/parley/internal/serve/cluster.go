package serve

import (
	"context"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	claudenats "github.com/seed7221b0f9/parley/claude/claudestore/nats"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/agents"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/remote"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server"
	"github.com/seed7221b0f9/parley/server/cluster"
	"github.com/seed7221b0f9/parley/server/session"
)

// secretKey returns the key that the servers on a NATS cluster share, or nil if it is not set.
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

// joinCluster makes the server a member of the NATS cluster. It returns nil without --nats.
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
	c, err := cluster.Open(ctx, cluster.Options{Store: store, Node: node, Name: name, Address: f.machineAddress(l), Version: f.Version, Key: key, Logger: logger})
	if err != nil {
		return nil, nil, err
	}
	return c, c.Close, nil
}

// copiesTimeout limits the opening of the stores of the agents' files.
const copiesTimeout = 10 * time.Second

// copies returns the stores of the agents' files of a tenant, which the servers of a cluster share, and no stores without
// --nats. Each tenant has a stream for each agent, because the agents of a tenant may resume every session in it.
func (f *Settings) copies(ctx context.Context, tenant string, store *eventlog.Store) (c agents.Copies, err error) {
	if f.nats == "" {
		return c, nil
	}
	ctx, cancel := context.WithTimeout(ctx, copiesTimeout)
	defer cancel()
	open := func(stream string) (*claudenats.Store, error) {
		if tenant != "" {
			stream += "_" + base64.RawURLEncoding.EncodeToString([]byte(tenant))
		}
		s, err := claudenats.OpenConn(ctx, store.Conn(), claudenats.Options{Stream: stream, Replicas: f.natsReplicas})
		if err != nil {
			return nil, fmt.Errorf("the store of the agents' files: %w", err)
		}
		return s, nil
	}
	if c.Claude, err = open("PARLEY_CLAUDE"); err != nil {
		return agents.Copies{}, err
	}
	if c.Codex, err = open("PARLEY_CODEX"); err != nil {
		return agents.Copies{}, err
	}
	return c, nil
}

// hostLeases returns the leases of the hosts of a cluster, nil without one.
func (f *Settings) hostLeases(ctx context.Context, c *cluster.Cluster) (session.HostLeases, error) {
	if c == nil {
		return nil, nil
	}
	name, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("the name of this machine, by which servers find its agents: %w", err)
	}
	return server.HostLeases(ctx, c, name)
}

// machineAddress returns the address of the server that machines are told: an allowed host, unless only this machine can reach
// the server.
func (f *Settings) machineAddress(l net.Listener) string {
	address := f.address(l)
	u, err := url.Parse(address)
	at, addrErr := netip.ParseAddrPort(l.Addr().String())
	if err != nil || addrErr != nil || at.Addr().IsLoopback() || len(f.allowedHosts) == 0 {
		return address
	}
	u.Host = f.allowedHosts[0]
	if _, _, err := net.SplitHostPort(u.Host); err != nil {
		u.Host = net.JoinHostPort(strings.Trim(u.Host, "[]"), strconv.Itoa(int(at.Port())))
	}
	return u.String()
}
