//go:build unix

package session

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/server/api"
)

// hostList is the hosts of a cluster in memory. Every server may own every host.
type hostList struct {
	mu    sync.Mutex
	all   map[string]string // machines by keys of hosts
	epoch uint64
	fail  error // of Forget
}

// epochLease is a lease with an epoch.
type epochLease struct {
	oneNode
	epoch uint64
}

func (l epochLease) Epoch() uint64 { return l.epoch }

func (h *hostList) Own(_ context.Context, dir string, _ bool) (Ownership, string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.epoch++
	h.all["h-"+dir] = "here"
	return epochLease{epoch: h.epoch}, "h-" + dir, nil
}

func (h *hostList) Known(key string) bool { return h.Machine(key) != "" }

func (h *hostList) Machine(key string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.all[key]
}

func (h *hostList) On(machine string) (keys []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(h.all)) {
		if h.all[key] == machine {
			keys = append(keys, key)
		}
	}
	return keys
}

func (h *hostList) Here() map[string]string { return nil }

func (h *hostList) Forget(_ context.Context, key string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.fail == nil {
		delete(h.all, key)
	}
	return h.fail
}

// ownerTable has the owners of sessions and hosts. This server can own every session without another owner.
type ownerTable struct {
	oneNode
	mu     sync.Mutex
	of     map[string]string
	fail   error            // of Owner
	yields map[string]error // what owners answer, by session
	asked  []string         // the sessions that were asked for
}

func (o *ownerTable) Own(_ context.Context, id string) (Ownership, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.of[id] != "" {
		return nil, errNotOwner()
	}
	return oneNode{}, nil
}

func (o *ownerTable) Owner(_ context.Context, id string) (string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.of[id], o.fail
}

func (o *ownerTable) Yield(_ context.Context, _, id, _ string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked = append(o.asked, id)
	if err, ok := o.yields[id]; ok {
		return err
	}
	delete(o.of, id)
	return nil
}

// unusedHost returns the host of a server in a cluster that has started no agent.
func unusedHost(t *testing.T, list *hostList) *Host {
	return &Host{dir: t.TempDir(), opts: HostOptions{Leases: list}, logger: slog.New(slog.DiscardHandler), changed: make(chan struct{})}
}

// TestForgetMachine removes the hosts of a lost machine, except those that a server owns. Sessions that wait for a removed host go on without its
// agent.
func TestForgetMachine(t *testing.T) {
	down := errors.New("the cluster does not answer")
	for _, tt := range []struct {
		name, machine string
		owned         map[string]string
		ownerFails    error
		forgetFails   error
		forgotten     int
		reason        api.Reason // of the failure
		err           error
		left          []string // the hosts afterwards
	}{
		{name: "a machine without servers", machine: "lost", forgotten: 2, left: []string{"h-3"}},
		{name: "an unknown machine", machine: "none", reason: api.InvalidParams, left: []string{"h-1", "h-2", "h-3"}},
		{name: "a machine with a server that runs", machine: "lost", owned: map[string]string{"h-1": "a", "h-2": "a"}, reason: api.Conflict, left: []string{"h-1", "h-2", "h-3"}},
		{name: "a host of a dead server", machine: "lost", owned: map[string]string{"h-2": "a"}, forgotten: 1, left: []string{"h-2", "h-3"}},
		{name: "no owners", machine: "lost", ownerFails: down, err: down, left: []string{"h-1", "h-2", "h-3"}},
		{name: "no list", machine: "lost", forgetFails: down, err: down, left: []string{"h-1", "h-2", "h-3"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list := &hostList{all: map[string]string{"h-1": "lost", "h-2": "lost", "h-3": "other"}, fail: tt.forgetFails}
			owners := &ownerTable{of: map[string]string{}, fail: tt.ownerFails}
			maps.Copy(owners.of, tt.owned)
			s, _ := memSessions(t, func(o *Options) { o.Owners, o.Host = owners, unusedHost(t, list) })
			n, err := s.ForgetMachine(t.Context(), tt.machine)
			if n != tt.forgotten || (err != nil) != (tt.reason != "" || tt.err != nil) || tt.reason != "" && FailureOf(err).Reason != tt.reason || tt.err != nil && !errors.Is(err, tt.err) {
				t.Errorf("%d hosts were removed, %v; want %d, %s %v", n, err, tt.forgotten, tt.reason, tt.err)
			}
			if left := slices.Sorted(maps.Keys(list.all)); !slices.Equal(left, tt.left) {
				t.Errorf("the hosts are %v, want %v", left, tt.left)
			}
		})
	}
	s, _ := memSessions(t)
	if _, err := s.ForgetMachine(t.Context(), "lost"); FailureOf(err).Reason != api.Unsupported {
		t.Errorf("without a cluster: %v", err)
	}
}

