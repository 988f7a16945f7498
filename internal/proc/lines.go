package proc

import (
	"bytes"
	"fmt"
	"sync"
	"unicode"
	"unicode/utf8"
)

const (
	maxLine  = 64 << 10 // the longest line that is not split
	maxQueue = 1 << 20  // limit of the lines that wait for the callback, in bytes
	lineCost = 16       // overhead of a line in addition to its bytes
)

// splitter splits its input into lines. Emitted lines are valid only during the call.
type splitter struct {
	emit    func(line []byte)
	partial []byte
}

func (s *splitter) write(p []byte) {
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			break
		}
		s.add(p[:i])
		s.flush()
		p = p[i+1:]
	}
	s.add(p)
}

// add appends p to the line and emits whatever exceeds maxLine.
func (s *splitter) add(p []byte) {
	s.partial = append(s.partial, p...)
	for len(s.partial) > maxLine {
		n := runeCut(s.partial, maxLine)
		s.pass(s.partial[:n])
		s.partial = append(s.partial[:0], s.partial[n:]...)
	}
}

// runeCut returns n, or less if n would split a character.
func runeCut(p []byte, n int) int {
	for i := n; i > n-utf8.UTFMax; i-- {
		if utf8.RuneStart(p[i]) {
			return i
		}
	}
	return n
}

// flush emits the rest of the line.
func (s *splitter) flush() {
	s.pass(s.partial)
	s.partial = s.partial[:0]
}

func (s *splitter) pass(line []byte) {
	if line = bytes.TrimRightFunc(line, unicode.IsSpace); len(line) > 0 {
		s.emit(line)
	}
}

// lineQueue is the queue between the reader of stderr, which never blocks, and the callback, which may
// be slow.
type lineQueue struct {
	mu      sync.Mutex
	ready   sync.Cond
	lines   []string
	size    int // bytes, with lineCost
	dropped int
	closed  bool
}

func newLineQueue() *lineQueue {
	q := &lineQueue{}
	q.ready.L = &q.mu
	return q
}

// push adds a line and drops the oldest ones if the queue is full.
func (q *lineQueue) push(line string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	q.lines = append(q.lines, line)
	q.size += len(line) + lineCost
	for q.size > maxQueue && len(q.lines) > 1 {
		q.pop()
		q.dropped++
	}
	q.ready.Signal()
}

func (q *lineQueue) pop() string {
	line := q.lines[0]
	q.lines[0] = ""
	q.lines = q.lines[1:]
	q.size -= len(line) + lineCost
	return line
}

// next waits for a line. It returns false when the queue is closed and empty.
func (q *lineQueue) next() (string, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.lines) == 0 && !q.closed {
		q.ready.Wait()
	}
	if n := q.dropped; n > 0 {
		q.dropped = 0
		return fmt.Sprintf("[%d lines of stderr dropped: the callback is slow]", n), true
	}
	if len(q.lines) == 0 {
		return "", false
	}
	return q.pop(), true
}

// close marks the end of the lines.
func (q *lineQueue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.ready.Signal()
}

// abandon closes the queue and drops the waiting lines.
func (q *lineQueue) abandon() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed, q.lines, q.size, q.dropped = true, nil, 0, 0
	q.ready.Signal()
}
