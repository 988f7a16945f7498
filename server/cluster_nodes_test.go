package server

import (
	"testing"

	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// nodes returns the servers of a cluster by their names.
func (h *harness) nodes() map[string]api.Node {
	h.Helper()
	var r api.NodesListResult
	h.call("nodes.list", api.Empty{}, &r)
	all := map[string]api.Node{}
	for _, n := range r.Nodes {
		all[n.Name] = n
	}
	return all
}

// TestCluster_nodes lists the servers and drains the one with the sessions: idle sessions move at
// once; a turn without a host ends first; new sessions and calls go to the other server; and
// viewers stay connected.
func TestCluster_nodes(t *testing.T) {
	h := newCluster(t, 2, eventlog.DefaultLeaseTTL)
	one, two := h.all[0], h.all[1]
	name, other := one.server.peers.Node(), two.server.peers.Node()
	idle, busy := one.connect(), one.connect()
	one.query(idle, "say first")
	w := one.watch(idle)
	w.results(1)
	one.query(busy, "wait")
	b := one.watch(busy)
	b.awaitAnswer("I wait.")
	all := two.nodes()
	if n := all[name]; len(all) != 2 || n.Sessions != 2 || n.State != api.NodeUp || n.Serving || n.Seen == "" || n.Started == "" || !all[other].Serving || all[other].Sessions != 0 {
		t.Errorf("the servers are %+v, want both, and two sessions of the first", all)
	}
	if err := two.client(two.token).Call(two.ctx(), "nodes.drain", api.NodesDrainParams{Name: "none"}, nil); client.Reason(err) != api.InvalidParams {
		t.Errorf("draining a server that does not exist: %v", err)
	}
	two.call("nodes.drain", api.NodesDrainParams{Name: name}, nil)
	two.call("nodes.drain", api.NodesDrainParams{Name: name}, nil) // has no further effect
	h.eventually("the idle session is released", func() bool {
		n := two.nodes()[name]
		return n.State == api.NodeDraining && n.Sessions == 1
	})
	made := one.connect()
	if !two.server.sessions.Owns(made) {
		t.Error("a new session is not on the other server")
	}
	one.query(idle, "say second")
	w.awaitAnswer("second")
	w.results(2)
	if !two.server.sessions.Owns(idle) || !one.server.sessions.Owns(busy) {
		t.Errorf("the other server owns the idle session: %v; the first one that with a turn: %v", two.server.sessions.Owns(idle), one.server.sessions.Owns(busy))
	}
	if s, ok := one.listed(idle); !ok || s.State == string(session.LostHost) {
		t.Errorf("the first server lists %+v", s)
	}
	one.call("session.interrupt", api.SessionRef{SessionID: busy}, nil)
	b.results(1)
	h.eventually("the server is empty", func() bool { return two.nodes()[name].State == api.NodeDrained })
	one.query(busy, "say more")
	b.awaitAnswer("more")
	if err := one.client(one.token).Call(one.ctx(), "nodes.drain", api.NodesDrainParams{Name: other}, nil); client.Reason(err) != api.Conflict {
		t.Errorf("draining the last server: %v, want a conflict", err)
	}
	for _, id := range []string{idle, busy} {
		checkOwners(t, two.store, id)
	}
}

// TestNodes_withoutCluster calls a server without a cluster.
func TestNodes_withoutCluster(t *testing.T) {
	h := newHarness(t)
	for method, params := range map[string]any{"nodes.list": api.Empty{}, "nodes.drain": api.NodesDrainParams{Name: "a"}, "nodes.forget": api.NodesForgetParams{Machine: "a"}} {
		if err := h.client(h.token).Call(h.ctx(), method, params, nil); client.Reason(err) != api.Unsupported {
			t.Errorf("%s: %v, want it unsupported", method, err)
		}
	}
}

// TestCluster_forget declares the machine of a server gone. While the server runs, for an unknown machine, and for a caller who is not an administrator the
// hosts stay.
func TestCluster_forget(t *testing.T) {
	h := newCluster(t, 0, eventlog.DefaultLeaseTTL)
	h.machine = func(n int) string { return []string{"first", "second"}[n] }
	one, two := h.add(h.urls), h.add(h.urls)
	h.eventually("the second server knows the host of the first", func() bool { return two.nodes()[one.server.peers.Node()].Hosts == 1 })
	forget := func(token, machine string, want api.Reason) {
		t.Helper()
		err := two.client(token).Call(two.ctx(), "nodes.forget", api.NodesForgetParams{Machine: machine}, nil)
		if err == nil || client.Reason(err) != want {
			t.Errorf("forgetting the machine %q: %v, want %s", machine, err, want)
		}
	}
	forget(two.token, "first", api.Conflict)
	forget(two.token, "second", api.Conflict)
	forget(two.token, "third", api.InvalidParams)
	forget(two.token, "", api.InvalidParams)
	if err := one.stop(); err != nil {
		t.Fatal(err)
	}
	for _, role := range []string{"viewer", "operator"} {
		var made api.TokensCreateResult
		two.call("tokens.create", api.TokensCreateParams{Name: role, Role: role}, &made)
		forget(made.Token, "first", api.AuthFailed)
	}
	var r api.NodesForgetResult
	two.call("nodes.forget", api.NodesForgetParams{Machine: "first"}, &r)
	if r.Hosts != 1 {
		t.Errorf("%d hosts were removed, want 1", r.Hosts)
	}
	forget(two.token, "first", api.InvalidParams)
}
