package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server/api"
)

// Owners decides which server of a cluster owns a session. A session is owned while it is in memory.
type Owners interface {
	// Node returns the name of this server.
	Node() string
	// Own makes this server the owner of a session. Each owner has a higher epoch than the owners before. While another
	// server owns the session, Own returns a failure with [api.NotOwner].
	Own(ctx context.Context, session string) (Ownership, error)
	// Owner returns the name of the server that owns a session, or "".
	Owner(ctx context.Context, session string) (string, error)
	// Yield asks the owner of a session to release it, because this server reaches the host with its agent.
	Yield(ctx context.Context, owner, session, host string) error
	// Show sends the list entry of a session that this server owns to the other servers; nil means that the session is
	// deleted. Show does not block.
	Show(session string, entry []byte)
}

// Ownership is the ownership of a session.
type Ownership interface {
	Epoch() uint64
	// Held reports whether no other server can own the session yet.
	Held() bool
	// Lost is closed once another server may own the session.
	Lost() <-chan struct{}
	// Release ends the ownership. Another server may own the session immediately.
	Release()
}

// ownedBy records the owner of a session in its log. The record fences every earlier owner, because their next writes
// expect another last event.
type ownedBy struct {
	Node  string `json:"node"`
	Epoch uint64 `json:"epoch"`
}

// errNotOwner returns the failure of calls for a session that another server owns.
func errNotOwner() error { return Fail(api.NotOwner, "another server owns the session") }

// isNotOwner reports whether a call failed because another server owns the session.
func isNotOwner(err error) bool { return err != nil && FailureOf(err).Reason == api.NotOwner }

// own makes this server the owner of a session. It returns nil without a cluster.
func (s *Sessions) own(ctx context.Context, id string) (Ownership, error) {
	if s.opts.Owners == nil {
		return nil, nil
	}
	if s.Giving() {
		return nil, errNotOwner()
	}
	return s.opts.Owners.Own(ctx, id)
}

// lostOwnership returns a channel that is closed when another server may own the session. It returns nil without a
// cluster and after the ownership is lost.
func (j *journal) lostOwnership() <-chan struct{} {
	if j.owner == nil || j.lostOwner.Load() {
		return nil
	}
	return j.owner.Lost()
}

// ownerEpoch returns the epoch of the ownership, 0 without a cluster.
func (j *journal) ownerEpoch() uint64 {
	if j.owner == nil {
		return 0
	}
	return j.owner.Epoch()
}

// disown releases the ownership. It must follow the last write.
func (j *journal) disown() {
	if j.owner != nil {
		j.owner.Release()
	}
}

// discard ends an actor that has no running loop.
func (a *actor) discard() {
	a.cancel()
	a.disown()
}

// claim adds this server as the owner to the next record, unless the log names it already. It drops the deltas in the
// files of this server, because the viewers saw those of the previous owner. It reports whether another server was the owner.
func (a *actor) claim() bool {
	if a.owner == nil || a.core.Owner.Node == a.srv.opts.Owners.Node() {
		return false
	}
	a.shown.found = nil
	a.core.Owner = ownedBy{a.srv.opts.Owners.Node(), a.owner.Epoch()}
	a.carrying().Owner = new(a.core.Owner)
	return true
}

// claimed writes the owner to the log, unless another record contains it.
func (a *actor) claimed() error {
	if a.owner == nil {
		return nil
	}
	if a.carry != nil && a.carry.Owner != nil {
		a.draft(draft{event: &event.SessionState{Header: a.core.header(""), State: string(a.core.State)}})
		_ = a.write() // the caller tries again
	}
	return a.blocked
}

// maxClaims limits the attempts to load a session while its previous owner, which has lost the lease, still writes.
const maxClaims = 5

// loadOwned calls load with the ownership of a session. It retries if an earlier owner writes meanwhile.
func (s *Sessions) loadOwned(ctx context.Context, id string, load func(Ownership) (*actor, error)) (*actor, error) {
	owner, err := s.own(ctx, id)
	if err != nil {
		return nil, err
	}
	for range maxClaims {
		var a *actor
		if a, err = load(owner); err == nil && a.lostOwner.Load() {
			err = errNotOwner()
		}
		if err == nil {
			return a, nil
		}
		if a != nil {
			a.letGo()
			a.cancel()
		}
		fenced := a != nil && a.lostOwner.Load() // a later write of the load has replaced the error of the one that conflicted
		if owner == nil || !fenced && !errors.Is(err, eventlog.ErrConflict) {
			break
		}
	}
	if owner != nil {
		owner.Release()
	}
	return nil, err
}

// surrender ends an actor that has lost its session. The next use of the session looks up the new owner.
func (a *actor) surrender() {
	a.lostOwner.Store(true)
	a.srv.dropLost(a)
	a.cancel()
}

// peek reads a session for the lists. It neither acquires the ownership nor writes.
func (s *Sessions) peek(ctx context.Context, id string) error {
	a, err := s.read(ctx, id, false)
	if err != nil {
		return fmt.Errorf("server: reading session %s: %w", id, err)
	}
	s.updated(id, a.core.AgentID, a.summary())
	s.setTenant(id, a.core.Opened.Tenant)
	a.cancel()
	return nil
}
