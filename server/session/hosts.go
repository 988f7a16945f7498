package session

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/server/api"
)

// In a cluster a host has one owner, like a session. The server that owns a host owns the sessions
// whose agents run in it. When that server dies or loses its link, another server on the same
// machine becomes the owner and adopts the agents.

// HostLeases decides which server of a cluster owns a host.
type HostLeases interface {
	// Own makes this server the owner of the host in a data directory, and returns the key of the
	// host. Each owner has a higher epoch than earlier ones. If any server owns the host, including
	// this one, Own returns a failure with [api.NotOwner]; if fresh is set, also if the host
	// already exists.
	Own(ctx context.Context, dir string, fresh bool) (o Ownership, key string, err error)
	// Known reports whether the host exists; Machine returns the name of its machine.
	Known(key string) bool
	Machine(key string) string
	// On returns the keys of the hosts on a machine.
	On(machine string) []string
	// Here returns the data directories of the hosts on this machine, by key.
	Here() map[string]string
	// Forget removes a host that has ended and has no other owner.
	Forget(ctx context.Context, key string) error
}

// clusterEpoch is added to the epochs of leases, so that they exceed those of a single server, which counts in a
// file.
const clusterEpoch = 1 << 32

// maxSeats limits the hosts of one data directory. A server needs a new host after another server
// has taken its host.
const maxSeats = 16

// seatDir returns the data directory of the n-th host of a server.
func seatDir(base string, n int) string {
	if n == 0 {
		return base
	}
	return filepath.Join(base, "hosts", strconv.Itoa(n))
}

// seat makes this server the owner of a host, with a new epoch. A fresh host has no agents of earlier owners; takeOver takes over
// a host with agents. The caller holds mu.
func (h *Host) seat(ctx context.Context, fresh bool) error {
	h.unseat()
	for n := range maxSeats {
		dir := seatDir(h.base, n)
		owner, key, err := h.opts.Leases.Own(ctx, dir, fresh)
		if isNotOwner(err) && !h.fixed {
			continue
		}
		if err != nil {
			return err
		}
		h.dir, h.key, h.owner, h.epoch = dir, key, owner, clusterEpoch+owner.Epoch()
		gone := make(chan struct{})
		h.gone = gone
		go func() {
			select {
			case <-owner.Lost():
				h.lose(owner)
			case <-gone:
			}
		}()
		return nil
	}
	return Fail(api.LimitReached, "other servers have all %d hosts of %s", maxSeats, h.base)
}

// unseat releases the lease of the host. The caller holds mu.
func (h *Host) unseat() {
	if h.owner != nil {
		close(h.gone)
		h.owner.Release()
		h.owner = nil
	}
}

// lose closes the link after the lease was lost. The agents wait for the next owner.
func (h *Host) lose(owner Ownership) {
	h.mu.Lock()
	link := h.link
	if h.owner != owner {
		link = nil
	}
	h.mu.Unlock()
	if link != nil {
		h.logger.Warn("another server may own the host of the agents", "dir", h.dir)
		link.Close()
	}
}

// owns reports whether this server owns a host and has a link to it.
func (h *Host) owns(key string) bool {
	if h == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.owner != nil && h.key == key && h.link != nil && h.link.Err() == nil
}

// free releases the lease of a host that has lost its link, and reports whether it did.
func (h *Host) free() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.owner == nil || h.link == nil || h.link.Err() == nil {
		return false
	}
	h.unseat()
	return true
}

// hostTable holds the hosts that this server of a cluster owns, with the agents that were not
// adopted yet.
type hostTable struct {
	s    *Sessions
	wake chan struct{} // a link has ended

	mu  sync.Mutex
	all map[string]*takenHost // by key
}

// takenHost is a host with agents of earlier owners.
type takenHost struct {
	host *Host
	left map[string]*leftAgent // by session
}

func newHostTable(s *Sessions) *hostTable {
	return &hostTable{s: s, all: map[string]*takenHost{}, wake: make(chan struct{}, 1)}
}

