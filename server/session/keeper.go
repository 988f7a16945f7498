package session

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/spawn"
)

// keeper runs processes of an agent, such as its terminals, under the host that runs the agent.
type keeper struct {
	h     *Host
	opts  host.AgentOptions     // of the agent
	agent atomic.Uint32         // its number; 0 before its start
	left  map[string]*leftAgent // what an earlier server has started, by name
}

func (h *Host) keeper(o host.AgentOptions, agent uint32, left map[string]*leftAgent) *keeper {
	k := &keeper{h: h, opts: o, left: left}
	k.agent.Store(agent)
	return k
}

// key returns the host's name for a process. It contains the number of the agent, because earlier
// agents of the session can have processes of the same name.
func (k *keeper) key(name string) string {
	return fmt.Sprintf("%s/%d/%s", k.opts.Key, k.agent.Load(), name)
}

// keptKey splits a name from key into its parts.
func keptKey(key string) (session string, agent uint32, name string, ok bool) {
	session, rest, ok := strings.Cut(key, "/")
	number, name, more := strings.Cut(rest, "/")
	n, err := strconv.ParseUint(number, 10, 32)
	return session, uint32(n), name, ok && more && err == nil
}

// Keep starts a process, or returns the process that an earlier server started under the name.
func (k *keeper) Keep(ctx context.Context, name string, cmd spawn.Command) (agent.Kept, error) {
	if p, err := k.Find(ctx, name); !errors.Is(err, agent.ErrNotFound) {
		return p, err
	}
	link := k.h.running()
	if link == nil {
		return nil, host.ErrLinkLost
	}
	p, err := link.SpawnAgent(ctx, cmd, host.AgentOptions{Key: k.key(name), OrphanTimeout: k.opts.OrphanTimeout, KeepChildren: k.opts.KeepChildren})
	if err != nil {
		return nil, err
	}
	return keptProcess{p}, nil
}

// Find returns a process that an earlier server started.
func (k *keeper) Find(ctx context.Context, name string) (agent.Kept, error) {
	l := k.left[name]
	if l == nil {
		return nil, fmt.Errorf("%w: %s", agent.ErrNotFound, name)
	}
	if _, err := l.open(ctx); err != nil {
		return nil, err
	}
	return keptProcess{l.process}, nil
}

// keptProcess is a process of a keeper.
type keptProcess struct{ *host.Process }

// Discard discards the output of the process.
func (p keptProcess) Discard(ctx context.Context, line uint64) error {
	return p.Checkpoint(ctx, line, nil)
}

// Cut reports whether an earlier server has discarded output.
func (p keptProcess) Cut() bool { return p.Agent().Checkpoint > 0 }

// dropKept ends the processes of the agent that no one has used since.
func (l *leftAgent) dropKept(ctx context.Context) (err error) {
	for _, k := range l.kept {
		err = errors.Join(err, k.end(ctx))
	}
	return err
}
