package eventlog

import (
	"context"
	"sync"
)

// link informs readers about a lost and restored connection: the server may have dropped their consumers without a notice.
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

// renew ends the current context and starts a new one.
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
