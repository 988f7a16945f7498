package eventlog

import (
	"context"
	"sync"
)

// pause blocks calls to the embedded server while it is stopped for a repair: a call that the server has accepted and not
// answered would never return. The zero value does not block.
type pause struct {
	mu    sync.Mutex
	calls int           // number of running calls
	over  chan struct{} // closed when the pause ends; nil without one
	idle  chan struct{} // closed when no call is running; nil without a waiter
}

// pausedKey marks the context of calls that are allowed during a pause.
type pausedKey struct{}

// enter waits until there is no pause, and starts a call.
func (p *pause) enter(ctx context.Context) error {
	if ctx.Value(pausedKey{}) != nil {
		return nil
	}
	for {
		p.mu.Lock()
		over := p.over
		if over == nil {
			p.calls++
		}
		p.mu.Unlock()
		if over == nil {
			return nil
		}
		select {
		case <-over:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// leave ends a call.
func (p *pause) leave(ctx context.Context) {
	if ctx.Value(pausedKey{}) != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls--; p.calls == 0 && p.idle != nil {
		close(p.idle)
		p.idle = nil
	}
}

// begin blocks new calls and waits for the running ones, except for calls with its context. There is one pause at a
// time.
func (p *pause) begin(ctx context.Context) (context.Context, error) {
	p.mu.Lock()
	p.over = make(chan struct{})
	idle := make(chan struct{})
	if p.calls == 0 {
		close(idle)
	} else {
		p.idle = idle
	}
	p.mu.Unlock()
	select {
	case <-idle:
		return context.WithValue(ctx, pausedKey{}, true), nil
	case <-ctx.Done():
		p.end()
		return nil, context.Cause(ctx)
	}
}

// end allows calls again.
func (p *pause) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.over)
	p.over, p.idle = nil, nil
}
