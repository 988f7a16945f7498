package codex

import (
	"context"
	"sync"

	"github.com/seed7221b0f9/parley/codex/item"
)

// mailbox holds notifications for one reader.
type mailbox struct {
	max int // bytes

	mu      sync.Mutex
	changed chan struct{} // closed and replaced at every change
	state   boxState
}

type boxState struct {
	list     []item.Notification
	bytes    int
	attached bool // a reader has attached
	left     bool // the reader has left, or no reader will attach
	overflow bool // the box was full before a reader attached
	ended    bool
	err      error // the last element for the reader
}

func newMailbox(max int) *mailbox { return &mailbox{max: max, changed: make(chan struct{})} }

// update changes the state and wakes the waiting readers. It returns a channel that is closed at
// the next change.
func (m *mailbox) update(f func(s *boxState)) <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	f(&m.state)
	close(m.changed)
	m.changed = make(chan struct{})
	return m.changed
}

// look reads the state. It returns a channel that is closed at the next change.
func (m *mailbox) look(f func(s *boxState)) <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	f(&m.state)
	return m.changed
}

// cost returns the size of a notification for the limit, in bytes.
func cost(n item.Notification) int {
	const overhead = 256
	return n.Head().Size() + overhead
}

// push adds a notification. With a reader it waits for room until stop is closed; without one it
// abandons the box when it is full.
func (m *mailbox) push(n item.Notification, stop <-chan struct{}) {
	size := cost(n)
	for {
		full := false
		changed := m.look(func(s *boxState) {
			full = s.attached && !s.left && !s.ended && s.bytes > 0 && s.bytes+size > m.max
		})
		if !full {
			break
		}
		select {
		case <-changed:
		case <-stop:
			return
		}
	}
	m.update(func(s *boxState) {
		switch {
		case s.left || s.overflow || s.ended:
		case !s.attached && s.bytes+size > m.max:
			s.list, s.bytes, s.overflow = nil, 0, true
		default:
			s.list = append(s.list, n)
			s.bytes += size
		}
	})
}

// end marks the end of the notifications.
func (m *mailbox) end(err error) {
	m.update(func(s *boxState) {
		if !s.ended {
			s.ended, s.err = true, err
		}
	})
}

// attach makes the caller the reader. It returns false if the mailbox has or had a reader.
func (m *mailbox) attach() (ok bool) {
	m.update(func(s *boxState) {
		if ok = !s.attached && !s.left; ok {
			s.attached = true
		}
	})
	return ok
}

// abandon marks the mailbox as unread, unless a reader has attached.
func (m *mailbox) abandon() {
	m.update(func(s *boxState) {
		if !s.attached {
			s.left, s.list, s.bytes = true, nil, 0
		}
	})
}

// leave marks the reader as gone.
func (m *mailbox) leave() {
	m.update(func(s *boxState) { s.left, s.list, s.bytes = true, nil, 0 })
}

// each yields the notifications until the end; the error is the last element.
func (m *mailbox) each(ctx context.Context, yield func(item.Notification, error) bool) {
	for {
		n, ok, err := m.next(ctx)
		if !ok {
			if err != nil {
				yield(nil, err)
			}
			return
		}
		if !yield(n, nil) {
			return
		}
	}
}

// next waits for the next notification. ok is false at the end, with its error.
func (m *mailbox) next(ctx context.Context) (n item.Notification, ok bool, err error) {
	for {
		done := false
		var changed <-chan struct{}
		take := func(s *boxState) {
			switch {
			case s.overflow:
				done, err = true, ErrOverflow
			case len(s.list) > 0:
				n, ok = s.list[0], true
				s.list[0] = nil
				s.list = s.list[1:]
				s.bytes -= cost(n)
			case s.ended:
				done, err = true, s.err
			}
		}
		changed = m.look(take)
		if ok {
			m.update(func(*boxState) {}) // wake writers: the box has room
			return n, true, nil
		}
		if done {
			return nil, false, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, false, context.Cause(ctx)
		}
	}
}
