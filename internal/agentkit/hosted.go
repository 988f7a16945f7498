package agentkit

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
)

// Hosted is the state of a session with an agent under a host. Its methods are safe for concurrent use.
type Hosted struct {
	last   uint64        // the last line of an earlier process
	caught chan struct{} // closed when the lines up to last have been read
	catch  func()        // closes it
	kept   atomic.Int64
}

// NewHosted returns the state of an adopted agent, or of a new one for the zero value.
func NewHosted(a agent.Adoption) *Hosted {
	h := &Hosted{last: a.Last, caught: make(chan struct{})}
	h.catch = sync.OnceFunc(func() { close(h.caught) })
	if a.Last == 0 {
		h.catch()
	}
	return h
}

// Past reports whether an earlier process has handled a line.
func (h *Hosted) Past(line uint64) bool { return line <= h.last }

// Took records that a line of this size was handled.
func (h *Hosted) Took(line uint64, size int) {
	h.kept.Add(int64(size))
	if line >= h.last {
		h.catch()
	}
}

// End ends the wait for lines that will not arrive.
func (h *Hosted) End() { h.catch() }

// Wait waits until the lines of the earlier process were handled.
func (h *Hosted) Wait(ctx context.Context) error {
	select {
	case <-h.caught:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Kept returns the size of all lines.
func (h *Hosted) Kept() int64 { return h.kept.Load() }

// AskAgain opens a request of the earlier process that has not been resolved, and queues its event.
// It returns nil for an unknown id.
func (s *Session) AskAgain(id string) (r *Prompt) {
	s.update(func(st *state) {
		if ev := st.past[id]; ev != nil && st.alive() == nil {
			delete(st.past, id)
			st.push([]event.Event{ev}, nil)
		}
		r = st.open[id]
	})
	return r
}
