package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/cluster"
	"github.com/seed7221b0f9/parley/server/session"
)

// peers connects the sessions to the other servers of a cluster.
type peers struct {
	srv   *Server
	c     *cluster.Cluster
	lists *cluster.Bucket // the list entries of sessions

	telling sync.Mutex // held while entries are sent, so that an older one does not replace a newer one

	mu    sync.Mutex
	dirty map[string][]byte // list entries to send; nil removes one
	wake  chan struct{}
}

// listsBucket is the name of the bucket with the list entries, by session.
const listsBucket = "SESSIONS"

// owners returns the owners of sessions for the options of package session; nil for a single server.
func (s *Server) owners() session.Owners {
	if s.opts.Cluster == nil {
		return nil
	}
	s.peers = &peers{srv: s, c: s.opts.Cluster, dirty: map[string][]byte{}, wake: make(chan struct{}, 1)}
	return s.peers
}

// joinCluster starts to share sessions with the other servers.
func (s *Server) joinCluster(ctx context.Context) (err error) {
	p := s.peers
	if p == nil {
		return nil
	}
	if p.lists, err = p.c.Bucket(ctx, listsBucket, 0); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	learn := func(e cluster.Entry) { s.sessions.Learn(e.Key, e.Value) }
	if err := p.lists.Watch(ctx, learn); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	if err := p.c.Serve(p.answer); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	s.wg.Go(p.tell)
	s.wg.Go(p.adoptOrphans)
	return nil
}

// Node returns the name of this server.
func (p *peers) Node() string { return p.c.Node() }

// Own makes this server the owner of a session.
func (p *peers) Own(ctx context.Context, id string) (session.Ownership, error) {
	lease, err := p.c.Own(ctx, id)
	if held, ok := errors.AsType[*cluster.HeldError](err); ok {
		return nil, session.Fail(api.NotOwner, "server %q owns the session", held.Node)
	}
	if err != nil {
		return nil, err
	}
	return lease, nil
}

// Yield asks the owner of a session to release it, because this server reaches the host of its agent.
func (p *peers) Yield(ctx context.Context, owner, id, host string) error {
	request, err := json.Marshal(forwarded{Yield: &yield{id, host}})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, p.c.LeaseTTL())
	defer cancel()
	answer, err := p.c.Call(ctx, owner, request)
	if err != nil {
		return err
	}
	_, err = resultOf(answer)
	return err
}

// hostLeases implements the leases of hosts for package session.
type hostLeases struct{ *cluster.Hosts }

// HostLeases returns the leases of the hosts of a cluster, for [session.HostOptions]. machine is the name of this machine.
func HostLeases(ctx context.Context, c *cluster.Cluster, machine string) (session.HostLeases, error) {
	h, err := c.Hosts(ctx, machine)
	return hostLeases{h}, err
}

// Own makes this server the owner of the host in a data directory.
func (h hostLeases) Own(ctx context.Context, dir string, fresh bool) (session.Ownership, string, error) {
	lease, key, err := h.Hosts.Own(ctx, dir, fresh)
	if held, ok := errors.AsType[*cluster.HeldError](err); ok {
		return nil, key, session.Fail(api.NotOwner, "server %q owns the host", held.Node)
	}
	if err != nil {
		return nil, key, err
	}
	return lease, key, nil
}

// Owner returns the server that owns a session, or "".
func (p *peers) Owner(ctx context.Context, id string) (string, error) { return p.c.Owner(ctx, id) }

// Show queues the list entry of a session for the other servers.
func (p *peers) Show(id string, entry []byte) {
	p.mu.Lock()
	p.dirty[id] = entry
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// tellInterval is the minimum time between two updates of the lists of other servers.
const tellInterval = 200 * time.Millisecond

// tell sends the changed list entries.
func (p *peers) tell() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-p.wake:
		case <-p.srv.ctx.Done():
			return // Close sends the rest
		}
		p.tellNow()
		timer.Reset(tellInterval)
		select {
		case <-timer.C:
		case <-p.srv.ctx.Done():
		}
	}
}

func (p *peers) tellNow() {
	p.telling.Lock()
	defer p.telling.Unlock()
	p.mu.Lock()
	dirty := p.dirty
	p.dirty = map[string][]byte{}
	p.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), maxShare)
	defer cancel()
	for id, entry := range dirty {
		var err error
		if entry == nil {
			err = p.lists.Remove(ctx, id)
		} else {
			err = p.lists.Put(ctx, id, entry)
		}
		if err == nil {
			continue
		}
		p.srv.logger.Warn("other servers do not see a change of a session yet", "session", id, "err", err)
		p.mu.Lock()
		if _, newer := p.dirty[id]; !newer {
			p.dirty[id] = entry
		}
		p.mu.Unlock()
	}
}

// adoptOrphans takes over the sessions with unfinished work of dead servers.
func (p *peers) adoptOrphans() {
	var before map[string]string // the owners at the previous look
	ticker := time.NewTicker(p.c.LeaseTTL() / 4)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-p.srv.ctx.Done():
			return
		}
		now, err := p.c.Owners(p.srv.ctx)
		if err != nil || p.srv.sessions.Working() != nil {
			continue
		}
		for _, id := range p.srv.sessions.Orphans(p.srv.ctx, before, now) {
			taken, err := p.srv.sessions.Take(p.srv.ctx, id)
			if taken {
				p.srv.logger.Warn("the server of a session has ended; took the session over", "session", id)
			} else if err != nil && p.srv.ctx.Err() == nil {
				p.srv.logger.Warn("a session without a server was not taken over", "session", id, "err", err)
			}
		}
		before = now
	}
}
