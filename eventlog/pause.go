package eventlog

import (
	"context"
	"sync"
)

// pause keeps calls away from the embedded server while it is stopped to mend its files: a call that the server has taken and not
// answered would be waited for in vain. The zero value lets calls pass.
type pause struct {
	mu    sync.Mutex
	calls int           // under way
	over  chan struct{} // closed when the pause is over; nil without one
	idle  chan struct{} // closed when no call is under way; nil where nobody waits for that
}

// pausedKey marks the context of calls that are made during a pause on purpose.
type pausedKey struct{}

// enter waits until there is no pause, and begins a call.
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

// begin keeps calls from beginning and waits for those under way. Its context passes. There is one pause at a time.
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

// end lets calls begin again.
func (p *pause) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.over)
	p.over, p.idle = nil, nil
}
