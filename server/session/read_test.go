package session

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/seed7221b0f9/parley/agent"
)

// countedContext counts the contexts that depend on it.
type countedContext struct {
	context.Context
	done     chan struct{}
	children atomic.Int64
}

func (c *countedContext) Done() <-chan struct{} { return c.done }

// AfterFunc is called by package context for each context that depends on c. The returned function
// is called when that context ends.
func (c *countedContext) AfterFunc(func()) (stop func() bool) {
	c.children.Add(1)
	return func() bool { c.children.Add(-1); return true }
}

// TestRead_fails checks that a session that cannot be read leaves no context open, for every failing
// step.
func TestRead_fails(t *testing.T) {
	broken := errors.New("broken")
	record, err := record{Time: "t", Msg: []byte(`{"type":"session_state","state":"idle"}`)}.encode()
	if err != nil {
		t.Fatal(err)
	}
	for call, want := range map[string]error{"Last": broken, "Snapshot": broken, "Read": broken, "Provider": broken, "none": nil} {
		t.Run(call, func(t *testing.T) {
			log := &brokenLog{memLog: &memLog{events: [][]byte{record}}, fail: map[string]error{call: want}}
			s, _ := memSessions(t, func(o *Options) {
				provider := o.Provider
				o.Store = &brokenStore{memStore: &memStore{}, log: log}
				o.Provider = func(ctx context.Context, tenant, name string) (agent.Provider, []string, error) {
					if err := log.err("Provider"); err != nil {
						return nil, nil, err
					}
					return provider(ctx, tenant, name)
				}
			})
			counted := &countedContext{Context: context.Background(), done: make(chan struct{})}
			s.ctx = counted
			a, err := s.read(t.Context(), "s-1", true)
			if !errors.Is(err, want) || (a == nil) != (want != nil) {
				t.Fatalf("the error is %v, want %v", err, want)
			}
			if a != nil {
				if n := counted.children.Load(); n != 1 {
					t.Errorf("a session that was read has %d contexts, want 1", n)
				}
				a.cancel()
			}
			if n := counted.children.Load(); n != 0 {
				t.Errorf("%d contexts are left", n)
			}
		})
	}
}
