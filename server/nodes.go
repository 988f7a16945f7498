package server

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/cluster"
	"github.com/seed7221b0f9/parley/server/session"
)

// errAlone returns the failure of calls about other servers on a server without a cluster.
func errAlone() error {
	return session.Fail(api.Unsupported, "this server is not part of a cluster; see parley serve --nats")
}

// nodesList lists the servers of the cluster.
func nodesList(s *Server, ctx context.Context, c *caller, _ api.Empty) (api.NodesListResult, error) {
	result := api.NodesListResult{Nodes: []api.Node{}}
	if s.peers == nil {
		return result, errAlone()
	}
	nodes, err := s.peers.c.Nodes(ctx)
	if err != nil {
		return result, err
	}
	owners, err := s.peers.c.Owners(ctx)
	if err != nil {
		return result, err
	}
	for _, n := range nodes {
		node := api.Node{Name: n.ID, Machine: n.Name, Address: n.Address, Version: n.Version, State: api.NodeUp, Started: session.Timestamp(n.Started), Seen: session.Timestamp(n.Seen), Serving: n.ID == s.peers.Node()}
		for key, owner := range owners {
			switch {
			case owner != n.ID:
			case strings.HasPrefix(key, session.Prefix):
				node.Sessions++
			case strings.HasPrefix(key, "h-") || strings.HasPrefix(key, "m-"):
				node.Hosts++
			}
		}
		switch {
		case n.Draining && node.Sessions == 0 && node.Hosts == 0:
			node.State = api.NodeDrained
		case n.Draining:
			node.State = api.NodeDraining
		}
		result.Nodes = append(result.Nodes, node)
	}
	return result, nil
}

// nodesDrain makes a server give its sessions to the others.
func nodesDrain(s *Server, ctx context.Context, _ *caller, p api.NodesDrainParams) (api.StatusResult, error) {
	if s.peers == nil {
		return api.StatusResult{}, errAlone()
	}
	nodes, err := s.peers.c.Nodes(ctx)
	if err != nil {
		return api.StatusResult{}, err
	}
	if !slices.ContainsFunc(nodes, func(n cluster.Node) bool { return n.ID == p.Name }) {
		return api.StatusResult{}, session.Invalid("no server %q of the cluster runs", p.Name)
	}
	if p.Name == s.peers.Node() {
		return api.StatusResult{Status: api.NodeDraining}, s.giveAway(ctx)
	}
	request, err := json.Marshal(forwarded{Drain: true})
	if err != nil {
		return api.StatusResult{}, err
	}
	answer, err := s.peers.c.Call(ctx, p.Name, request)
	if errors.Is(err, cluster.ErrUnreachable) || errors.Is(err, cluster.ErrNoNode) {
		return api.StatusResult{}, session.Fail(api.NotConnected, "server %q does not answer", p.Name)
	}
	if err == nil {
		_, err = resultOf(answer)
	}
	return api.StatusResult{Status: api.NodeDraining}, err
}

// nodesForget removes the hosts of a lost machine.
func nodesForget(s *Server, ctx context.Context, _ *caller, p api.NodesForgetParams) (api.NodesForgetResult, error) {
	if s.peers == nil {
		return api.NodesForgetResult{}, errAlone()
	}
	if p.Machine == "" {
		return api.NodesForgetResult{}, session.Invalid("the machine has no name")
	}
	n, err := s.sessions.ForgetMachine(ctx, p.Machine)
	return api.NodesForgetResult{Hosts: int64(n)}, err
}

// handOverEvery is the interval at which a server that is drained looks for sessions that it can release.
const handOverEvery = 250 * time.Millisecond

// giveAway gives this server's sessions and hosts to the other servers, in the background.
// Afterwards this server gets no new ones.
func (s *Server) giveAway(ctx context.Context) error {
	others, _, err := s.others(ctx)
	if err != nil {
		return err
	}
	if len(others) == 0 {
		return session.Conflict("no other server of the cluster can take the sessions")
	}
	if !s.sessions.GiveAway() {
		return nil
	}
	if err := s.peers.c.Describe(ctx, func(n *cluster.Node) { n.Draining = true }); err != nil {
		s.logger.Warn("the other servers are notified later that this server is drained", "err", err) // sent again with the next renewal
	}
	s.wg.Go(s.handOver)
	return nil
}

// handOver releases sessions until the server is closed, because a session that was being loaded can appear later
// than the others.
func (s *Server) handOver() {
	ticker := time.NewTicker(handOverEvery)
	defer ticker.Stop()
	before := -1
	for {
		others, here, err := s.others(s.ctx)
		if err == nil {
			left := s.sessions.HandOver(s.ctx, here, len(others) > 0)
			if left != before {
				s.logger.Info("the server hands its sessions over", "left", left)
			}
			before = left
		}
		select {
		case <-ticker.C:
		case <-s.ctx.Done():
			return
		}
	}
}

// others returns the other servers that accept sessions. here reports whether one of them is on this machine.
func (s *Server) others(ctx context.Context) (others []cluster.Node, here bool, err error) {
	nodes, err := s.peers.c.Nodes(ctx)
	machine := ""
	for _, n := range nodes {
		if n.ID == s.peers.Node() {
			machine = n.Name
		} else if !n.Draining {
			others = append(others, n)
		}
	}
	here = slices.ContainsFunc(others, func(n cluster.Node) bool { return n.Name == machine })
	return others, here, err
}

// forwardAnywhere runs a call on another server that accepts sessions.
func (s *Server) forwardAnywhere(ctx context.Context, c *caller, m *method, params []byte) (any, error) {
	others, _, err := s.others(ctx)
	if err != nil {
		return nil, err
	}
	if len(others) == 0 || c.forwarded {
		return nil, session.Fail(api.NotOwner, "this server is draining, and no other server answers")
	}
	return s.forward(ctx, c, m, others[0].ID, params)
}