// leases returns the leases of hosts, nil without a cluster or a host.
func (t *hostTable) leases() HostLeases {
	if t.s.opts.Host == nil {
		return nil
	}
	return t.s.opts.Host.opts.Leases
}

// machine returns the name of the machine of a host, or "".
func (t *hostTable) machine(key string) string {
	if leases := t.leases(); leases != nil {
		return leases.Machine(key)
	}
	return ""
}

// look wakes run to search for hosts without an owner.
func (t *hostTable) look() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// has reports whether this server reaches a host.
func (t *hostTable) has(key string) bool {
	t.mu.Lock()
	taken := t.all[key]
	t.mu.Unlock()
	return taken != nil && taken.host.owns(key) || t.s.opts.Host.owns(key)
}

// take returns the agent that an earlier owner of the session has left in a host, once, or nil.
// known is false if this server does not reach the host.
func (t *hostTable) take(key, session string) (l *leftAgent, known bool) {
	if !t.has(key) {
		return nil, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if taken := t.all[key]; taken != nil {
		l = taken.left[session]
		delete(taken.left, session)
	}
	return l, true
}

// add adds a host with the agents that earlier owners have left, and returns their sessions.
func (t *hostTable) add(h *Host, left map[string]*leftAgent) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all[h.key] = &takenHost{h, left}
	return slices.Collect(maps.Keys(left))
}

// cut closes the link to a host. Its agents continue.
func (t *hostTable) cut(key string) {
	t.mu.Lock()
	taken := t.all[key]
	t.mu.Unlock()
	for _, h := range []*Host{t.s.opts.Host, takenBy(taken)} {
		if !h.owns(key) {
			continue
		}
		if link := h.running(); link != nil {
			link.Close()
		}
	}
	t.look()
}

func takenBy(taken *takenHost) *Host {
	if taken == nil {
		return nil
	}
	return taken.host
}

// close closes the hosts that other servers have started. Their agents continue.
func (t *hostTable) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, taken := range t.all {
		if taken.host != t.s.opts.Host {
			_ = taken.host.Close() // the agents run without it
		}
	}
}

// run takes hosts on this machine that no server owns, until the sessions are closed.
func (t *hostTable) run(every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-t.wake:
		case <-t.s.ctx.Done():
			return
		}
		if t.s.Working() != nil {
			continue
		}
		t.release()
		for key, dir := range t.leases().Here() {
			if !t.has(key) && !t.s.Giving() {
				t.takeOver(t.s.ctx, dir)
			}
		}
	}
}

// release gives up hosts without a link, and hosts of other servers without remaining agents.
func (t *hostTable) release() {
	t.s.opts.Host.free()
	t.mu.Lock()
	all := maps.Clone(t.all)
	t.mu.Unlock()
	for key, taken := range all {
		if taken.host == t.s.opts.Host {
			continue
		}
		if !taken.host.free() && (!taken.host.owns(key) || !t.finished(taken)) {
			continue
		}
		t.mu.Lock()
		delete(t.all, key)
		t.mu.Unlock()
	}
}

// finished releases a host of another server that has no agents, and reports whether it did. The
// host ends by itself.
func (t *hostTable) finished(taken *takenHost) bool {
	ctx, cancel := context.WithTimeout(t.s.ctx, t.s.opts.CallTimeout)
	defer cancel()
	agents, err := taken.host.running().Agents(ctx)
	if err != nil || slices.ContainsFunc(agents, func(a host.Agent) bool { return a.Key != helperKey }) {
		return false
	}
	if err := taken.host.opts.Leases.Forget(ctx, taken.host.key); err != nil {
		return false
	}
	_ = taken.host.Close() // it has no agents
	return true
}

