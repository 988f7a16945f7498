package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// helloTime limits the handshake of a connection, sendTime one write to an owner that does not read, lastTime one write
// at the end of the connection.
const (
	helloTime = 10 * time.Second
	sendTime  = 5 * time.Minute
	lastTime  = time.Second
)

// maxConns limits the connections, to reserve file descriptors for agents. maxQueued limits the bytes of answers and
// notices that wait for a peer that does not read.
const (
	maxConns  = 256
	maxQueued = 32 << 20
)

// conn is a connection of an owner or a guest.
type conn struct {
	h     *server
	conn  net.Conn
	guest bool
	parts map[uint32][]byte // incomplete lines to agents
	held  int               // the bytes of parts

	mu     sync.Mutex
	news   sync.Cond // on mu
	frames []byte    // queued answers and notices
	agents []*agent  // agents with data to send
	known  map[*agent]bool
	closed bool // closed after the queued data is sent
}

// serve serves a connection until it ends.
func (h *server) serve(nc net.Conn) {
	c := &conn{h: h, conn: nc, parts: map[uint32][]byte{}, known: map[*agent]bool{}}
	c.news.L = &c.mu
	h.mu.Lock()
	h.conns[c] = true
	h.mu.Unlock()
	var sending sync.WaitGroup
	sending.Go(c.send)
	err := c.receive()
	c.finish()
	sending.Wait()
	nc.Close()
	h.lose(c)
	h.log.Debug("a connection has ended", "err", err)
}

// receive handles the frames of the other side.
func (c *conn) receive() error {
	frames := &frameReader{r: c.conn}
	_ = c.conn.SetReadDeadline(time.Now().Add(helloTime))
	kind, payload, err := frames.next()
	if err != nil {
		return err
	}
	if err := c.hello(kind, payload); err != nil {
		return err
	}
	_ = c.conn.SetReadDeadline(time.Time{})
	for {
		kind, payload, err := frames.next()
		if err != nil {
			return err
		}
		if err := c.follow(kind, payload); err != nil {
			return err
		}
	}
}

// hello answers the handshake and makes this the owner's connection.
func (c *conn) hello(kind byte, payload []byte) error {
	var q request
	if kind != frameRequest || json.Unmarshal(payload, &q) != nil || q.Op != opHello {
		return errors.New("the connection does not begin with hello")
	}
	c.guest = q.Epoch == 0
	err := error(nil)
	switch {
	case q.Version < 1:
		err = fmt.Errorf("%w: %d", ErrVersion, q.Version)
	case !c.guest:
		err = c.h.take(c, q.Epoch)
	}
	if err != nil {
		c.answer(answer{ID: q.ID, Failure: failureOf(err)})
		return err
	}
	c.h.idleSince()
	info := c.h.describe()
	c.answer(answer{ID: q.ID, Version: min(q.Version, Version), Info: &info})
	return nil
}

func (h *server) describe() Info {
	h.owning.RLock()
	defer h.owning.RUnlock()
	info := h.info
	info.Epoch, info.Owned = h.epoch, h.owner != nil
	return info
}

// follow executes a frame. An error ends the connection.
func (c *conn) follow(kind byte, payload []byte) error {
	c.h.owning.RLock()
	defer c.h.owning.RUnlock()
	if !c.guest && c.h.owner != c {
		return ErrFenced
	}
	switch {
	case kind == frameRequest:
		var q request
		if err := json.Unmarshal(payload, &q); err != nil {
			return err
		}
		c.request(q)
		return nil
	case kind == frameWrite && !c.guest:
		return c.write(payload)
	case kind == frameGrant && !c.guest:
		return c.grant(payload)
	}
	return fmt.Errorf("unexpected frame of type %q", kind)
}

// write adds a part of a line to an agent.
func (c *conn) write(payload []byte) error {
	f := cursor{b: payload}
	number, flags, id := f.u32(), f.u8(), f.text()
	if f.bad || id == "" {
		return errors.New("invalid frame of a line to an agent")
	}
	if c.held+len(f.b) > maxInput {
		return fmt.Errorf("lines to agents exceed %d bytes", maxInput)
	}
	if flags&flagMore != 0 && len(f.b) == 0 {
		return errors.New("invalid frame of a line to an agent: empty part") // it would cost memory without a limit
	}
	before := c.parts[number]
	line := f.b
	if flags&flagMore != 0 || before != nil {
		line = append(before, f.b...)
	}
	if flags&flagMore != 0 {
		c.parts[number] = line
		c.held += len(f.b)
		return nil
	}
	delete(c.parts, number)
	c.held -= len(before)
	a, err := c.h.agent(number)
	info := InputInfo{ID: id, State: InputDropped}
	if err == nil {
		if kept, keepErr := a.write(id, line); keepErr == nil {
			info = kept
		}
	}
	c.notify(notice{Agent: number, Input: &info})
	return nil
}

// grant allows the host to send more of an agent's records, and discards those that the owner no longer needs.
func (c *conn) grant(payload []byte) error {
	f := cursor{b: payload}
	number, bytes, covered := f.u32(), f.u32(), f.u64()
	if f.bad {
		return errors.New("invalid grant")
	}
	a, err := c.h.agent(number)
	if err != nil {
		return nil // the agent was forgotten meanwhile
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.to.credit += int64(bytes)
	if covered > a.info.Checkpoint {
		a.cover(covered)
	}
	a.wake()
	return nil
}

// answer and notify queue a frame.
func (c *conn) answer(v answer) { c.queue(frameAnswer, v) }

func (c *conn) notify(v notice) { c.queue(frameNotice, v) }

func (c *conn) queue(kind byte, v any) {
	frame, err := jsonFrame(kind, v)
	if err != nil {
		c.h.log.Error("an answer cannot be sent", "err", err)
		c.abort()
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.frames)+len(frame) > maxQueued {
		c.h.log.Warn("a connection ends: its answers are not read", "bytes", len(c.frames))
		c.conn.Close()
		c.closed = true
	} else {
		c.frames = append(c.frames, frame...)
	}
	c.news.Signal()
}

// ready adds an agent to those with data to send.
func (c *conn) ready(a *agent) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.known[a] {
		c.known[a] = true
		c.agents = append(c.agents, a)
		c.news.Signal()
	}
}

// finish ends the connection when all queued data has been sent; abort ends it at once.
func (c *conn) finish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.news.Signal()
}

func (c *conn) abort() {
	c.conn.Close()
	c.finish()
}

// send sends queued data: answers first, then some of each agent's records in turn.
func (c *conn) send() {
	defer c.conn.Close() // ends receive
	for {
		c.mu.Lock()
		for len(c.frames) == 0 && len(c.agents) == 0 && !c.closed {
			c.news.Wait()
		}
		frames, agents, closed := c.frames, c.agents, c.closed
		c.frames, c.agents = nil, nil
		clear(c.known)
		c.mu.Unlock()
		if len(frames) == 0 && len(agents) == 0 && closed {
			return
		}
		limit := sendTime
		if closed {
			limit = lastTime
		}
		if !c.put(frames, limit) {
			return
		}
		for _, a := range agents {
			b, more := a.take(c)
			ok := c.put(b, limit)
			putBuffer(b)
			if !ok {
				return
			}
			if more {
				c.ready(a)
			}
		}
	}
}

func (c *conn) put(b []byte, limit time.Duration) bool {
	if len(b) == 0 {
		return true
	}
	_ = c.conn.SetWriteDeadline(time.Now().Add(limit))
	_, err := c.conn.Write(b)
	return err == nil
}
