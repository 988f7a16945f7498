package session

import (
	"context"
	"errors"
	"log/slog"
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

// A server that has lost the host to another one does not take it back.
func TestHost_fenced(t *testing.T) {
	dir := t.TempDir()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	ended := make(chan error, 1)
	go func() { ended <- host.Run(ctx, dir, host.Options{}, nil) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the host has failed: %v", err)
		}
	}()
	open := func() *Host {
		h := &Host{dir: dir, logger: slog.New(slog.DiscardHandler)}
		for {
			_, err := h.connect(ctx)
			if err == nil {
				return h
			}
			if ctx.Err() != nil {
				t.Fatal(err)
			}
		}
	}
	first := open()
	defer first.Close()
	second := open()
	defer second.Close()
	<-first.link.Done()
	if _, err := first.connect(t.Context()); !errors.Is(err, host.ErrFenced) {
		t.Errorf("the first server connects again with the error %v, want ErrFenced", err)
	}
	if err := second.link.Err(); err != nil {
		t.Errorf("the second server has lost the host: %v", err)
	}
}
