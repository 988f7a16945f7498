package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/seed7221b0f9/parley/eventlog"
)

// Lease is this server's ownership of a session. The cluster renews it until it is released or lost.
type Lease struct {
	c       *Cluster
	session string
	lease   *eventlog.Lease
	lost    chan struct{}
	keep    context.Context // ends with the ownership
	stop    context.CancelFunc
	kept    chan struct{} // closed when the lease is no longer renewed, or was not acquired
	freed   chan struct{} // closed after the release
	once    sync.Once
}

// leases are the leases of this server.
type leases struct {
	mu     sync.Mutex
	held   map[string]*Lease // by session
	closed bool
}

// HeldError reports that another server owns the session.
type HeldError struct {
	Session string
	Node    string // the owner; empty if its ownership has just ended
}

// Error names the session and its owner.
func (e *HeldError) Error() string {
	return fmt.Sprintf("cluster: session %s is owned by server %q", e.Session, e.Node)
}

// Own acquires the lease of a session. It succeeds if the lease is free or expired, or if an earlier process of this
// server held it. If another server holds it, Own returns a [*HeldError]. If this process holds it, Own waits for its
// release until ctx ends.
func (c *Cluster) Own(ctx context.Context, session string) (*Lease, error) {
	return c.own(ctx, session, true)
}

// own implements Own. If wait is not set, a lease of this process counts like one of another
// server.
func (c *Cluster) own(ctx context.Context, session string, wait bool) (*Lease, error) {
	l := &Lease{c: c, session: session, lost: make(chan struct{}), kept: make(chan struct{}), freed: make(chan struct{})}
	l.keep, l.stop = context.WithCancel(c.ctx)
	for {
		before, err := c.leases.add(l)
		if err != nil {
			l.stop()
			return nil, err
		}
		if before == nil {
			break
		}
		if !wait {
			l.stop()
			return nil, &HeldError{session, c.opts.Node}
		}
		select {
		case <-before.freed:
		case <-ctx.Done():
			l.stop()
			return nil, ctx.Err()
		case <-c.ctx.Done():
			l.stop()
			return nil, eventlog.ErrClosed
		}
	}
	var err error
	if l.lease, err = c.store.Reacquire(ctx, session, c.opts.Node); err != nil {
		close(l.kept)
		l.Release()
		if held, ok := errors.AsType[*eventlog.LeaseHeldError](err); ok {
			return nil, &HeldError{session, held.Owner}
		}
		return nil, err
	}
	go func() { // Release waits for it
		defer close(l.kept)
		if err := l.lease.Keep(l.keep); l.keep.Err() == nil {
			c.logger.Warn("a session is lost", "session", session, "err", err)
			close(l.lost)
		}
	}()
	return l, nil
}

// Owner returns the server that owns a session, or "".
func (c *Cluster) Owner(ctx context.Context, session string) (string, error) {
	return c.store.Owner(ctx, session)
}

// Owners returns the owner of each session that has one, by session id.
func (c *Cluster) Owners(ctx context.Context) (map[string]string, error) {
	return c.store.Leases(ctx)
}

// add stores a lease. If the session already has one, it returns that lease instead.
func (t *leases) add(l *Lease) (before *Lease, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, eventlog.ErrClosed
	}
	if before = t.held[l.session]; before == nil {
		t.held[l.session] = l
	}
	return before, nil
}

func (t *leases) remove(l *Lease) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.held, l.session)
}

// releaseAll releases all remaining leases, and accepts no more.
func (t *leases) releaseAll() {
	t.mu.Lock()
	t.closed = true
	var all []*Lease
	for _, l := range t.held {
		all = append(all, l)
	}
	t.mu.Unlock()
	for _, l := range all {
		l.Release()
	}
}

// Epoch returns the epoch of the ownership. It is higher than every earlier epoch of the session.
func (l *Lease) Epoch() uint64 { return l.lease.Epoch() }

// Held reports whether this server certainly still owns the session. It compares the clock with the
// end of the lease: after a pause of the process, Held may return false before Lost is closed.
func (l *Lease) Held() bool { return l.lease.Held() }

// Lost is closed once another server may own the session.
func (l *Lease) Lost() <-chan struct{} { return l.lost }

// Release ends the ownership: another server can acquire the session immediately. Further calls have no effect.
func (l *Lease) Release() {
	l.once.Do(func() {
		l.stop()
		<-l.kept
		if l.lease != nil {
			ctx, cancel := l.c.bounded(context.Background())
			defer cancel()
			if err := l.lease.Release(ctx); err != nil {
				l.c.logger.Warn("a lease was not released; it expires", "session", l.session, "err", err)
			}
		}
		l.c.leases.remove(l)
		close(l.freed)
	})
}
