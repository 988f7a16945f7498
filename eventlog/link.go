package eventlog

import (
	"context"
	"sync"
)

// link tells readers that the connection was lost and is there again: the server may have forgotten their consumers, and would
// say nothing.
type link struct {
	mu    sync.Mutex
	ended context.CancelFunc
	alive context.Context
}

func newLink() *link {
	l := &link{}
	l.alive, l.ended = context.WithCancel(context.Background())
	return l
}

// renew ends the present context and starts another one.
func (l *link) renew() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended()
	l.alive, l.ended = context.WithCancel(context.Background())
}

// context returns a context that ends at the next reconnection.
func (l *link) context() context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.alive
}
