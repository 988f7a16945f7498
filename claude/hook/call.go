package hook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/seed7221b0f9/parley/claude/message"
)

// Invocation is one call of a hook by the CLI, with the functions that a session provides for it.
// Package claude creates one for each request of the CLI; programs do not need it.
type Invocation struct {
	Event    Event
	CallID   string
	Input    message.JSON
	Start    func(f func())            // runs f in a goroutine that the session waits for
	Panicked func(v any, stack []byte) // is called with the value of a panic

	absence time.Duration
}

func (m Matcher[In, Out]) call(ctx context.Context, i int, c *Invocation) ([]byte, error) {
	in := new(In)
	DecodeInput(in, c.CallID, c.Input)
	out, err := m.run(ctx, m.Hooks[i], in, c)
	var answer []byte
	if err == nil {
		answer, err = m.encode(c.Event, out)
	}
	if err == nil {
		return answer, nil
	}
	if refusal := Refuse(any(new(Out)).(AnyOutput), "a hook failed: "+err.Error()); refusal != nil && m.OnFailure == "" {
		return Encode(c.Event, refusal)
	}
	return nil, err
}

// hookGrace is the time after a hook's timeout in which the CLI itself cancels the hook and
// refuses the call. If the CLI does not, the hook fails here.
const hookGrace = 5 * time.Second

// errHookGone is the error of a hook that ended its goroutine.
var errHookGone = errors.New("the hook did not return")

// run calls a hook and waits for it at most until ctx ends. The hook runs in a new goroutine: a
// hook that never returns, or ends its goroutine, must still be answered.
func (m Matcher[In, Out]) run(ctx context.Context, hook Func[In, Out], in *In, c *Invocation) (*Out, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if limit := m.limit(c.absence); limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, fmt.Errorf("the hook did not return within %v", cmp.Or(m.Timeout, limit)))
		defer cancel()
	}
	type result struct {
		out *Out
		err error
	}
	done := make(chan result, 1)
	c.Start(func() {
		r := result{err: errHookGone}
		defer func() {
			if v := recover(); v != nil {
				c.Panicked(v, debug.Stack())
				r.err = fmt.Errorf("the hook panicked: %v", v)
			}
			done <- r
		}()
		r.out, r.err = hook(ctx, in)
	})
	select {
	case r := <-done:
		return r.out, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// encode writes the answer. An output that the CLI would discard is an error, unless OnFailure is
// set.
func (m Matcher[In, Out]) encode(event Event, out *Out) ([]byte, error) {
	if out == nil {
		return []byte("{}"), nil
	}
	o := any(out).(AnyOutput)
	if m.OnFailure == "" {
		if err := Check(o); err != nil {
			return nil, err
		}
	}
	return Encode(event, o)
}

// Check returns an error for an output that the CLI would discard as a whole, such as one with an
// unknown decision or with an UpdatedInput that is not an object.
func Check(out AnyOutput) error {
	err := oneOf("Decision", out.common().Decision, DecisionApprove, DecisionBlock)
	if special, ok := out.(interface{ check() error }); ok {
		err = errors.Join(err, special.check())
	}
	return err
}

// AnyOutput is the output of a hook of any event: a pointer to a struct of this package that
// embeds [Output].
type AnyOutput interface{ common() *Output }
