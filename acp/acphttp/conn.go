package acphttp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

// conn is a connection of a client: its agent, and the messages that wait for a reader.
type conn struct {
	id, owner string
	opts      *Options
	socket    *socket // nil over HTTP
	ctx       context.Context
	end       context.CancelCauseFunc
	in        *io.PipeWriter
	done      chan struct{} // closed when the agent has ended

	inbound sync.Mutex // held while a line is written to the agent
	partial []byte     // an incomplete line of the agent, used only by its writer

	mu      sync.Mutex
	routes  routes
	initID  string // id of the initialize request until it is answered
	initial chan []byte
	streams map[string]*stream
	waiting int           // bytes in streams
	room    chan struct{} // closed when bytes were taken; nil if no one waits
	uses    int           // number of requests that currently use the connection
	idle    *time.Timer
}

// stream holds messages of the agent until they are read.
type stream struct {
	queue [][]byte
	read  bool          // the stream has a reader
	wake  chan struct{} // has an element when there is something to read
}

// The reasons for the end of a connection.
var (
	errDeleted = errors.New("acphttp: the client ended the connection")
	errStalled = errors.New("acphttp: the client does not read")
	errStreams = errors.New("acphttp: too many streams without a reader")
	errIdle    = errors.New("acphttp: the connection was not used")
	errClosed  = errors.New("acphttp: the server is stopping")
)

// run runs the agent until it or the connection ends.
func (c *conn) run(agent Agent, r *io.PipeReader) {
	defer close(c.done)
	stop := context.AfterFunc(c.ctx, func() { _ = c.in.Close() })
	defer stop()
	err := agent(c.ctx, r, (*output)(c))
	_ = r.CloseWithError(io.ErrClosedPipe)
	if err != nil && c.ctx.Err() == nil {
		c.opts.Logger.Warn("an agent ended", "err", err)
	}
}

// give writes a message to the agent.
func (c *conn) give(line []byte) error {
	c.inbound.Lock()
	defer c.inbound.Unlock()
	_, err := c.in.Write(append(line[:len(line):len(line)], '\n'))
	return err
}

// output receives the lines of the agent.
type output conn

// Write accepts output of the agent. It blocks while too many bytes wait for the client.
func (o *output) Write(p []byte) (int, error) {
	c := (*conn)(o)
	c.partial = append(c.partial, p...)
	for {
		line, rest, ok := bytes.Cut(c.partial, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		if err := c.deliver(bytes.Clone(line)); err != nil {
			return 0, err
		}
		if c.partial = rest; len(rest) == 0 {
			c.partial = nil // releases the memory of a long line
		}
	}
}

// Close has no effect, because the end of the agent ends its output.
func (o *output) Close() error { return nil }

// deliver passes a line of the agent to its stream or socket.
func (c *conn) deliver(line []byte) error {
	m, err := parse(line)
	if err != nil {
		c.opts.Logger.Warn("an agent wrote a line that is not a message", "err", err)
		return nil
	}
	c.mu.Lock()
	key := c.routes.route(&m)
	first := m.isAnswer() && c.initID != "" && m.id == c.initID
	if first {
		c.initID = ""
	}
	c.mu.Unlock()
	if c.socket != nil { // the messages that follow must not arrive before the first answer
		err = c.socket.send(m.line)
	}
	switch {
	case first:
		c.initial <- m.line
		return err
	case c.socket != nil:
		return err
	}
	if err := c.push(key, m.line); err != nil {
		c.end(err)
		return err
	}
	return c.waitRoom(c.ctx)
}

// push queues a message on a stream.
func (c *conn) push(key string, line []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, err := c.stream(key)
	if err != nil {
		return err
	}
	s.queue = append(s.queue, line)
	c.waiting += len(line)
	signal(s.wake)
	return nil
}

// stream returns a stream and creates it if necessary.
func (c *conn) stream(key string) (*stream, error) {
	if s := c.streams[key]; s != nil {
		return s, nil
	}
	unread := 0
	for _, s := range c.streams {
		if !s.read {
			unread++
		}
	}
	if unread >= c.opts.MaxStreams {
		return nil, errStreams
	}
	s := &stream{wake: make(chan struct{}, 1)}
	c.streams[key] = s
	return s, nil
}

func signal(wake chan struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

// waitRoom blocks while too many bytes wait for the client. It ends the connection of a client that reads
// nothing in time.
func (c *conn) waitRoom(ctx context.Context) error {
	var stalled *time.Timer
	for {
		c.mu.Lock()
		if c.waiting < c.opts.MaxWaiting || c.ctx.Err() != nil {
			c.mu.Unlock()
			return context.Cause(c.ctx)
		}
		if c.room == nil {
			c.room = make(chan struct{})
		}
		room := c.room
		c.mu.Unlock()
		if stalled == nil {
			stalled = time.NewTimer(c.opts.Stall)
			defer stalled.Stop()
		} else {
			stalled.Reset(c.opts.Stall)
		}
		select {
		case <-room:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-c.ctx.Done():
		case <-stalled.C:
			c.end(errStalled)
		}
	}
}

// acquire makes the caller the reader of a stream. It returns nil if the stream has one.
func (c *conn) acquire(key string) (*stream, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, err := c.stream(key)
	if err != nil || s.read || c.socket != nil {
		return nil, err
	}
	s.read = true
	signal(s.wake)
	return s, nil
}

// release ends the reading of a stream. An empty one is forgotten.
func (c *conn) release(key string, s *stream) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.read = false
	if len(s.queue) == 0 && c.streams[key] == s {
		delete(c.streams, key)
	}
}

// takeBytes is the number of bytes that a reader takes at once; it takes at least one message.
const takeBytes = 64 << 10

// take removes and returns the oldest messages of a stream.
func (c *conn) take(s *stream) (lines [][]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := 0
	for len(s.queue) > 0 && taken < takeBytes {
		lines = append(lines, s.queue[0])
		taken += len(s.queue[0])
		s.queue[0] = nil
		s.queue = s.queue[1:]
	}
	if len(s.queue) == 0 {
		s.queue = nil
	}
	c.waiting -= taken
	if taken > 0 && c.room != nil {
		close(c.room)
		c.room = nil
	}
	return lines
}

// use marks the connection as busy until the returned function is called.
func (c *conn) use() (done func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.uses++
	if c.idle != nil {
		c.idle.Stop()
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.uses--; c.uses == 0 {
			c.idle = time.AfterFunc(c.opts.Idle, func() { c.expire() })
		}
	}
}

// expire ends the connection unless it is in use.
func (c *conn) expire() {
	c.mu.Lock()
	used := c.uses > 0
	c.mu.Unlock()
	if !used {
		c.end(errIdle)
	}
}
