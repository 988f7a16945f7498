package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/seed7221b0f9/parley/eventlog"
)

// Lease is the ownership of a session by this server. It is renewed until it is released or lost.
type Lease struct {
	c       *Cluster
	session string
	lease   *eventlog.Lease
	lost    chan struct{}
	stop    context.CancelFunc
	kept    chan struct{} // closed when it is renewed no longer
	freed   chan struct{} // closed after the release
	once    sync.Once
}

// leases are the leases of this server.
type leases struct {
	mu   sync.Mutex
	held map[string]*Lease // by session
}

// HeldError is the failure of taking a session that another server owns.
type HeldError struct {
	Session string
	Node    string // the owner; empty if it has just ended
}

// Error describes the owner.
func (e *HeldError) Error() string {
	return fmt.Sprintf("cluster: session %s is owned by server %q", e.Session, e.Node)
}

// Own takes the lease of a session, which is fresh or expired, or was left by an earlier process of this server. While another server
// holds it the error is a [*HeldError]. A session that this process owns already has to be released first: Own waits for that until ctx
// ends.
func (c *Cluster) Own(ctx context.Context, session string) (*Lease, error) {
	l := &Lease{c: c, session: session, lost: make(chan struct{}), kept: make(chan struct{}), freed: make(chan struct{})}
	for {
		before := c.leases.add(l)
		if before == nil {
			break
		}
		select {
		case <-before.freed:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.ctx.Done():
			return nil, eventlog.ErrClosed
		}
	}
	var err error
	if l.lease, err = c.store.Reacquire(ctx, session, c.opts.Node); err != nil {
		c.leases.remove(l)
		close(l.freed)
		if held, ok := errors.AsType[*eventlog.LeaseHeldError](err); ok {
			return nil, &HeldError{session, held.Owner}
		}
		return nil, err
	}
	keep, stop := context.WithCancel(c.ctx)
	l.stop = stop
	c.wg.Go(func() {
		defer close(l.kept)
		if err := l.lease.Keep(keep); keep.Err() == nil {
			c.logger.Warn("a session is lost", "session", session, "err", err)
			close(l.lost)
		}
	})
	return l, nil
}

// Owner returns the server that owns a session, empty if none does.
func (c *Cluster) Owner(ctx context.Context, session string) (string, error) {
	return c.store.Owner(ctx, session)
}

// Owners returns the servers that own sessions, by session.
func (c *Cluster) Owners(ctx context.Context) (map[string]string, error) {
	return c.store.Leases(ctx)
}

// add stores a lease unless there is one of the session, which it returns.
func (t *leases) add(l *Lease) (before *Lease) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if before = t.held[l.session]; before == nil {
		t.held[l.session] = l
	}
	return before
}

func (t *leases) remove(l *Lease) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.held, l.session)
}

// releaseAll releases the leases that are left.
func (t *leases) releaseAll() {
	t.mu.Lock()
	var all []*Lease
	for _, l := range t.held {
		all = append(all, l)
	}
	t.mu.Unlock()
	for _, l := range all {
		l.Release()
	}
}

// Epoch returns the epoch of the ownership, higher than that of every earlier one.
func (l *Lease) Epoch() uint64 { return l.lease.Epoch() }

// Lost is closed once another server may own the session.
func (l *Lease) Lost() <-chan struct{} { return l.lost }

// Release ends the ownership: another server can take the session at once. It may be called again.
func (l *Lease) Release() {
	l.once.Do(func() {
		l.stop()
		<-l.kept
		ctx, cancel := l.c.bounded(context.Background())
		defer cancel()
		if err := l.lease.Release(ctx); err != nil {
			l.c.logger.Warn("a lease was not released; it expires", "session", l.session, "err", err)
		}
		l.c.leases.remove(l)
		close(l.freed)
	})
}
