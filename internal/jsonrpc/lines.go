package jsonrpc

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strconv"

	"github.com/seed7221b0f9/parley/internal/ndjson"
	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/spawn"
)

// Lines is a peer that runs under a host: the host numbers the lines of both directions and keeps
// them, so that another process can continue the conversation.
type Lines struct {
	// Process is the peer. Its lines start with the first line that it wrote.
	Process spawn.LineProcess
	// Last is the number of the last line of an earlier process of the conversation, 0 without one. Lines up to it
	// only restore the state: nothing is written, and requests of the peer are held. Requests without an answer
	// are handled after it, and calls wait until then.
	Last uint64
	// Begin and End are called before and after each line is dispatched, in order. The handlers of the requests in a
	// line start after End.
	Begin, End func(l Line)
	// Called is called with each request that an earlier process has sent. If it returns a
	// function, that function gets the answer, as with CallThen.
	Called func(m *Message) (then func(result json.RawMessage, err error))
	// Held is called with each request of the peer that is held.
	Held func(m *Message)
}

// Line is a line of either direction.
type Line struct {
	Number uint64
	Past   bool     // an earlier process has handled it
	Input  bool     // written to the peer
	Text   string   // empty for a number without a line
	Msg    *Message // nil if it is not one message
}

// lineState is the state of a conversation with numbered lines. Only the dispatcher changes it, until past is closed.
type lineState struct {
	Lines
	past  chan struct{} // closed after the last line of the past
	held  []*heldRequest
	start []func() // handlers to start after the line
}

// heldRequest is an unanswered request from an earlier process's lines.
type heldRequest struct {
	msg       *Message
	batch     *batch
	cancelled bool
}

// NewLines is like New, for a peer that runs under a host. Closing the connection closes w and ends
// the reading.
func NewLines(l Lines, w io.WriteCloser, opts Options) *Conn {
	state := &lineState{Lines: l, past: make(chan struct{})}
	if l.Last == 0 {
		close(state.past)
	}
	c := newConn(nil, w, opts)
	c.lines = state
	c.start()
	return c
}

// Past returns a channel that is closed when the lines up to Lines.Last have been dispatched, or
// the connection has ended.
func (c *Conn) Past() <-chan struct{} {
	if c.lines == nil {
		return noPast
	}
	return c.lines.past
}

var noPast = make(chan struct{})

func init() { close(noPast) }

// Withdraw removes a held request that no longer needs an answer.
func (c *Conn) Withdraw(id ID) {
	l := c.lines
	for i, h := range l.held {
		if h.msg.ID == id {
			l.held = append(l.held[:i:i], l.held[i+1:]...)
			return
		}
	}
}

// waitPast waits until the lines up to Lines.Last have been dispatched.
func (c *Conn) waitPast(ctx context.Context) error {
	select {
	case <-c.Past():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// readLines replaces read for numbered lines.
func (c *Conn) readLines() {
	for {
		line, err := c.lines.Process.NextLine(c.ctx)
		if err != nil {
			if c.ctx.Err() != nil {
				err = context.Cause(c.ctx)
			}
			c.readFailed(err)
			return
		}
		if !c.enqueue(c.lineArrival(line)) {
			c.readFailed(context.Cause(c.ctx))
			return
		}
	}
}

// lineArrival decodes a line of either direction.
func (c *Conn) lineArrival(l spawn.Line) arrival {
	text := ndjson.Line{Text: string(l.Text), Size: len(l.Text), TooLong: len(l.Text) > c.opts.MaxLine}
	for n := len(text.Text); n > 0 && text.Text[n-1] == '\r'; n-- {
		text.Text = text.Text[:n-1]
	}
	a := arrival{line: text.Text, number: l.Number, input: l.Input, size: len(l.Text) + arrivalCost}
	if text.Text != "" {
		a.parts = c.arrivals(text)
	}
	for _, p := range a.parts {
		if p.msg != nil {
			p.msg.Line = l.Number
		}
	}
	if len(a.parts) == 1 {
		a.msg = a.parts[0].msg
	}
	return a
}

// deliverLine dispatches a line of either direction.
func (c *Conn) deliverLine(a arrival) {
	l := c.lines
	line := Line{Number: a.number, Past: a.number <= l.Last, Input: a.input, Text: a.line, Msg: a.msg}
	if l.Begin != nil {
		c.guarded("", func() { l.Begin(line) })
	}
	for _, p := range a.parts {
		if !a.input {
			c.deliver(p)
		} else if p.msg != nil {
			c.wrote(p.msg, line.Past)
		}
	}
	if l.End != nil {
		c.guarded("", func() { l.End(line) })
	}
	for _, start := range l.start {
		start()
	}
	l.start = nil
	if l.Last > 0 && a.number >= l.Last {
		c.endPast()
	}
}

// endPast handles the requests that are still open after the last line of the earlier process.
func (c *Conn) endPast() {
	held := c.lines.held
	c.lines.held = nil
	c.lines.Last = 0
	close(c.lines.past)
	for _, h := range held {
		c.startRequest(h.msg, h.batch)
		if h.cancelled {
			c.cancelRequest(h.msg.ID)
		}
	}
}

// abandonPast releases the waiters if the connection has ended earlier.
func (c *Conn) abandonPast() {
	if c.lines != nil && c.lines.Last > 0 {
		c.lines.Last, c.lines.held = 0, nil
		close(c.lines.past)
	}
}

// holds reports whether requests of the peer are held, and if so stores this one.
func (c *Conn) holds(m *Message, b *batch) bool {
	l := c.lines
	if l == nil || l.Last == 0 {
		return false
	}
	l.held = append(l.held, &heldRequest{msg: m, batch: b})
	if l.Held != nil {
		c.guarded(m.Method, func() { l.Held(m) })
	}
	return true
}

// wrote handles a line that was written to the peer. Lines of an earlier process also restore the state.
func (c *Conn) wrote(m *Message, past bool) {
	if c.opts.Written != nil {
		c.guarded("", func() { c.opts.Written([]byte(m.Raw)) })
	}
	switch {
	case !past:
	case m.IsAnswer():
		c.Withdraw(m.ID)
	case m.IsRequest():
		c.restoreCall(m)
	}
}

// restoreCall takes over a call of an earlier process.
func (c *Conn) restoreCall(m *Message) {
	var then func(json.RawMessage, error)
	if c.lines.Called != nil {
		c.guarded(m.Method, func() { then = c.lines.Called(m) })
	}
	n, _ := strconv.ParseInt(string(m.ID), 10, 64) // another kind of id is not one of this package
	c.update(func(s *state) {
		s.nextID = max(s.nextID, n)
		if then == nil || s.cause != nil {
			return
		}
		s.pending[m.ID] = &call{done: make(chan struct{}), then: then}
	})
}

// writeLine writes a line under an id that is the same each time the line is written.
func (c *Conn) writeLine(ctx context.Context, id string, line []byte) error {
	if err := c.waitPast(ctx); err != nil {
		return err
	}
	err := c.lines.Process.WriteLine(ctx, id, line)
	if errors.Is(err, os.ErrClosed) {
		return c.endError()
	}
	return err
}

// callName returns the id under which a request is written, or a notification if id is empty.
func callName(id ID) string {
	if id == "" {
		return "note-" + random.UUID()
	}
	return "call-" + string(id)
}

// answerName returns the id under which the answer to the requests in a line is written.
func answerName(line uint64) string { return "answer-" + strconv.FormatUint(line, 10) }
