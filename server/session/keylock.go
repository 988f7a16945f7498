package session

import (
	"context"
	"sync"
)

// keyLock serializes calls with the same idempotency key, so that a retry that overlaps its first call finds the response to it.
// Calls without a key do not wait.
type keyLock struct {
	mu   sync.Mutex
	held map[string]chan struct{} // closed when the call has ended
}

// lock waits for the key, or for the end of ctx.
func (l *keyLock) lock(ctx context.Context, session, key string) (unlock func(), err error) {
	if key == "" {
		return func() {}, nil
	}
	name := session + "\x00" + key
	for {
		l.mu.Lock()
		held, busy := l.held[name]
		if !busy {
			break
		}
		l.mu.Unlock()
		select {
		case <-held:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	defer l.mu.Unlock()
	if l.held == nil {
		l.held = map[string]chan struct{}{}
	}
	ended := make(chan struct{})
	l.held[name] = ended
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.held, name)
		close(ended)
	}, nil
}
