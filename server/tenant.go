package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// Tenant is what the sessions of a tenant are run with. A tenant is named by the tokens that
// were made for it. Its sessions, their history and their workspaces are seen by its own
// tokens and by those without a tenant, and by no others.
type Tenant struct {
	// Providers are its agents, with the names of [Options].Providers. They keep their
	// configuration and history where those of other tenants do not look.
	Providers []agent.Provider
	// Env is the whole environment of its agents, as KEY=value, in place of [Options].Env.
	Env []string
}

func (t *Tenant) provider(name string) (agent.Provider, error) {
	i := 0
	if name != "" {
		i = slices.IndexFunc(t.Providers, func(p agent.Provider) bool { return p.Name() == name })
	}
	if i < 0 || i >= len(t.Providers) {
		return nil, session.Invalid("there is no provider %q", name)
	}
	return t.Providers[i], nil
}

// tenants opens tenants, each once.
type tenants struct {
	own  *Tenant // of sessions without a tenant
	open func(name string) (Tenant, error)

	mu    sync.Mutex
	known map[string]*Tenant
}

func newTenants(opts Options) *tenants {
	return &tenants{own: &Tenant{opts.Providers, opts.Env}, open: opts.Tenant, known: map[string]*Tenant{}}
}

// get returns a tenant. Where the server has nothing of their own for tenants they run with
// what the server has.
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

// apart returns the agents whose history a caller may read. A tenant without agents of its
// own has none: those of the server hold the sessions of others.
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

// sweep ends what agents of a server that died have left, and returns how many.
func sweep(ctx context.Context, providers []agent.Provider) (total int, err error) {
	for _, p := range providers {
		if sweeper, ok := p.(agent.Sweeper); ok {
			n, err := sweeper.Sweep(ctx)
			if err != nil {
				return total, fmt.Errorf("sweeping up after the last server: %w", err)
			}
			total += n
		}
	}
	return total, nil
}

// sees reports whether a caller may know of what belongs to a tenant. Tokens without a tenant
// are the owner's.
func (p *principal) sees(tenant string) bool { return p.tenant == "" || p.tenant == tenant }

// of is the caller as one of a tenant: what is made in its name belongs there.
func (c *caller) of(tenant string) *caller {
	p := *c.principal
	p.tenant = tenant
	return &caller{principal: &p, socket: c.socket}
}

type callerKey struct{}

// withCaller lets everything that is done with ctx be refused what the caller may not see.
func withCaller(ctx context.Context, c *caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c.principal)
}

// visible reports whether the caller in ctx, if there is one, may know of the sessions of a tenant.
func visible(ctx context.Context, tenant string) bool {
	p, ok := ctx.Value(callerKey{}).(*principal)
	return !ok || p.sees(tenant)
}
