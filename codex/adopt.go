package codex

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/spawn"
)

// Adoption describes a server that another process has started and left running under a host.
type Adoption struct {
	// Process is the server. Its lines start with the first line that it wrote.
	Process spawn.LineProcess
	// Last is the number of the last line so far.
	Last uint64
}

// Line is one line between a client and a server that a host keeps.
type Line struct {
	// Number counts the lines of both directions together.
	Number uint64
	// Past is set for a line of an earlier process.
	Past bool
	// Input is set for a line to the server.
	Input bool
	// Value is the decoded line, nil if it cannot be decoded.
	Value item.Line
	// Size is the length of the line in bytes.
	Size int
}

// Adopt returns a client for a server that another process has connected to and left, with the same options. It starts no
// process and writes no line: the lines so far restore the threads, the turns and the requests. Open requests are passed to
// the callbacks of opts; each is answered once, by either process. ctx bounds the time until the answer to the handshake is
// read. Prompts that the other process had queued are lost, and calls of its tools fail. After an error the server is
// ended.
func Adopt(ctx context.Context, opts *Options, a Adoption) (*Client, error) {
	o := opts.withDefaults()
	ctx, cancel := context.WithTimeout(ctx, o.HandshakeTimeout)
	defer cancel()
	sup, err := proc.Start(ctx, spawn.Command{}, proc.Options{Spawner: proc.Adopted(a.Process), OnStderr: o.OnStderr, CloseGrace: o.CloseGrace})
	if err != nil {
		return nil, errors.Join(err, a.Process.Kill())
	}
	c := newClient(o, sup, a.Process, max(a.Last, 1))
	select {
	case <-c.greeted:
		return c, nil
	case <-c.conn.Past():
		err = errNoHandshake
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	select {
	case <-c.greeted: // with the last line
		return c, nil
	default:
	}
	_ = sup.Kill()
	_ = c.Close()
	return nil, &HandshakeError{Err: err}
}

var errNoHandshake = errors.New("the lines of the server lack the handshake")

// Thread returns a thread that this client, or the process before it, has opened. After [Adopt] it waits until the
// earlier lines are read. The error is [ErrNoThread] for an unknown id.
func (c *Client) Thread(ctx context.Context, id string) (*Thread, error) {
	for {
		var t *Thread
		var changed <-chan struct{}
		c.update(func(r *routes) {
			if s := r.threads[id]; s != nil {
				t = s.handle
			}
			changed = r.opened
		})
		if t != nil {
			return t, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-c.conn.Past():
			c.update(func(r *routes) {
				if s := r.threads[id]; s != nil {
					t = s.handle
				}
			})
			if t == nil {
				return nil, ErrNoThread
			}
			return t, nil
		}
	}
}

// newConn connects to the server; if a host keeps the server's lines, it reads numbered lines.
func (c *Client) newConn(lines spawn.LineProcess, last uint64, ready <-chan struct{}, opts jsonrpc.Options) *jsonrpc.Conn {
	if lines == nil {
		opts.Observe, opts.Sent = c.observed, c.sent
		return jsonrpc.New(c.sup.Stdout(), c.sup.Stdin(), opts)
	}
	begin := func(l jsonrpc.Line) {
		<-ready
		c.line(l)
	}
	return jsonrpc.NewLines(jsonrpc.Lines{Process: lines, Last: last, Begin: begin, Called: c.called, Held: c.held}, c.sup.Stdin(), opts)
}

// line passes a numbered line to the observers.
func (c *Client) line(l jsonrpc.Line) {
	decode := item.DecodeServer
	if l.Input {
		decode = item.DecodeClient
	}
	out := Line{Number: l.Number, Past: l.Past, Input: l.Input, Size: len(l.Text)}
	if v, err := decode([]byte(l.Text)); l.Text != "" && err == nil {
		out.Value = v
	}
	c.observing.Lock()
	defer c.observing.Unlock()
	if c.opts.Observe != nil && out.Value != nil {
		c.opts.Observe(out.Value, l.Input)
	}
	if c.opts.OnLine != nil {
		c.opts.OnLine(out)
	}
}

// held stores a request of the server that is open until a later line ends it.
func (c *Client) held(m *jsonrpc.Message) {
	l, err := item.DecodeServer([]byte(m.Raw))
	req, ok := l.(item.Request)
	if err != nil || !ok {
		return // it is answered with an error
	}
	id := req.Head().ID
	a := &ask{turnID: req.Head().TurnID, cancel: func(error) {
		c.conn.Withdraw(m.ID)
		c.update(func(r *routes) { delete(r.asks, id) })
	}}
	c.update(func(r *routes) { r.asks[id] = a })
}

// called returns the effect of the answer to a request of another process.
func (c *Client) called(m *jsonrpc.Message) func(json.RawMessage, error) {
	var p struct {
		ThreadID string `json:"threadId"`
	}
	_ = item.DecodeValue(item.JSON(m.Params), &p) // without a thread it opens one
	switch m.Method {
	case "initialize":
		return func(result json.RawMessage, err error) {
			if err == nil && decodeResult(result, &c.info) == nil {
				c.greet()
			}
		}
	case "thread/start", "thread/resume", "thread/fork":
		t := &Thread{client: c}
		return func(result json.RawMessage, err error) {
			if err == nil && decodeResult(result, &t.info) == nil {
				c.opened(t)
			}
		}
	case "turn/start", "review/start":
		return c.restoreTurn(p.ThreadID)
	case "thread/compact/start":
		return c.restoreCompaction(p.ThreadID)
	}
	return nil
}

// restoring returns the thread of a request of another process, with a turn that has no reader.
func (c *Client) restoring(threadID string, change func(s *threadState, turn *Turn)) (t *Thread, turn *Turn) {
	c.update(func(r *routes) {
		if s := r.threads[threadID]; s != nil && s.handle != nil {
			t = s.handle
			turn = t.newTurn(nil)
			change(s, turn)
		}
	})
	if turn != nil {
		turn.Discard()
	}
	return t, turn
}

func (c *Client) restoreTurn(threadID string) func(json.RawMessage, error) {
	t, turn := c.restoring(threadID, func(s *threadState, _ *Turn) { s.sending = true })
	if t == nil {
		return nil
	}
	return func(result json.RawMessage, err error) {
		var answer turnAnswer
		if err == nil {
			err = decodeResult(result, &answer)
		}
		c.update(func(r *routes) { r.threads[t.id].begun(turn, answer.Turn.ID, err) })
		if err != nil {
			t.pump()
		}
	}
}

func (c *Client) restoreCompaction(threadID string) func(json.RawMessage, error) {
	t, turn := c.restoring(threadID, func(s *threadState, turn *Turn) { s.sending, s.expected = true, turn })
	if t == nil {
		return nil
	}
	return func(_ json.RawMessage, err error) {
		if err != nil {
			t.unexpect(turn)
			t.pump()
		}
	}
}

// settled waits until the lines of another process were read.
func (c *Client) settled(ctx context.Context) error {
	select {
	case <-c.conn.Past():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// greeting returns a channel and the function that closes it.
func greeting() (<-chan struct{}, func()) {
	ch := make(chan struct{})
	return ch, sync.OnceFunc(func() { close(ch) })
}
