package server

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/server/api"
)

// modedProvider is a scripted agent that records the modes with which it was started.
type modedProvider struct {
	*agenttest.Provider
	mu    sync.Mutex
	modes []string
}

func (p *modedProvider) keep(opts agent.Options) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.modes = append(p.modes, fmt.Sprint(opts.Mode, " ", !opts.ModeUnchosen))
}

func (p *modedProvider) Open(ctx context.Context, opts agent.Options) (agent.Session, error) {
	p.keep(opts)
	return p.Provider.Open(ctx, opts)
}

func (p *modedProvider) Resume(ctx context.Context, id string, opts agent.Options) (agent.Session, error) {
	p.keep(opts)
	return p.Provider.Resume(ctx, id, opts)
}

// TestConnect_mode checks that an agent learns whether its mode was chosen: by the caller, later by
// a person, or by the operator.
func TestConnect_mode(t *testing.T) {
	t.Parallel()
	p := &modedProvider{}
	h := newHarness(t, func(o *Options) { o.Providers = []agent.Provider{p} })
	p.Provider = h.provider
	last := func(want string) {
		t.Helper()
		p.mu.Lock()
		defer p.mu.Unlock()
		if got := p.modes[len(p.modes)-1]; got != want {
			t.Errorf("the agent was started with %s, want %s", got, want)
		}
	}
	id := h.connect()
	last("default false")
	h.call("session.connect", api.ConnectParams{PermissionMode: "default"}, nil)
	last("default true")
	h.restart()
	h.call("session.setPermissionMode", api.SetPermissionModeParams{SessionID: id, Mode: "acceptEdits"}, nil)
	last("default false")
	h.restart()
	h.call("session.setPermissionMode", api.SetPermissionModeParams{SessionID: id, Mode: "default"}, nil)
	last("acceptEdits true")
	h.opts.DefaultMode = "plan"
	h.restart()
	h.connect()
	last("plan true")
}
