package claude

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/seed7221b0f9/parley/claude/internal/decode"
	"github.com/seed7221b0f9/parley/claude/message"
)

// entry is one line on its way to a reader, who decodes it.
type entry struct {
	text string
	msg  message.Message // set when the line has been decoded already
}

func (e entry) message() message.Message {
	if e.msg != nil {
		return e.msg
	}
	return decode.Line(e.text)
}

// lineQueue is a queue without a bound between the session's reader, which never
// waits for it, and one consumer, which takes all that is there at a time.
type lineQueue struct {
	freed func() // called when an entry has been taken

	mu      sync.Mutex
	queue   []entry
	ended   bool
	err     error
	discard bool          // nothing will be taken any more
	ready   chan struct{} // holds a token when there is something to take

	bytes  atomic.Int64 // of entries not yet taken
	ranged atomic.Bool  // a caller takes them

	batch []entry // the consumer's own
	next  int
}

func newLineQueue(freed func()) *lineQueue {
	return &lineQueue{freed: freed, ready: make(chan struct{}, 1)}
}

func (m *lineQueue) put(e entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.discard {
		return
	}
	m.bytes.Add(int64(len(e.text)))
	m.queue = append(m.queue, e)
	if len(m.queue) == 1 { // a consumer waits only for a queue that was empty
		m.signal()
	}
}

// drop throws away what is queued and what will come. The consumer calls it
// when it stops before the end.
func (m *lineQueue) drop() {
	m.mu.Lock()
	m.discard, m.queue = true, nil
	m.mu.Unlock()
	m.batch, m.next = nil, 0
	m.bytes.Store(0)
	if m.freed != nil {
		m.freed()
	}
}

// end closes the queue; entries that are in it are still taken, then err.
func (m *lineQueue) end(err error) {
	m.mu.Lock()
	if !m.ended {
		m.ended, m.err = true, err
	}
	m.mu.Unlock()
	m.signal()
}

func (m *lineQueue) signal() {
	select {
	case m.ready <- struct{}{}:
	default:
	}
}

// take returns the next entry. ok is false at the end, with the error that the
// queue ended with, and when ctx ends, with its cause.
func (m *lineQueue) take(ctx context.Context) (e entry, ok bool, err error) {
	if ctx.Err() != nil {
		return entry{}, false, context.Cause(ctx)
	}
	for m.next == len(m.batch) {
		ended, err := m.refill()
		if m.next < len(m.batch) {
			break
		}
		if ended {
			return entry{}, false, err
		}
		select {
		case <-m.ready:
		case <-ctx.Done():
			return entry{}, false, context.Cause(ctx)
		}
	}
	e = m.batch[m.next]
	m.batch[m.next] = entry{} // or the batch would keep it alive
	m.next++
	m.bytes.Add(-int64(len(e.text)))
	if m.freed != nil {
		m.freed()
	}
	return e, true, nil
}

// refill takes all that is queued and leaves the used-up batch in its place.
func (m *lineQueue) refill() (ended bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.batch, m.queue, m.next = m.queue, m.batch[:0], 0
	if cap(m.queue) > 4096 && cap(m.queue) > 4*len(m.batch) {
		m.queue = nil // the remains of a burst
	}
	return m.ended, m.err
}
