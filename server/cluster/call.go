package cluster

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/seed7221b0f9/parley/internal/random"
)

// Limits of calls between servers.
const (
	// MaxCall is the maximum size of a request and of an answer in bytes.
	MaxCall = 64 << 20
	// MaxCallTime is the timeout of a call whose context has no earlier deadline.
	MaxCallTime = 5 * time.Minute
	// maxServed limits the calls from other servers that this server receives or runs at a time.
	maxServed = 256
	// callPart is the size of one message in bytes. NATS must accept messages of twice that size.
	callPart = 256 << 10
)

var (
	// ErrUnreachable reports a server that does not answer. The server may have run the call, except if the error is
	// also [ErrNoNode].
	ErrUnreachable = errors.New("cluster: the server does not answer")
	// ErrNoNode reports a server that does not exist or is down. It has not run the call.
	ErrNoNode = errors.New("cluster: no such server")
	// ErrTooLarge reports a request or an answer larger than [MaxCall], or a server with too many calls.
	ErrTooLarge = errors.New("cluster: the call is too large, or the server has too many")
)

// Kinds of messages of a call.
const (
	kindCall   = "call"
	kindCancel = "cancel"
	kindBeat   = "beat" // the call is still running
	kindReply  = "reply"
	kindBusy   = "busy"
)

// Headers of a message.
const (
	headerKind  = "Parley-Kind"
	headerCall  = "Parley-Call"
	headerPart  = "Parley-Part"
	headerParts = "Parley-Parts"
	headerSent  = "Parley-Sent" // Unix seconds
)

// Handler answers a call from another server. The context ends when the caller cancels.
type Handler func(ctx context.Context, request []byte) []byte

// calls holds the calls from other servers that this server is answering.
type calls struct {
	handler Handler
	seal    sealer
	sub     *nats.Subscription

	mu     sync.Mutex
	open   map[string]*served // being received or run
	seen   replays
	closed bool
}

// served is a call from another server.
type served struct {
	parts  assembly
	timer  *time.Timer // ends a request that remains incomplete
	cancel context.CancelFunc
}

// assembly joins the parts of a request or an answer.
type assembly struct {
	data []byte
	next int
}

// add adds a part, which must be the next one, and reports whether it was the last one.
func (a *assembly) add(m message) (done bool, err error) {
	switch {
	case m.part != a.next || m.parts < 1 || m.parts > MaxCall/callPart+1:
		return false, fmt.Errorf("%w: part %d of %d came after %d", ErrUnreachable, m.part, m.parts, a.next)
	case len(a.data)+len(m.body) > MaxCall:
		return false, ErrTooLarge
	}
	a.data, a.next = append(a.data, m.body...), a.next+1
	return a.next == m.parts, nil
}

// message is a message of a call.
type message struct {
	kind, call  string
	sent        string
	part, parts int
	body        []byte
}

// place returns the name with which a message is authenticated.
func (m message) place(node string) string {
	return fmt.Sprintf("%s/%s/%s/%s/%d/%d", m.kind, node, m.call, m.sent, m.part, m.parts)
}

// send sends one message of a call or of its answer to a server.
func (c *Cluster) send(subject, reply, node string, m message) error {
	out := nats.NewMsg(subject)
	out.Reply = reply
	out.Header.Set(headerKind, m.kind)
	out.Header.Set(headerCall, m.call)
	out.Header.Set(headerSent, m.sent)
	out.Header.Set(headerPart, strconv.Itoa(m.part))
	out.Header.Set(headerParts, strconv.Itoa(m.parts))
	out.Data = c.calls.seal.seal(m.place(node), m.body)
	return c.nc.PublishMsg(out)
}

