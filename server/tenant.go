package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// Tenant is the configuration for the sessions of a tenant. Its tokens name the tenant. Sessions,
// history and workspaces of a tenant are visible only to its tokens and to tokens without a tenant.
type Tenant struct {
	// Providers are its agents, with the names of [Options].Providers. Their configuration and
	// history must be separate from those of other tenants.
	Providers []agent.Provider
	// Env is the complete environment of its agents, as KEY=value, instead of [Options].Env.
	Env []string
}

func (t *Tenant) provider(name string) (agent.Provider, error) {
	i := 0
	if name != "" {
		i = slices.IndexFunc(t.Providers, func(p agent.Provider) bool { return p.Name() == name })
	}
	if i < 0 || i >= len(t.Providers) {
		var names []string
		for _, p := range t.Providers {
			names = append(names, p.Name())
		}
		return nil, session.Invalid("unknown provider %q; this server has %s", name, strings.Join(names, ", "))
	}
	return t.Providers[i], nil
}

// tenants opens tenants, each once.
type tenants struct {
	own  *Tenant // for sessions without a tenant
	open func(name string) (Tenant, error)

	mu    sync.Mutex
	known map[string]*Tenant
}

func newTenants(opts Options) *tenants {
	return &tenants{own: &Tenant{opts.Providers, opts.Env}, open: opts.Tenant, known: map[string]*Tenant{}}
}

// get returns a tenant. If the server has no tenant configuration, all tenants share the server's
// configuration.
func (t *tenants) get(ctx context.Context, name string) (*Tenant, error) {
	if name == "" || t.open == nil {
		return t.own, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if known, ok := t.known[name]; ok {
		return known, nil
	}
	opened, err := t.open(name)
	if err == nil && len(opened.Providers) == 0 {
		err = errors.New("it has no provider")
	}
	if err == nil {
		_, err = sweep(ctx, opened.Providers)
	}
	if err != nil {
		return nil, fmt.Errorf("server: tenant %q: %w", name, err)
	}
	t.known[name] = &opened
	return &opened, nil
}

// apart returns the agents with a history that a caller may read. It returns nil for a tenant
// without separate agents, because the server's agents have sessions of others.
func (t *tenants) apart(ctx context.Context, p *principal) ([]agent.Provider, error) {
	if p.tenant != "" && t.open == nil {
		return nil, session.Fail(api.Unsupported, "the server keeps no history for tenants")
	}
	tenant, err := t.get(ctx, p.tenant)
	if err != nil {
		return nil, err
	}
	return tenant.Providers, nil
}

// sweep kills leftover processes of agents of a dead server, and returns their number.
func sweep(ctx context.Context, providers []agent.Provider) (total int, err error) {
	for _, p := range providers {
		if sweeper, ok := p.(agent.Sweeper); ok {
			n, err := sweeper.Sweep(ctx)
			if err != nil {
				return total, fmt.Errorf("ending the processes of the last server: %w", err)
			}
			total += n
		}
	}
	return total, nil
}

// sees reports whether a caller may see the data of a tenant. Tokens without a tenant belong to the
// owner and see all tenants, except for tokens of agents.
func (p *principal) sees(tenant string) bool {
	return p.tenant == tenant || p.tenant == "" && p.agentOf == ""
}

// of returns the caller as a member of a tenant: objects created in its name belong to the tenant.
func (c *caller) of(tenant string) *caller {
	p := *c.principal
	p.tenant = tenant
	return &caller{principal: &p, socket: c.socket}
}

type callerKey struct{}

// withCaller returns a context that limits the visible data to that of the caller.
func withCaller(ctx context.Context, c *caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c.principal)
}

// visible reports whether the caller in ctx, if any, may see the sessions of a tenant.
func visible(ctx context.Context, tenant string) bool {
	p, ok := ctx.Value(callerKey{}).(*principal)
	return !ok || p.sees(tenant)
}