// takeOver makes this server the owner of a host without an owner, and adopts its agents.
func (t *hostTable) takeOver(ctx context.Context, dir string) {
	opts := t.s.opts.Host.opts
	h, err := openHost(ctx, dir, opts, t.s.logger, true)
	if isNotOwner(err) {
		return
	}
	if err != nil {
		t.s.logger.Warn("a host without a server was not taken over", "dir", dir, "err", err)
		return
	}
	left, err := h.left(ctx)
	if err != nil {
		t.s.logger.Warn("the agents of a host were not taken over", "dir", dir, "err", err)
		_ = h.Close() // the next look tries again
		return
	}
	if h.running() == nil { // the host has ended and left no agents
		err := opts.Leases.Forget(ctx, h.key)
		t.s.logger.Info("a host has ended", "dir", dir, "err", err)
		_ = h.Close() // there is no link
		t.s.wg.Go(func() { t.adopt(ctx, h.key, nil) })
		return
	}
	t.s.logger.Warn("took over a host without a server", "dir", dir, "agents", len(left))
	ids := t.add(h, left)
	t.s.wg.Go(func() { t.adopt(ctx, h.key, ids) })
}

// adopt adopts the agents of a host, including those of sessions that wait for the host.
func (t *hostTable) adopt(ctx context.Context, key string, ids []string) {
	for _, a := range t.s.loaded() {
		err := a.call(ctx, func() error {
			if a.hostKey() == key && !slices.Contains(ids, a.id) {
				ids = append(ids, a.id)
			}
			return nil
		})
		if err != nil {
			continue // it has ended
		}
	}
	var mu sync.Mutex
	unknown := map[string]bool{} // sessions that do not exist, or that have no agent in the host
	forEach(adopters, ids, func(id string) {
		err := t.s.claimBack(ctx, id, key)
		if err == nil || FailureOf(err).Reason == api.SessionExpired {
			mu.Lock()
			defer mu.Unlock()
			unknown[id] = true
		}
		if err != nil && ctx.Err() == nil {
			t.s.logger.Warn("the agent of a session was not adopted", "session", id, "err", err)
		}
	})
	t.drop(ctx, key, unknown)
}

// drop ends agents that no session has adopted: those of the given sessions, and those of sessions
// that do not exist.
func (t *hostTable) drop(ctx context.Context, key string, of map[string]bool) {
	t.mu.Lock()
	taken := t.all[key]
	t.mu.Unlock()
	if taken == nil {
		return
	}
	for id := range taken.unadopted(t) {
		if t.s.Exists(id) && !of[id] {
			continue // another server has the session; it is asked again with the next link
		}
		if l, ok := t.take(key, id); ok && l != nil {
			taken.host.discard(ctx, l)
		}
	}
}

// unadopted returns the agents that were not adopted.
func (k *takenHost) unadopted(t *hostTable) map[string]*leftAgent {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(k.left)
}

const (
	// hostPoll is the interval at which a server looks for hosts without an owner.
	hostPoll = time.Second
	// claimPause is the time between attempts to own a session of a dead server.
	claimPause = 100 * time.Millisecond
	// maxClaimTime limits the wait for its lease to expire.
	maxClaimTime = 2 * time.Minute
)

// claimBack loads a session with an agent that this server reaches, and adopts the agent. It asks the owner of the session to release
// it; an owner that does not answer loses its lease. The failure is [api.SessionExpired] if the session does not exist or has no agent
// in the host.
func (s *Sessions) claimBack(ctx context.Context, id, key string) error {
	ctx, cancel := context.WithTimeout(ctx, maxClaimTime)
	defer cancel()
	for {
		if err := s.exists(ctx, id); err != nil {
			return err
		}
		err := s.with(ctx, id, func(a *actor) error {
			a.back(ctx)
			return nil
		})
		if !isNotOwner(err) {
			return err
		}
		owner, ownerErr := s.opts.Owners.Owner(ctx, id)
		if ownerErr == nil && owner != "" && owner != s.opts.Owners.Node() {
			err := s.opts.Owners.Yield(ctx, owner, id, key)
			if err != nil && FailureOf(err).Reason == api.SessionExpired {
				return err
			}
			if err != nil {
				s.logger.Debug("the owner of a session does not release it yet", "session", id, "owner", owner, "err", err)
			}
		}
		select {
		case <-time.After(claimPause):
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		}
	}
}

