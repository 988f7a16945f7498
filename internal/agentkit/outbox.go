// Package agentkit holds the events of an agent's session until its user takes them.
package agentkit

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
)

// Box holds events. Its fields are read and changed while Mu is held, which may guard other
// state of the session too. [New] makes one.
type Box struct {
	Mu      sync.Mutex
	Changed *sync.Cond    // on Mu; to be notified of every change
	Queue   []event.Event // the oldest first
	Over    bool          // there will be no more
	Err     error         // what the events end with; nil is a good end

	ranged bool
}

// New returns an empty box.
func New() *Box {
	b := &Box{}
	b.Changed = sync.NewCond(&b.Mu)
	return b
}

// Events yields the events until the box is over and empty, or ctx ends. It can be done once.
func (b *Box) Events(ctx context.Context) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		if !b.first() {
			yield(nil, fmt.Errorf("%w: events are ranged over once", agent.ErrInvalid))
			return
		}
		stop := context.AfterFunc(ctx, b.Wake)
		defer stop()
		for {
			ev, err := b.next(ctx)
			if ev == nil {
				if err != nil {
					yield(nil, err)
				}
				return
			}
			if !yield(ev, nil) {
				return
			}
		}
	}
}

// first reports whether no one has ranged over the events yet.
func (b *Box) first() bool {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	first := !b.ranged
	b.ranged = true
	return first
}

// Wake makes everyone who waits for a change look again.
func (b *Box) Wake() {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	b.Changed.Broadcast()
}

// next waits for the next event; nil at the end.
func (b *Box) next(ctx context.Context) (event.Event, error) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	for len(b.Queue) == 0 && !b.Over && ctx.Err() == nil {
		b.Changed.Wait()
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case len(b.Queue) == 0:
		return nil, b.Err
	}
	ev := b.Queue[0]
	b.Queue[0] = nil
	b.Queue = b.Queue[1:]
	b.Changed.Broadcast()
	return ev, nil
}
