package jsonrpc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// incoming is a request of the peer that is being handled.
type incoming struct {
	cancel  context.CancelCauseFunc
	awaited bool // the end of the peer's stream does not end the handler at once
}

// Then is a result with a function to run after the answer has been written, such as to
// send a notification that must follow it. In a batch the answer may still be pending.
type Then struct {
	Result any
	Do     func()
}

// request starts the handler of a request.
func (c *Conn) request(m *Message, b *batch) {
	switch {
	case c.holds(m, b):
	case c.lines != nil:
		c.lines.start = append(c.lines.start, func() { c.startRequest(m, b) })
	default:
		c.startRequest(m, b)
	}
}

func (c *Conn) startRequest(m *Message, b *batch) {
	ctx, cancel := context.WithCancelCause(c.ctx)
	in := &incoming{cancel: cancel, awaited: c.opts.FinishTime > 0 && (c.opts.Endless == nil || !c.opts.Endless(m))}
	started := false
	c.update(func(s *state) {
		if started = s.cause == nil && s.handlers < c.opts.MaxRequests; started {
			s.handlers++
			if in.awaited {
				s.answers++
			}
			s.handling[m.ID] = append(s.handling[m.ID], in)
			c.work.Go(func() { c.serve(ctx, m, in, b) })
		}
	})
	if !started {
		cancel(nil)
		c.reply(b, answerName(m.Line), c.enc.answer(m.ID, nil, &Error{Code: CodeOverloaded, Message: "Too many requests at once"}))
	}
}

func (c *Conn) serve(ctx context.Context, m *Message, in *incoming, b *batch) {
	var result any
	err := fmt.Errorf("the handler of %s ended its goroutine", m.Method) // by runtime.Goexit
	defer func() {
		if cause := context.Cause(ctx); cause == error(errCancelled) && err != nil && errors.Is(err, context.Canceled) {
			err = errCancelled
		}
		c.finish(m.ID, in)
		then, ok := result.(*Then)
		if ok {
			result = then.Result
		}
		c.reply(b, answerName(m.Line), c.enc.answer(m.ID, result, err))
		if ok && then.Do != nil {
			c.guarded(m.Method, then.Do)
		}
		if in.awaited {
			c.update(func(s *state) { s.answers--; c.changed.Broadcast() })
		}
	}()
	if c.opts.Handle == nil {
		err = MethodNotFound(m.Method)
		return
	}
	if v := c.guarded(m.Method, func() { result, err = c.opts.Handle(ctx, m) }); v != nil {
		result, err = nil, fmt.Errorf("the handler of %s panicked: %v", m.Method, v)
	}
}

// finish removes a request that has been handled.
func (c *Conn) finish(id ID, in *incoming) {
	c.update(func(s *state) {
		s.handlers--
		list := slices.DeleteFunc(s.handling[id], func(o *incoming) bool { return o == in })
		if len(list) == 0 {
			delete(s.handling, id)
		} else {
			s.handling[id] = list
		}
	})
	in.cancel(nil)
}

// cancelled ends the contexts of cancelled requests. They are still answered with the
// results of their handlers.
func (c *Conn) cancelled(m *Message) {
	var params struct {
		RequestID text `json:"requestId"`
	}
	if jsonwire.Unmarshal(m.Params, &params) != nil {
		return
	}
	c.cancelRequest(ID(params.RequestID))
}

func (c *Conn) cancelRequest(id ID) {
	if c.lines != nil {
		for _, h := range c.lines.held {
			h.cancelled = h.cancelled || h.msg.ID == id
		}
	}
	c.update(func(s *state) {
		for _, in := range s.handling[id] {
			in.cancel(errCancelled)
		}
	})
}

// reply sends an answer, or adds it to the answer of its batch. It ignores write errors,
// because Err reports the end of the connection.
func (c *Conn) reply(b *batch, name string, line []byte) {
	if b != nil {
		if line = b.add(line); line == nil {
			return
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.opts.WriteTimeout)
	defer cancel()
	_ = c.write(ctx, name, line)
}

// errEmptyBatch is the error of an array without messages.
var errEmptyBatch = errors.New("jsonrpc: an empty batch")

// batch collects the answers to the messages of one array.
type batch struct {
	mu   sync.Mutex
	left int // number of missing answers
	line []byte
}

// add keeps an answer and returns the whole array when it is complete.
func (b *batch) add(answer []byte) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.line == nil {
		b.line = []byte{'['}
	} else {
		b.line = append(b.line, ',')
	}
	b.line = append(b.line, answer...)
	if b.left--; b.left > 0 {
		return nil
	}
	return append(b.line, ']')
}

// batchArrivals splits an array into its elements, valid or not.
func (c *Conn) batchArrivals(line string) []arrival {
	var list []arrival
	b := &batch{}
	d := jsonwire.NewDecoder(line)
	for e := d.Elements(); e.Next(); {
		part := d.Text()
		if d.Err() != nil {
			break
		}
		m, err := decode(part)
		list = append(list, arrival{msg: m, batch: b, line: part, err: err, size: len(part) + arrivalCost})
		if stray := err != nil || !m.IsRequest() && !m.IsNotification() && !m.IsAnswer(); stray && c.opts.AnswerStray || !stray && m.IsRequest() {
			b.left++
		}
	}
	if err := d.End(); err != nil {
		return []arrival{{line: line, err: fmt.Errorf("jsonrpc: reading a batch: %w", err), size: len(line) + arrivalCost}}
	}
	if len(list) == 0 {
		return []arrival{{line: line, err: errEmptyBatch, size: len(line) + arrivalCost}}
	}
	return list
}