// TestForgetMachine_sessions ends the time without a link of the sessions of a lost machine: at once on the server that was asked, with the next tick on
// others.
func TestForgetMachine_sessions(t *testing.T) {
	for _, here := range []bool{true, false} {
		c := newHostOnly(t)
		c.leases, c.owners = &hostList{all: map[string]string{}}, &ownerTable{of: map[string]string{}}
		c.serve(nil)
		c.begin()
		c.leave()
		// The session is loaded by a server without a link to that host.
		list := &hostList{all: map[string]string{"h-" + c.dir: "lost"}}
		s, _ := memSessions(t, func(o *Options) {
			o.Store, o.Owners, o.Host = c.store, &ownerTable{of: map[string]string{}}, unusedHost(t, list)
			o.Provider = func(context.Context, string, string) (agent.Provider, []string, error) { return c.puppets, nil, nil }
		})
		away := func() (away bool) {
			if err := s.with(t.Context(), c.id, func(a *actor) error { away = a.away; return nil }); err != nil {
				t.Fatal(err)
			}
			return away
		}
		if !away() {
			t.Fatal("the session does not wait for its agent")
		}
		if here {
			if n, err := s.ForgetMachine(t.Context(), "lost"); n != 1 || err != nil {
				t.Fatalf("%d hosts were removed, %v", n, err)
			}
		} else {
			if err := list.Forget(t.Context(), "h-"+c.dir); err != nil {
				t.Fatal(err)
			}
			if err := s.with(t.Context(), c.id, func(a *actor) error { a.watchGone(); return nil }); err != nil {
				t.Fatal(err)
			}
		}
		if i, err := s.Lookup(t.Context(), c.id); away() || err != nil || i.State != string(Interrupted) {
			t.Errorf("forgotten here %v: the session waits: %v; it is %+v, %v", here, away(), i, err)
		}
	}
}

