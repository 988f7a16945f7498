package proc

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

const (
	// lateWait limits a read after the exit on a stream that cannot be read without waiting.
	lateWait = 100 * time.Millisecond
	// maxPipe is the maximum capacity of a pipe: data beyond it after the exit was not written by the
	// process.
	maxPipe = 1 << 20
)

// errWouldBlock is the error of tryRead if there is no data.
var errWouldBlock = errors.New("nothing to read")

// stream reads one output of a process to its real end: all output of the process, then io.EOF, even if
// another process holds the other end open after the exit.
type stream struct {
	src      io.ReadCloser
	file     *os.File     // src, if it can be read without blocking
	deadline readDeadline // src, if it has deadlines
	delay    time.Duration

	reading sync.Mutex // held during Read: one at a time

	mu     sync.Mutex
	limit  time.Time   // end of the wait; zero while the process runs
	busy   bool        // a Read on a src without deadlines is running
	timer  *time.Timer // closes src during that Read
	gaveUp bool        // timer has fired
	closed bool
	end    error // the result of all later Reads
	late   int   // bytes read from file since the exit
}

type readDeadline interface{ SetReadDeadline(time.Time) error }

func newStream(src io.ReadCloser, delay time.Duration) *stream {
	s := &stream{src: src, delay: delay}
	if src == nil {
		s.end, s.closed = io.EOF, true
		return s
	}
	// A file may have the method without supporting it.
	if d, ok := src.(readDeadline); ok && d.SetReadDeadline(time.Time{}) == nil {
		s.deadline = d
		if f, ok := src.(*os.File); ok && canTryRead {
			s.file = f
		}
	}
	return s
}

// processExited limits the wait of reads, including a running one.
func (s *stream) processExited() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = time.Now().Add(s.delay)
	if s.closed {
		return
	}
	if s.deadline != nil {
		_ = s.deadline.SetReadDeadline(s.limit)
	} else if s.busy {
		s.armTimer()
	}
}

func (s *stream) exitLimit() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.limit
}

// Read returns the output of the process, then io.EOF.
func (s *stream) Read(p []byte) (int, error) {
	s.reading.Lock()
	defer s.reading.Unlock()
	if err := s.ended(); err != nil || len(p) == 0 {
		return 0, err
	}
	for {
		n, err := s.read(p)
		if err != nil {
			err = s.finish(err)
		}
		if n > 0 {
			return n, nil // An error is kept for the next call.
		}
		if err != nil {
			return 0, err
		}
	}
}

func (s *stream) read(p []byte) (int, error) {
	if s.deadline == nil {
		return s.readClosing(p)
	}
	if s.exitLimit().IsZero() {
		n, err := s.src.Read(p)
		// Only processExited sets a deadline, so there is a limit now.
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
	}
	if s.file != nil {
		return s.readFile(p)
	}
	return s.readDeadline(p)
}

// readFile reads after the exit. It checks for an empty pipe without a deadline, because an expired
// deadline fails a Read without trying, and time may pass between setting a deadline and reading.
func (s *stream) readFile(p []byte) (int, error) {
	for limit := s.exitLimit(); ; {
		over := !time.Now().Before(limit)
		if over && s.late >= maxPipe {
			return 0, io.EOF
		}
		_ = s.file.SetReadDeadline(time.Time{})
		n, err := tryRead(s.file, p)
		if err == errWouldBlock {
			if over {
				return 0, io.EOF
			}
			_ = s.file.SetReadDeadline(limit)
			n, err = s.file.Read(p)
		}
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			s.late += n
			return n, err
		}
	}
}

// readDeadline reads after the exit of the process, from a source that supports deadlines. A
// timeout ends the stream.
func (s *stream) readDeadline(p []byte) (int, error) {
	until := time.Now().Add(lateWait)
	if limit := s.exitLimit(); until.Before(limit) {
		until = limit
	}
	_ = s.deadline.SetReadDeadline(until)
	n, err := s.src.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = io.EOF
	}
	return n, err
}

// readClosing reads from a source without deadlines. After the exit it closes the source during a Read that
// waits too long.
func (s *stream) readClosing(p []byte) (int, error) {
	s.mu.Lock()
	s.busy = true
	if !s.limit.IsZero() {
		s.armTimer()
	}
	s.mu.Unlock()

	n, err := s.src.Read(p)

	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = false
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	if err != nil && s.gaveUp {
		err = io.EOF
	}
	return n, err
}

// armTimer must be called with mu held.
func (s *stream) armTimer() {
	var t *time.Timer
	t = time.AfterFunc(max(time.Until(s.limit), lateWait), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.timer != t {
			return // that Read has returned
		}
		s.gaveUp = true
		s.closeSource()
	})
	s.timer = t
}

func (s *stream) ended() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.end
}

// finish sets the end of the stream to err, unless it is already set, and closes the descriptor.
func (s *stream) finish(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end == nil {
		s.end = err
	}
	s.closeSource()
	return s.end
}

// Close closes the descriptor and discards unread data. A pending Read fails.
func (s *stream) Close() error {
	s.finish(os.ErrClosed)
	return nil
}

// closeSource must be called with mu held.
func (s *stream) closeSource() {
	if !s.closed {
		s.closed = true
		_ = s.src.Close()
	}
}
