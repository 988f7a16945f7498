package session

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/host"
)

// An agent with a budget has a short orphan timeout, unless one is set.
func TestHostOptions(t *testing.T) {
	for name, tt := range map[string]struct {
		opts   HostOptions
		budget *float64
		want   host.AgentOptions
	}{
		"default":             {HostOptions{}, nil, host.AgentOptions{Key: "s"}},
		"budget":              {HostOptions{}, new(1.0), host.AgentOptions{Key: "s", OrphanTimeout: 10 * time.Minute}},
		"set":                 {HostOptions{Options: host.Options{OrphanTimeout: time.Hour}}, nil, host.AgentOptions{Key: "s", OrphanTimeout: time.Hour}},
		"set and a budget":    {HostOptions{Options: host.Options{OrphanTimeout: time.Hour}}, new(1.0), host.AgentOptions{Key: "s", OrphanTimeout: time.Hour}},
		"children are spared": {HostOptions{KeepChildren: true}, nil, host.AgentOptions{Key: "s", KeepChildren: true}},
	} {
		if diff := cmp.Diff(tt.want, tt.opts.agent("s", &agent.Options{MaxBudgetUSD: tt.budget})); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}