// sendAll sends a request or an answer in parts.
func (c *Cluster) sendAll(subject, reply, node string, m message, text []byte) error {
	if len(text) > MaxCall {
		return ErrTooLarge
	}
	m.parts = max(1, (len(text)+callPart-1)/callPart)
	for m.part = range m.parts {
		m.body = text[m.part*callPart : min(len(text), (m.part+1)*callPart)]
		if err := c.send(subject, reply, node, m); err != nil {
			return fmt.Errorf("%w: %v", ErrUnreachable, err)
		}
	}
	return nil
}

// receive decrypts a message to a server.
func (c *Cluster) receive(node string, in *nats.Msg) (message, error) {
	m := message{kind: in.Header.Get(headerKind), call: in.Header.Get(headerCall), sent: in.Header.Get(headerSent)}
	var err, errParts error
	m.part, err = strconv.Atoi(in.Header.Get(headerPart))
	m.parts, errParts = strconv.Atoi(in.Header.Get(headerParts))
	if errors.Join(err, errParts) != nil {
		return m, ErrSealed
	}
	m.body, err = c.calls.seal.open(m.place(node), in.Data)
	return m, err
}

func callSubject(node string) string { return "parley.call." + node }

// Call sends a request to a server and returns its answer. A server reports regularly while it runs the call, so that
// the caller detects its death within the time of a lease.
func (c *Cluster) Call(ctx context.Context, node string, request []byte) ([]byte, error) {
	if !validName(node) {
		return nil, ErrNoNode
	}
	ctx, cancel := context.WithTimeout(ctx, MaxCallTime)
	defer cancel()
	inbox := nats.NewInbox()
	answers := make(chan *nats.Msg, MaxCall/callPart+16)
	sub, err := c.nc.ChanSubscribe(inbox, answers)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrUnreachable, err)
	}
	defer sub.Unsubscribe()
	m := message{kind: kindCall, call: random.Hex(16), sent: strconv.FormatInt(time.Now().Unix(), 10)}
	if err := c.sendAll(callSubject(node), inbox, node, m, request); err != nil {
		return nil, err
	}
	answer, err := c.await(ctx, node, m.call, answers)
	if ctx.Err() != nil {
		m.kind, m.part, m.parts, m.body = kindCancel, 0, 1, nil
		_ = c.send(callSubject(node), "", node, m) // the call ends there without it, but later
	}
	return answer, err
}

// await collects the parts of an answer.
func (c *Cluster) await(ctx context.Context, node, call string, answers <-chan *nats.Msg) ([]byte, error) {
	var all assembly
	silence := time.NewTimer(c.ttl)
	defer silence.Stop()
	for {
		var in *nats.Msg
		select {
		case in = <-answers:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-c.ctx.Done():
			return nil, fmt.Errorf("%w: this server stops", ErrUnreachable)
		case <-silence.C:
			return nil, ErrUnreachable
		}
		if in.Header.Get("Status") == "503" { // NATS reports that no server listens
			return nil, ErrNoNode
		}
		m, err := c.receive(node, in)
		if err != nil || m.call != call {
			continue // a message of another sender
		}
		silence.Reset(c.ttl)
		switch m.kind {
		case kindBusy:
			return nil, ErrTooLarge
		case kindReply:
			if done, err := all.add(m); err != nil || done {
				return all.data, err
			}
		}
	}
}

// Serve answers the calls of other servers until Close.
func (c *Cluster) Serve(h Handler) (err error) {
	c.calls.mu.Lock()
	c.calls.handler, c.calls.open, c.calls.seen = h, map[string]*served{}, newReplays(time.Now())
	c.calls.mu.Unlock()
	if c.calls.sub, err = c.nc.Subscribe(callSubject(c.opts.Node), c.take); err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	return c.nc.Flush()
}

// stopListening cancels the calls from other servers and accepts no more.
func (c *Cluster) stopListening() {
	if c.calls.sub != nil {
		_ = c.calls.sub.Unsubscribe() // the connection may be closed
	}
	c.calls.mu.Lock()
	defer c.calls.mu.Unlock()
	c.calls.closed = true
	for id, s := range c.calls.open {
		s.timer.Stop()
		if s.cancel != nil {
			s.cancel()
		}
		delete(c.calls.open, id)
	}
}

