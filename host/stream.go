package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// errClosed is returned by a stream that the caller has closed.
var errClosed = os.ErrClosed

// stdout is the output of an agent.
type stdout struct{ p *Process }

// Read returns the output of the agent, including line feeds.
func (s stdout) Read(b []byte) (int, error) {
	p := s.p
	n, err := p.readOutput(b)
	if err == io.EOF {
		p.forgetPlain()
	}
	return n, err
}

func (p *Process) readOutput(b []byte) (n int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for n == 0 && len(b) > 0 {
		if p.ended {
			p.setResting()
			return 0, io.EOF
		}
		if !p.peek() {
			p.setResting()
		}
		if err := p.await(context.Background()); err != nil {
			return 0, err
		}
		p.resting = false
		for n < len(b) && !p.ended && p.peek() { // as many lines as available
			first := &p.first
			if first.Kind == Output {
				m := copy(b[n:], first.Data)
				first.Data = first.Data[m:]
				n += m
			}
			if first.Kind != Output || len(first.Data) == 0 {
				p.pop()
			}
		}
	}
	return n, nil
}

// setResting records that the reader has read all output that has arrived. The caller holds mu.
func (p *Process) setResting() {
	p.resting = true
	p.news.Broadcast()
}

// CaughtUp blocks until the reader of Stdout has read all records that existed when the agent was started or attached,
// and has either asked for more or reached the end.
func (p *Process) CaughtUp(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.news.Broadcast()
	})()
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.resting || !p.ended && p.last < p.agent.Last {
		switch {
		case p.err != nil:
			return p.err
		case ctx.Err() != nil:
			return ctx.Err()
		}
		p.news.Wait()
	}
	return nil
}

// Close discards unread output. It does not affect the agent.
func (s stdout) Close() error {
	p := s.p
	p.mu.Lock()
	p.closed = true
	grants := p.discard()
	p.news.Broadcast()
	p.mu.Unlock()
	if len(grants) > 0 {
		_ = p.l.send(grants)
	}
	p.forgetPlain()
	return nil
}

// stdin is the input of an agent.
type stdin struct{ p *Process }

// Write writes a line to the agent and waits until it was written to the agent's input.
func (s stdin) Write(b []byte) (int, error) {
	p := s.p
	p.mu.Lock()
	if p.inClosed {
		p.mu.Unlock()
		return 0, errClosed
	}
	id := p.newID()
	p.mu.Unlock()
	line, err := p.keep(context.Background(), p.inEnd, id, b)
	if err != nil {
		return 0, err
	}
	select {
	case <-line.final:
	case <-p.inEnd:
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case line.info.State == InputWritten:
		return len(b), nil
	case p.inClosed:
		return 0, errClosed
	case p.err != nil:
		return 0, p.err
	}
	return 0, line.info.error()
}

// Close ends the input of the agent after earlier lines, and ends a blocked Write.
func (s stdin) Close() error { return s.p.CloseInput() }

// CloseInput ends the input of the agent after earlier lines. It does not wait.
func (p *Process) CloseInput() error {
	p.mu.Lock()
	was := p.inClosed
	p.inClosed = true
	if !was {
		close(p.inEnd)
	}
	was = was || p.exit != nil
	p.mu.Unlock()
	if was {
		return nil
	}
	_, err := p.l.request(request{Op: opCloseInput, Agent: p.agent.Number}, func(answer) {})
	return err
}

// Write writes a line to the agent with an id that the owner chose, of 1 to 255 bytes. It returns the number of the line when it is in the
// sequence: then the line is written exactly once, for any owner, as soon as the agent reads. A line with a known id is not written again.
// While the host cannot store the line, Write tries again until ctx ends, and then returns [ErrNotKept]. After [ErrLinkLost] the next owner
// calls [Process.Input], or writes the line again with the same id, before its first checkpoint: the host forgets the ids of lines that a
// checkpoint covers.
func (p *Process) Write(ctx context.Context, id string, line []byte) (number uint64, err error) {
	out, err := p.keep(ctx, nil, id, line)
	if err != nil {
		return 0, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case out.info.Number > 0:
		return out.info.Number, nil
	case p.err != nil:
		return 0, p.err
	}
	return 0, out.info.error()
}

