package proc

import (
	"io"
	"sync"
	"time"
)

// stderr reads the error output from start to end, regardless of the callback: a process that cannot
// write its log would block.
type stderr struct {
	src   *stream
	delay time.Duration
	mu    sync.Mutex
	tail  tail // under mu

	raw       func([]byte) // nil without a callback
	lines     *lineQueue   // nil without a callback
	drained   chan struct{}
	delivered chan struct{}
}

func newStderr(src io.ReadCloser, opts Options) *stderr {
	e := &stderr{
		src:       newStream(src, opts.DrainDelay),
		delay:     opts.DrainDelay,
		tail:      tail{max: opts.StderrTail},
		raw:       opts.StderrTo,
		drained:   make(chan struct{}),
		delivered: make(chan struct{}),
	}
	if opts.OnStderr == nil {
		close(e.delivered)
	} else {
		e.lines = newLineQueue()
		go e.deliver(opts.OnStderr)
	}
	go e.drain()
	return e
}

func (e *stderr) drain() {
	defer close(e.drained)
	split := splitter{emit: e.emit}
	buf := make([]byte, 4<<10)
	for {
		n, err := e.src.Read(buf)
		e.keep(buf[:n])
		if e.raw != nil && n > 0 {
			e.raw(buf[:n])
		}
		if e.lines != nil {
			split.write(buf[:n])
		}
		if err != nil {
			break
		}
	}
	if e.lines != nil {
		split.flush()
		e.lines.close()
	}
}

func (e *stderr) emit(line []byte) { e.lines.push(string(line)) }

func (e *stderr) deliver(callback func(string)) {
	defer close(e.delivered)
	for {
		line, ok := e.lines.next()
		if !ok {
			return
		}
		callGuarded(callback, line)
	}
}

// callGuarded is a separate function so that a panic loses one line and does not end the reader.
func callGuarded(callback func(string), line string) {
	defer func() { _ = recover() }()
	callback(line)
}

// finish waits for the end of the stream, which follows the exit closely, and then at most delay for the
// callback. It returns the tail.
func (e *stderr) finish() string {
	<-e.drained
	timer := time.NewTimer(e.delay)
	defer timer.Stop()
	select {
	case <-e.delivered:
	case <-timer.C:
		if e.lines != nil {
			e.lines.abandon()
		}
	}
	return e.last()
}

func (e *stderr) keep(p []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tail.write(p)
}

// last returns the tail so far, as plain text.
func (e *stderr) last() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return plain(e.tail.String())
}
