package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"
)

// Node describes a server of a cluster.
type Node struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`              // of its machine
	Address  string    `json:"address,omitempty"` // where clients reach it
	Version  string    `json:"version"`
	Started  time.Time `json:"started"`
	Seen     time.Time `json:"seen"` // when it renewed its entry, by its clock
	Draining bool      `json:"draining,omitempty"`
	Sessions int       `json:"sessions"` // that it owns
}

// member holds the entry of this server in the list of servers.
type member struct {
	bucket *Bucket
	mu     sync.Mutex
	self   Node
}

// nodesBucket is the name of the bucket that lists the servers. A server that does not renew its entry counts as dead.
const nodesBucket = "NODES"

// join adds this server to the list and renews its entry until leave.
func (c *Cluster) join(ctx context.Context) error {
	var err error
	if c.member.bucket, err = c.Bucket(ctx, nodesBucket, c.ttl); err != nil {
		return err
	}
	o := c.opts
	c.member.self = Node{ID: o.Node, Name: o.Name, Address: o.Address, Version: o.Version, Started: time.Now().UTC()}
	if err := c.announce(ctx); err != nil {
		return err
	}
	c.wg.Go(func() {
		ticker := time.NewTicker(c.ttl / 3)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
			case <-c.ctx.Done():
				return
			}
			if err := c.announce(c.ctx); err != nil && c.ctx.Err() == nil {
				c.logger.Warn("the other servers may consider this one dead", "err", err)
			}
		}
	})
	return nil
}

// announce renews the entry of this server.
func (c *Cluster) announce(ctx context.Context) error {
	c.member.mu.Lock()
	self := c.member.self
	c.member.mu.Unlock()
	c.leases.mu.Lock()
	self.Sessions = len(c.leases.held)
	c.leases.mu.Unlock()
	self.Seen = time.Now().UTC()
	data, err := json.Marshal(self)
	if err != nil {
		return err
	}
	return c.member.bucket.Put(ctx, self.ID, data)
}

// Describe changes the entry of this server in the list.
func (c *Cluster) Describe(ctx context.Context, change func(*Node)) error {
	c.member.mu.Lock()
	change(&c.member.self)
	c.member.mu.Unlock()
	return c.announce(ctx)
}

// leave removes the entry of this server from the list.
func (c *Cluster) leave() {
	if c.member.bucket == nil {
		return
	}
	if err := c.member.bucket.Remove(context.Background(), c.opts.Node); err != nil {
		c.logger.Warn("this server remains listed until its entry expires", "err", err)
	}
}

// Nodes returns the live servers, sorted by name.
func (c *Cluster) Nodes(ctx context.Context) ([]Node, error) {
	entries, err := c.member.bucket.All(ctx)
	if err != nil {
		return nil, err
	}
	nodes := []Node{}
	for _, e := range entries {
		var n Node
		if json.Unmarshal(e.Value, &n) == nil && n.ID == e.Key {
			nodes = append(nodes, n)
		}
	}
	slices.SortFunc(nodes, func(a, b Node) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return nodes, nil
}