// take handles a message to this server.
func (c *Cluster) take(in *nats.Msg) {
	m, err := c.receive(c.opts.Node, in)
	if err != nil {
		c.logger.Warn("a call was refused", "err", err)
		return
	}
	c.calls.mu.Lock()
	defer c.calls.mu.Unlock()
	s := c.calls.open[m.call]
	switch {
	case c.calls.closed:
		return
	case m.kind == kindCancel:
		if s != nil && s.cancel != nil {
			s.cancel()
		}
		return
	case m.kind != kindCall:
		return
	case s == nil:
		if s = c.begin(m, in.Reply); s == nil {
			return
		}
	case s.cancel != nil:
		return // a copy of a running request
	}
	done, err := s.parts.add(m)
	if err != nil {
		c.forget(m.call)
		c.logger.Warn("a call could not be received", "err", err)
		return
	}
	if !done {
		return
	}
	s.timer.Stop()
	ctx, cancel := context.WithTimeout(c.ctx, MaxCallTime)
	s.cancel = cancel
	c.wg.Go(func() { c.answer(ctx, m, s.parts.data, in.Reply) })
}

// begin registers a new call, unless there are too many calls or it is a copy. The caller holds the lock.
func (c *Cluster) begin(m message, reply string) *served {
	sent, err := strconv.ParseInt(m.sent, 10, 64)
	now := time.Now()
	fresh, full := c.calls.seen.accept(m.call, time.Unix(sent, 0), now)
	if err != nil || !fresh || m.part != 0 {
		c.logger.Warn("a call was refused: it was sent before, or the clocks of the servers differ", "age", now.Sub(time.Unix(sent, 0)))
		return nil
	}
	if len(c.calls.open) >= maxServed || full {
		_ = c.send(reply, "", c.opts.Node, message{kind: kindBusy, call: m.call, sent: m.sent, parts: 1}) // without this message the caller times out
		return nil
	}
	s := &served{timer: time.AfterFunc(c.ttl, func() {
		c.calls.mu.Lock()
		defer c.calls.mu.Unlock()
		if s := c.calls.open[m.call]; s != nil && s.cancel == nil {
			c.forget(m.call)
		}
	})}
	c.calls.open[m.call] = s
	return s
}

// forget removes a call. The caller holds the lock.
func (c *Cluster) forget(call string) {
	if s := c.calls.open[call]; s != nil {
		s.timer.Stop()
		delete(c.calls.open, call)
	}
}

// answer runs a call and sends its answer.
func (c *Cluster) answer(ctx context.Context, m message, request []byte, reply string) {
	ran := make(chan []byte, 1)
	c.wg.Go(func() { ran <- c.calls.handler(ctx, request) })
	beat := time.NewTicker(c.ttl / 4)
	defer beat.Stop()
	var err error
	for running := true; running; {
		select {
		case <-beat.C:
			_ = c.send(reply, "", c.opts.Node, message{kind: kindBeat, call: m.call, sent: m.sent, parts: 1}) // the next one or the answer follows
		case answer := <-ran:
			running = false
			err = c.sendAll(reply, "", c.opts.Node, message{kind: kindReply, call: m.call, sent: m.sent}, answer)
		}
	}
	if errors.Is(err, ErrTooLarge) {
		err = c.send(reply, "", c.opts.Node, message{kind: kindBusy, call: m.call, sent: m.sent, parts: 1})
	}
	if err != nil {
		c.logger.Warn("an answer was not sent", "err", err)
	}
	c.calls.mu.Lock()
	defer c.calls.mu.Unlock()
	if s := c.calls.open[m.call]; s != nil && s.cancel != nil {
		s.cancel()
	}
	c.forget(m.call)
}