// TestHost_strangers ends the agents of a host that belong to no session there: the session does not exist, has another agent, or is one of another server
// without an agent in the host. It spares the agent of a session that another server keeps.
func TestHost_strangers(t *testing.T) {
	const none, elsewhere, moved, kept = Prefix + "none", Prefix + "elsewhere", Prefix + "moved", Prefix + "kept"
	c := newHostOnly(t)
	owners := &ownerTable{of: map[string]string{}, yields: map[string]error{}}
	c.leases, c.owners = &hostList{all: map[string]string{}}, owners
	c.serve(nil)
	c.begin()
	for _, id := range []string{elsewhere, moved, kept} {
		if err := c.server.Create(t.Context(), id, Opened{Params: api.ConnectParams{CWD: "/d"}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{none, elsewhere, moved, kept} {
		if _, err := c.host.running().SpawnAgent(t.Context(), catCommand, host.AgentOptions{Key: key, KeepChildren: true}); err != nil {
			t.Fatal(err)
		}
	}
	c.leave()
	owners.of[moved], owners.of[kept] = "other", "other"
	owners.yields[moved] = Fail(api.SessionExpired, "the session has no agent in that host")
	owners.yields[kept] = Conflict("this server reaches the agent of the session")
	c.serve(nil)
	c.await("the owner of a session with an agent is asked again", func() bool {
		owners.mu.Lock()
		defer owners.mu.Unlock()
		return len(slices.DeleteFunc(slices.Clone(owners.asked), func(id string) bool { return id != kept })) > 1
	})
	c.server.hosts.drop(t.Context(), c.host.key, nil)
	for _, id := range []string{kept, none} {
		if there := slices.ContainsFunc(c.left(), func(a host.Agent) bool { return a.Key == id }); there != (id == kept) {
			t.Errorf("while another server has a session, the agent of %s runs: %v", id, there)
		}
	}
	owners.mu.Lock()
	delete(owners.yields, kept) // it releases the session, which has no agent in the host either
	owners.mu.Unlock()
	c.await("the agents without a session end", func() bool {
		all := c.left()
		return len(all) == 1 && all[0].Key == c.id
	})
	c.is(Running)
	owners.mu.Lock()
	defer owners.mu.Unlock()
	if n := len(slices.DeleteFunc(owners.asked, func(id string) bool { return id != moved })); n != 1 {
		t.Errorf("the owner of a session without an agent there was asked %d times", n)
	}
}

// TestHost_lose checks that the link to a host closes when this server loses the present lease of the host, and not with an earlier lease;
// and that cutting a host closes its link alone.
func TestHost_lose(t *testing.T) {
	for name, tt := range map[string]struct {
		end   func(c *hostStage)
		stays bool
	}{
		"the lease":         {end: func(c *hostStage) { c.host.lose(c.host.owner) }},
		"an earlier lease":  {end: func(c *hostStage) { c.host.lose(epochLease{epoch: 99}) }, stays: true},
		"cut":               {end: func(c *hostStage) { c.server.hosts.cut(c.host.key) }},
		"another host, cut": {end: func(c *hostStage) { c.server.hosts.cut("h-other") }, stays: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := newHostOnly(t)
			c.leases, c.owners = &hostList{all: map[string]string{}}, &ownerTable{of: map[string]string{}}
			c.serve(nil)
			if !c.host.owns(c.host.key) {
				t.Fatal("the server does not own its host, so that the test proves nothing")
			}
			link := c.host.running()
			tt.end(c)
			if stays := link.Err() == nil; stays != tt.stays {
				t.Errorf("the link is open: %v, want %v", stays, tt.stays)
			}
		})
	}
}

// TestStart_abandonedHost checks that the host forgets an agent that starts after the end of its session.
func TestStart_abandonedHost(t *testing.T) {
	c := newHostStage(t)
	greet := c.puppets.calls.block("Greet")
	if err := c.server.Create(t.Context(), c.id, Opened{Params: api.ConnectParams{CWD: "/d"}}); err != nil {
		t.Fatal(err)
	}
	connected := make(chan error, 1)
	go func() {
		_, err := c.server.Connected(context.Background(), c.id)
		connected <- err
	}()
	c.await("the agent runs", func() bool { return c.puppets.calls.got("Greet") })
	c.with(func(a *actor) error { a.occur(onEnd); return a.write() })
	greet()
	if err := <-connected; FailureOf(err).Reason != api.NotConnected {
		t.Errorf("connecting to a session that has ended: %v, want not_connected", err)
	}
	if all := c.left(); len(all) != 0 {
		t.Errorf("the host has the agents %+v, want none", all)
	}
}

// TestRelink_closed checks that a host that was closed meanwhile gets no new link: another server may own it by then.
func TestRelink_closed(t *testing.T) {
	c := newHostStage(t)
	before := c.host.running()
	c.host.mu.Lock()
	c.host.closed = true
	c.host.mu.Unlock()
	if n, err := c.host.relink(t.Context()); !errors.Is(err, host.ErrLinkLost) || n != 0 {
		t.Errorf("connecting again returns %d, %v, want %v", n, err, host.ErrLinkLost)
	}
	if c.host.link != before {
		t.Error("the host has another link, want the former one")
	}
	c.await("the new link is closed", func() bool {
		guest, err := host.Dial(t.Context(), c.dir, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer guest.Close()
		return !guest.Host().Owned
	})
	c.host.mu.Lock()
	c.host.closed = false
	c.host.mu.Unlock()
}

// TestTakeRest checks that the agents that no session has taken are returned once, and only for the newest link.
func TestTakeRest(t *testing.T) {
	h := &Host{relinks: 2, back: map[string]*leftAgent{"s-1": {}, "s-2": {}}}
	if rest := h.takeRest(1); rest != nil || len(h.back) != 2 {
		t.Errorf("for an earlier link: %d agents, %d left, want none and 2: the next link has them", len(rest), len(h.back))
	}
	if rest := h.takeRest(2); len(rest) != 2 || h.back != nil {
		t.Errorf("for the newest link: %d agents, %d left, want 2 and none", len(rest), len(h.back))
	}
	if rest := h.takeRest(2); len(rest) != 0 {
		t.Errorf("again: %d agents, want none", len(rest))
	}
}
