package jsonrpc

import (
	"cmp"
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"time"
)

// cancelTime limits the sending of a cancellation.
const cancelTime = 5 * time.Second

// call is an outgoing request that waits for its answer.
type call struct {
	done   chan struct{}
	once   sync.Once
	then   func(result json.RawMessage, err error)
	urgent bool
	result json.RawMessage
	err    error
}

// end ends the call; only the first end counts.
func (p *call) end(result string, err error) {
	p.once.Do(func() {
		if err == nil {
			p.result = json.RawMessage(result)
		}
		p.err = err
		if p.then != nil {
			p.then(p.result, p.err)
		}
		close(p.done)
	})
}

// Call sends a request and waits for the answer. An error answer is an *[Error]. If ctx
// ends first, Call sends a cancellation, if the protocol has one, and fails with the
// cause of ctx; a late answer goes to Options.Stray.
func (c *Conn) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	return c.CallThen(ctx, method, params, nil)
}

// CallThen is like Call with a function that is called once with the outcome, before
// messages that arrived after the answer are dispatched. It must not block.
func (c *Conn) CallThen(ctx context.Context, method string, params any, then func(json.RawMessage, error)) (json.RawMessage, error) {
	id, p, err := c.register(ctx, then)
	if err != nil {
		if then != nil {
			then(nil, err)
		}
		return nil, err
	}
	line, err := c.enc.request(id, method, params)
	if err == nil {
		err = c.write(ctx, callName(id), line)
	}
	if err != nil {
		return c.giveUp(ctx, id, p, err, ctx.Err() != nil)
	}
	select {
	case <-p.done:
		return p.result, p.err
	case <-ctx.Done():
		return c.giveUp(ctx, id, p, context.Cause(ctx), true)
	}
}

// register adds the call before it is written, because the answer may arrive before the
// write returns.
func (c *Conn) register(ctx context.Context, then func(json.RawMessage, error)) (id ID, p *call, err error) {
	if ctx.Err() != nil {
		return "", nil, context.Cause(ctx)
	}
	if err := c.waitPast(ctx); err != nil {
		return "", nil, err
	}
	p = &call{done: make(chan struct{}), then: then, urgent: ctx.Value(inNotify{}) == c}
	c.update(func(s *state) {
		if err = s.cause; err == nil && p.urgent {
			err = s.readEnd // no answer will come in time
		}
		if err != nil {
			return
		}
		s.nextID++
		id = ID(strconv.FormatInt(s.nextID, 10))
		s.pending[id] = p
		if p.urgent {
			s.urgent++
			c.changed.Broadcast()
		}
	})
	return id, p, err
}

// giveUp ends a call with err, unless it was answered, and sends the cancellation.
func (c *Conn) giveUp(ctx context.Context, id ID, p *call, err error, cancel bool) (json.RawMessage, error) {
	if c.take(id) == nil {
		<-p.done
		return p.result, p.err
	}
	p.end("", err)
	if cancel && c.opts.CancelMethod != "" {
		c.spawn(func() {
			ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
			defer stop()
			// The call has already failed, so an error of the cancellation is ignored.
			_ = c.Notify(ctx, c.opts.CancelMethod, cancelParams{json.RawMessage(id)})
		})
	}
	return p.result, p.err
}

type cancelParams struct {
	RequestID json.RawMessage `json:"requestId"`
}

// spawn runs f in a goroutine that Wait waits for, unless the connection has ended.
func (c *Conn) spawn(f func()) {
	c.update(func(s *state) {
		if s.cause == nil {
			c.work.Go(f)
		}
	})
}

// take removes and returns a pending call, or returns nil for an unknown id.
func (c *Conn) take(id ID) (p *call) {
	c.update(func(s *state) {
		if p = s.pending[id]; p != nil {
			delete(s.pending, id)
			if p.urgent {
				s.urgent--
			}
		}
	})
	return p
}

// answered passes an answer to its call, null for one without a result. It returns false if no call waits for it.
func (c *Conn) answered(m *Message) bool {
	p := c.take(m.ID)
	if p == nil {
		return false
	}
	if m.Error != nil {
		p.end("", m.Error)
	} else {
		p.end(cmp.Or(m.Result, "null"), nil)
	}
	return true
}

// answerUrgent answers, in the reader, a call that the dispatcher waits for.
func (c *Conn) answerUrgent(m *Message) bool {
	urgent := false
	c.update(func(s *state) {
		p := s.pending[m.ID]
		urgent = p != nil && p.urgent
	})
	return urgent && c.answered(m)
}
