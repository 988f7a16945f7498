package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/internal/regularfile"
)

// Options configures a server of a cluster. Store, Node and Key are required.
type Options struct {
	// Store is a store with a URL. The cluster does not close it.
	Store *eventlog.Store
	// Node is the name of this server in the cluster, see [NodeID]. No two running processes may have the same name.
	Node string
	// Name and Address are shown to people: the machine of the server, and the address for clients.
	Name, Address, Version string
	// Key is the secret of the cluster, at least [MinKey] bytes. All servers must have the same key.
	Key []byte
	// Logger receives log records; nil discards them.
	Logger *slog.Logger
}

// MinKey is the minimum length of the secret of a cluster in bytes.
const MinKey = 32

// Cluster is the membership of this server in a cluster. Its methods may be called from any goroutine.
type Cluster struct {
	opts   Options
	logger *slog.Logger
	store  *eventlog.Store
	nc     *nats.Conn
	js     jetstream.JetStream
	ttl    time.Duration // of leases
	limit  time.Duration // of a call to NATS
	leases leases
	member member
	calls  calls

	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// Open makes this server a member of the cluster.
func Open(ctx context.Context, opts Options) (*Cluster, error) {
	switch {
	case opts.Store == nil || opts.Store.Conn() == nil:
		return nil, errors.New("cluster: the store is not one of a NATS cluster")
	case !validName(opts.Node):
		return nil, fmt.Errorf("cluster: the node %q is not a name of letters, digits and dashes", opts.Node)
	case len(opts.Key) < MinKey:
		return nil, fmt.Errorf("cluster: the secret key has %d bytes; it needs %d", len(opts.Key), MinKey)
	}
	o := opts.Store.Options()
	c := &Cluster{opts: opts, logger: opts.Logger, store: opts.Store, nc: opts.Store.Conn(), ttl: o.LeaseTTL, limit: o.Timeout}
	if c.logger == nil {
		c.logger = slog.New(slog.DiscardHandler)
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.leases.held = map[string]*Lease{}
	var err error
	if c.js, err = jetstream.New(c.nc, jetstream.WithDefaultTimeout(c.limit)); err == nil {
		c.calls.seal, err = c.sealer("calls")
	}
	if err == nil {
		err = c.join(ctx)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Close leaves the cluster: its leases are released, and the other servers no longer list it.
func (c *Cluster) Close() {
	c.stopListening()
	c.cancel()
	c.wg.Wait()
	c.leases.releaseAll()
	c.leave()
}

// Node returns the name of this server.
func (c *Cluster) Node() string { return c.opts.Node }

// LeaseTTL returns the time after which a dead server has lost all of its sessions.
func (c *Cluster) LeaseTTL() time.Duration { return c.ttl }

// nodeFile is the file in a data directory that contains the name of the server.
const nodeFile = "node"

// NodeID returns the name of the server that uses a data directory. The first call chooses a random name and stores it.
// An empty file counts as missing: a power cut can leave one.
// The caller must hold the lock of the directory.
func NodeID(dir string) (string, error) {
	path := filepath.Join(dir, nodeFile)
	data, err := regularfile.Read(path, 1<<10)
	if errors.Is(err, os.ErrNotExist) || err == nil && len(data) == 0 {
		data = []byte(random.Hex(6))
		err = os.WriteFile(path, data, 0o600)
	}
	id := strings.TrimSpace(string(data))
	if err == nil && !validName(id) {
		err = fmt.Errorf("%s has no valid name", path)
	}
	if err != nil {
		return "", fmt.Errorf("cluster: %w", err)
	}
	return id, nil
}

// validName reports whether a name is valid as a part of a NATS subject and as a key of a bucket.
func validName(name string) bool {
	return name != "" && len(name) <= 64 && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// bounded returns a context with the timeout of calls to NATS.
func (c *Cluster) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, c.limit)
}