// error returns the reason why the agent does not get a line.
func (i InputInfo) error() error {
	switch {
	case i.Refused != "":
		return fmt.Errorf("%w: %s", ErrRefused, i.Refused)
	case i.NotKept != "":
		return fmt.Errorf("%w: %s", ErrNotKept, i.NotKept)
	}
	return ErrInputClosed
}

// keep sends a line to the host until the line is in the sequence or can no longer get there. It
// sends the line again while the host cannot store it. It returns early when ctx ends, or when end,
// which may be nil, is closed.
func (p *Process) keep(ctx context.Context, end <-chan struct{}, id string, line []byte) (*sent, error) {
	for {
		out, err := p.send(id, line)
		if err != nil {
			return nil, err
		}
		select {
		case <-out.kept:
		case <-end:
			return out, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		p.mu.Lock()
		failed := out.info.NotKept != ""
		p.mu.Unlock()
		if !failed {
			return out, nil
		}
		retry := time.NewTimer(retryTime)
		select {
		case <-retry.C:
		case <-p.l.done:
		case <-end:
			return out, nil
		case <-ctx.Done():
		}
		retry.Stop()
		if ctx.Err() != nil {
			return nil, errors.Join(out.info.error(), ctx.Err())
		}
	}
}

// Input returns the state of a line to the agent.
func (p *Process) Input(ctx context.Context, id string) (InputInfo, error) {
	r, err := p.l.call(ctx, request{Op: opInput, Agent: p.agent.Number, Input: id})
	if err != nil {
		return InputInfo{}, err
	}
	return *r.Input, nil
}

// send sends a line to the host.
func (p *Process) send(id string, line []byte) (*sent, error) {
	if len(id) == 0 || len(id) > maxID || len(line) > maxInput {
		return nil, fmt.Errorf("%w: the id has %d bytes of at most %d, the line %d of at most %d", ErrRefused, len(id), maxID, len(line), maxInput)
	}
	p.mu.Lock()
	if p.err != nil {
		defer p.mu.Unlock()
		return nil, p.err
	}
	out := p.inputs[id]
	if out == nil {
		out = &sent{info: InputInfo{ID: id}, kept: make(chan struct{}), final: make(chan struct{})}
		p.inputs[id] = out
	}
	p.mu.Unlock()
	return out, p.l.send(writeFrames(nil, p.agent.Number, id, line))
}

// settle handles the host's report about a line. The caller holds mu.
func (p *Process) settle(info InputInfo) {
	out := p.inputs[info.ID]
	if out == nil {
		return
	}
	if info.State != InputQueued {
		delete(p.inputs, info.ID)
		out.settle(info)
		return
	}
	out.info = info
	out.keep()
}

func (s *sent) keep() {
	select {
	case <-s.kept:
	default:
		close(s.kept)
	}
}

// settle ends a line with its final state.
func (s *sent) settle(info InputInfo) {
	s.info = info
	s.keep()
	select {
	case <-s.final:
	default:
		close(s.final)
	}
}

// errorStream is the agent's stderr, with a limited size.
type errorStream struct {
	mu   sync.Mutex
	news sync.Cond
	text []byte
	err  error
}

func newErrorStream() *errorStream {
	e := &errorStream{}
	e.news.L = &e.mu
	return e
}

func (e *errorStream) add(text []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err != nil {
		return
	}
	e.text = append(e.text, text...)
	if over := len(e.text) - 2*stderrTail; over > 0 {
		e.text = append([]byte(nil), e.text[over:]...)
	}
	e.news.Broadcast()
}

func (e *errorStream) end(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err == nil {
		e.err = err
	}
	e.news.Broadcast()
}

// Read returns available data.
func (e *errorStream) Read(b []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(e.text) == 0 && e.err == nil {
		e.news.Wait()
	}
	n := copy(b, e.text)
	if e.text = e.text[n:]; n > 0 || len(b) == 0 {
		return n, nil
	}
	return 0, e.err
}

// Close ends a blocked Read.
func (e *errorStream) Close() error {
	e.end(errClosed)
	return nil
}
