package claude

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/seed7221b0f9/parley/claude/internal/decode"
	"github.com/seed7221b0f9/parley/claude/message"
)

// entry is a line on its way to a consumer, which decodes it. It has four words: the compiler keeps a struct of this
// size in registers, and copies a larger one in memory at each call.
type entry struct {
	text    string
	decoded *message.Message // nil if the consumer decodes the line
	mark    lineMark
}

// decodedEntry returns an entry of a line that has been decoded.
func decodedEntry(text string, m message.Message) entry { return entry{text: text, decoded: &m} }

// msg returns the message of a decoded line, or nil.
func (e entry) msg() message.Message {
	if e.decoded == nil {
		return nil
	}
	return *e.decoded
}

// lineMark is the host's number of a line, or 0, and the line's kind.
type lineMark uint64

func markOf(number uint64, kind lineKind) lineMark { return lineMark(number<<2 | uint64(kind)) }

func (m lineMark) number() uint64 { return uint64(m >> 2) }

func (m lineMark) kind() lineKind { return lineKind(m & 3) }

// lineKind is the kind of a line.
type lineKind byte

const (
	messageLine lineKind = iota
	controlLine          // of the control protocol
	inputLine            // to the CLI
)

func (e entry) message() message.Message {
	if m := e.msg(); m != nil {
		return m
	}
	return decode.Line(e.text)
}

// lineQueue is an unbounded queue from the session's reader to one consumer. The reader never waits
// for it; the consumer takes all queued entries at once.
type lineQueue struct {
	freed func() // called when an entry has been taken
	whole bool   // also takes lines that are not messages

	mu      sync.Mutex
	queue   []entry
	ended   bool
	err     error
	discard bool          // the consumer has stopped
	ready   chan struct{} // holds a token if entries are queued
	bytes   int64         // size of all entries that were put

	_ [64]byte // so that the reader and the consumer do not write to one cache line

	ranged atomic.Bool // a caller is reading the queue

	batch []entry // the consumer's own
	next  int
	taken atomic.Int64 // size of all entries that were taken
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
	m.bytes += int64(len(e.text))
	m.queue = append(m.queue, e)
	if len(m.queue) == 1 { // the consumer waits only for an empty queue
		m.signal()
	}
}

// size returns the bytes of the entries that were put and not taken.
func (m *lineQueue) size() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bytes - m.taken.Load()
}

// drop discards queued and future entries. The consumer calls it when it stops before the
// end.
func (m *lineQueue) drop() {
	m.mu.Lock()
	m.discard, m.queue = true, nil
	m.bytes = m.taken.Load()
	m.mu.Unlock()
	m.batch, m.next = nil, 0
	if m.freed != nil {
		m.freed()
	}
}

// end closes the queue: take returns the remaining entries, then err.
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

// take returns the next entry. ok is false at the end of the queue, with its error, and
// when ctx ends, with its cause.
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
	m.batch[m.next] = entry{} // so that the batch does not keep it alive
	m.next++
	m.taken.Add(int64(len(e.text)))
	if m.freed != nil {
		m.freed()
	}
	return e, true, nil
}

// refill takes all queued entries and leaves the empty batch for reuse.
func (m *lineQueue) refill() (ended bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.batch, m.queue, m.next = m.queue, m.batch[:0], 0
	if cap(m.queue) > 4096 && cap(m.queue) > 4*len(m.batch) {
		m.queue = nil // too large to keep after a burst
	}
	return m.ended, m.err
}
