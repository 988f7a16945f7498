package jsonrpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
	"github.com/seed7221b0f9/parley/internal/ndjson"
)

// arrival is an item to dispatch.
type arrival struct {
	msg   *Message
	batch *batch // batch of the message, nil outside of a batch
	line  string // a line that is not JSON-RPC; err is the reason
	err   error
	size  int

	number uint64    // of the line, 0 without a host
	input  bool      // the line was written to the peer
	parts  []arrival // of a line that a host has numbered
}

// arrivalCost is the overhead of an arrival in addition to its bytes.
const arrivalCost = 128

// read queues lines until the stream ends. It runs no callbacks.
func (c *Conn) read() {
	r := ndjson.NewReader(c.src, c.opts.MaxLine)
	for {
		line, err := r.Next()
		if err != nil {
			c.readFailed(err)
			return
		}
		for _, a := range c.arrivals(line) {
			if !c.enqueue(a) {
				break // closed: further input is discarded
			}
		}
	}
}

// readFailed ends the connection after the queue has been dispatched, so that calls get
// queued answers. A call that the dispatcher itself waits for fails at once.
func (c *Conn) readFailed(err error) {
	var urgent []*call
	c.update(func(s *state) {
		s.readEnd = err
		for id, p := range s.pending {
			if p.urgent {
				delete(s.pending, id)
				urgent = append(urgent, p)
			}
		}
		c.changed.Broadcast()
	})
	for _, p := range urgent {
		p.end("", err)
	}
	<-c.ended
	c.fail(err)
	_ = c.w.Close() // The peer does not answer any more.
}

// arrivals decodes a line: one message, or those of a batch.
func (c *Conn) arrivals(line ndjson.Line) []arrival {
	size := len(line.Text) + arrivalCost
	if line.TooLong {
		return []arrival{{line: line.Text, err: TooLong(line.Size, c.opts.MaxLine), size: size}}
	}
	d := jsonwire.NewDecoder(line.Text)
	if d.Kind() == '[' {
		return c.batchArrivals(line.Text)
	}
	m, err := decode(line.Text)
	if at := strings.LastIndex(line.Text, `{"jsonrpc":`); err != nil && c.opts.Embedded && at > 0 {
		if inner, innerErr := decode(strings.TrimSpace(line.Text[at:])); innerErr == nil {
			return []arrival{{line: line.Text[:at], err: fmt.Errorf("jsonrpc: text before a message: %w", err), size: arrivalCost}, {msg: inner, line: inner.Raw, size: size}}
		}
	}
	if err != nil {
		return []arrival{{line: line.Text, err: fmt.Errorf("jsonrpc: reading a line: %w", err), size: size}}
	}
	return []arrival{{msg: m, line: line.Text, size: size}}
}

// enqueue waits for room. It returns false after the end of the connection.
func (c *Conn) enqueue(a arrival) (ok bool) {
	if a.msg != nil && a.msg.IsAnswer() && c.answerUrgent(a.msg) {
		return true
	}
	c.update(func(s *state) {
		for s.queued > c.opts.MaxBuffered && s.urgent == 0 && s.cause == nil {
			c.changed.Wait()
		}
		if ok = s.cause == nil; ok {
			s.queue = append(s.queue, a)
			s.queued += a.size
			c.changed.Broadcast()
		}
	})
	return ok
}

// dispatch runs callbacks in the order of the wire.
func (c *Conn) dispatch() {
	defer close(c.ended)
	defer c.abandonPast()
	for {
		a, ok := c.next()
		if !ok {
			c.finishAnswers()
			return
		}
		if c.lines != nil {
			c.deliverLine(a)
		} else {
			c.deliver(a)
		}
	}
}

// finishAnswers waits for handlers after the peer has ended its stream, see Options.FinishTime.
func (c *Conn) finishAnswers() {
	if c.opts.FinishTime <= 0 {
		return
	}
	late := false
	timer := time.AfterFunc(c.opts.FinishTime, func() {
		c.update(func(*state) { late = true; c.changed.Broadcast() })
	})
	defer timer.Stop()
	c.update(func(s *state) {
		for s.answers > 0 && s.cause == nil && errors.Is(s.readEnd, io.EOF) && !late {
			c.changed.Wait()
		}
	})
}

// next waits for the next arrival. It returns false at the end.
func (c *Conn) next() (a arrival, ok bool) {
	c.update(func(s *state) {
		for len(s.queue) == 0 && s.readEnd == nil && s.cause == nil {
			c.changed.Wait()
		}
		if ok = len(s.queue) > 0 && s.cause == nil; !ok {
			s.queue = nil
			return
		}
		a = s.queue[0]
		s.queue[0] = arrival{}
		s.queue = s.queue[1:]
		s.queued -= a.size
		c.changed.Broadcast()
	})
	return a, ok
}

func (c *Conn) deliver(a arrival) {
	m := a.msg
	if m != nil && c.opts.Observe != nil {
		c.guarded(m.Method, func() { c.opts.Observe(m) })
	}
	long, tooLong := a.err.(*Error)
	switch {
	case tooLong:
		c.tooLong(a, long)
	case m == nil:
		c.stray(a, &Error{Code: CodeParse, Message: "Parse error"})
	case m.IsRequest():
		c.request(m, a.batch)
	case m.IsNotification():
		c.notification(m)
	case m.IsAnswer():
		if !c.answered(m) {
			c.strayAnswer(m)
		}
	case m.Method == "" && c.answered(m): // with neither result nor error
	default:
		a.line, a.err = m.Raw, errors.New("jsonrpc: the message is neither a request nor an answer")
		c.stray(a, &Error{Code: CodeInvalidRequest, Message: "Invalid Request"})
	}
}

func (c *Conn) strayAnswer(m *Message) {
	if c.opts.Stray != nil {
		c.guarded("", func() { c.opts.Stray(m.Raw, m, nil) })
	}
}

// tooLong handles a message over the limit: a request is answered with an error, and an answer fails its call.
func (c *Conn) tooLong(a arrival, err *Error) {
	cut := ReadCut(a.line)
	if c.opts.Stray != nil {
		c.guarded("", func() { c.opts.Stray(a.line, nil, err) })
	}
	if !cut.Method {
		if p := c.take(cut.ID); p != nil {
			p.end("", err)
			return
		}
	}
	if c.opts.AnswerStray {
		c.reply(a.batch, answerName(a.number), c.enc.answer(cut.RequestID(), nil, err))
	}
}

// stray reports a line that is not JSON-RPC, and answers it if the options require that.
func (c *Conn) stray(a arrival, answer *Error) {
	if c.opts.Stray != nil {
		c.guarded("", func() { c.opts.Stray(a.line, nil, a.err) })
	}
	if errors.Is(a.err, errNotObject) || errors.Is(a.err, errEmptyBatch) {
		answer = &Error{Code: CodeInvalidRequest, Message: "Invalid Request"}
	}
	if c.opts.AnswerStray {
		c.reply(a.batch, answerName(a.number), c.enc.answer("null", nil, answer))
	}
}

// inNotify marks the context of a notification's callback.
type inNotify struct{}

func (c *Conn) notification(m *Message) {
	if m.Method == c.opts.CancelMethod && c.opts.CancelMethod != "" {
		c.cancelled(m)
	}
	if c.opts.Notify == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.WithValue(c.ctx, inNotify{}, c))
	defer cancel()
	c.guarded(m.Method, func() { c.opts.Notify(ctx, m) })
}