// exists adds a session to the table that its owner has not reported.
func (s *Sessions) exists(ctx context.Context, id string) error {
	if s.Exists(id) {
		return nil
	}
	s.find(id)
	err := s.peek(ctx, id)
	if err != nil {
		s.remove(id)
	}
	return err
}

// Yield releases a session so that the server that reaches its agent can own it. It fails if this
// server reaches the agent too. Without a session it closes the link to a machine that has since
// joined another server.
func (s *Sessions) Yield(ctx context.Context, id, key string) error {
	if name, ok := machineOf(key); ok && id == "" {
		s.opts.Machines.cut(name)
		return nil
	}
	s.mu.Lock()
	e := s.entries[id]
	var a *actor
	if e != nil {
		a = e.actor
	}
	s.mu.Unlock()
	if a == nil {
		return nil // it has no owner here, or is being loaded: the caller retries
	}
	return a.call(ctx, func() error {
		switch {
		case a.hostKey() != key:
			return Fail(api.SessionExpired, "the session has no agent in that host")
		case s.reaches(key) && !a.lostLink():
			return Conflict("this server reaches the agent of the session")
		}
		a.logger.Info("the session goes to the server that reaches its agent")
		a.yield()
		return nil
	})
}

// ForgetMachine removes the hosts of a lost machine that no server owns, and returns their number. The sessions with
// agents there continue on other machines. It fails if servers own all hosts of the machine.
func (s *Sessions) ForgetMachine(ctx context.Context, name string) (forgotten int, err error) {
	leases := s.hosts.leases()
	if leases == nil {
		return 0, Fail(api.Unsupported, "this server is not part of a cluster with hosts")
	}
	keys := leases.On(name)
	if len(keys) == 0 {
		return 0, Invalid("no host of the cluster is on a machine %q", name)
	}
	owner := ""
	for _, key := range keys {
		node, err := s.opts.Owners.Owner(ctx, key)
		if err == nil && node == "" {
			forgotten++
			if err = leases.Forget(ctx, key); err == nil {
				s.hosts.adopt(ctx, key, nil) // other servers notice it with the next tick
			}
		}
		if err != nil {
			return 0, err
		}
		owner = node
	}
	if forgotten == 0 {
		return 0, Conflict("server %q reaches the agents on machine %q", owner, name)
	}
	return forgotten, nil
}

// watchGone calls back for a session that waits for a host that was removed.
func (a *actor) watchGone() {
	leases := a.srv.hosts.leases()
	if !a.away || a.machine() != "" || leases == nil || leases.Known(a.core.HostIn) {
		return
	}
	ctx, cancel := a.bounded()
	defer cancel()
	a.back(ctx)
}

// cut closes the link to a host or a machine.
func (s *Sessions) cut(key string) {
	if name, ok := machineOf(key); ok {
		s.opts.Machines.cut(name)
		return
	}
	s.hosts.cut(key)
}

// reaches reports whether this server has a link to a host or a machine.
func (s *Sessions) reaches(key string) bool {
	if name, ok := machineOf(key); ok {
		m := s.opts.Machines.get(name)
		if m == nil {
			return false
		}
		_, err := m.reach()
		return err == nil
	}
	return s.hosts.has(key)
}

// elsewhere returns a failure if another server reaches the agent of a session.
func (s *Sessions) elsewhere(ctx context.Context, a *actor) error {
	key := a.hostKey()
	if s.opts.Owners == nil || key == "" || a.core.Host == 0 || s.reaches(key) {
		return nil
	}
	node, err := s.opts.Owners.Owner(ctx, key)
	if err != nil {
		return err
	}
	if node != "" && node != s.opts.Owners.Node() {
		return &ElsewhereFailure{FailureOf(errNotOwner()), node}
	}
	if t := s.hosts; t.leases() != nil && t.leases().Here()[key] != "" { // this server or another one on this machine takes the host
		t.look()
		return errNotOwner()
	}
	return nil
}

// ElsewhereFailure is a failure with [api.NotOwner] that names the server which can own the session.
type ElsewhereFailure struct {
	*Failure
	Node string
}

// Unwrap returns the failure.
func (e *ElsewhereFailure) Unwrap() error { return e.Failure }
