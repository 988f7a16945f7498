package claude

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/seed7221b0f9/parley/internal/control"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// hookCall is one call of a hook.
type hookCall struct {
	event    HookEvent
	callID   string
	input    JSON
	start    func(f func())            // in a goroutine that the session waits for
	panicked func(v any, stack []byte) // is told of a panic
}

// hookCallback answers the CLI's request to call a hook.
func (s *session) hookCallback(ctx context.Context, req control.Request) ([]byte, error) {
	var body struct {
		CallbackID string `json:"callback_id"`
		Input      JSON   `json:"input"`
		ToolUseID  string `json:"tool_use_id"`
	}
	if err := jsonwire.Unmarshal(req.Body, &body); err != nil {
		return nil, err
	}
	n := 0
	for event, m := range s.opts.allHooks().all {
		for i := range m.hooks() {
			if hookID(n) == body.CallbackID {
				return m.call(ctx, i, &hookCall{event: event, callID: body.ToolUseID, input: body.Input, start: s.work.Go,
					panicked: func(v any, stack []byte) { s.panicked(req, v, stack) }})
			}
			n++
		}
	}
	return nil, &control.Error{Message: "No hook callback found for ID: " + body.CallbackID}
}

func (m HookMatcher[In, Out]) call(ctx context.Context, i int, c *hookCall) ([]byte, error) {
	in := new(In)
	decodeHookInput(in, c.callID, c.input)
	out, err := m.run(ctx, m.Hooks[i], in, c)
	var answer []byte
	if err == nil {
		answer, err = m.encode(c.event, out)
	}
	if err == nil {
		return answer, nil
	}
	if refuser, ok := any(new(Out)).(refuser); ok && m.OnFailure == "" {
		return encodeHookOutput(c.event, refuser.refuse("a hook failed: "+err.Error()))
	}
	return nil, err
}

// hookGrace is for the CLI to give up a hook at its timeout, which refuses the
// call as well. A CLI that does not is answered for it.
const hookGrace = 5 * time.Second

// errHookGone is the failure of a hook that ended its goroutine.
var errHookGone = errors.New("the hook did not return")

// run calls a hook and waits for it no longer than its context lasts. It has a
// goroutine of its own: one that never returns, or ends its goroutine, must
// still be answered for.
func (m HookMatcher[In, Out]) run(ctx context.Context, hook Hook[In, Out], in *In, c *hookCall) (*Out, error) {
	var limit time.Duration
	if m.Timeout > 0 {
		limit = m.Timeout + hookGrace
	}
	ctx, cancel := withTimeout(ctx, limit, fmt.Errorf("the hook did not return within %v", m.Timeout))
	defer cancel()
	type result struct {
		out *Out
		err error
	}
	done := make(chan result, 1)
	c.start(func() {
		r := result{err: errHookGone}
		defer func() {
			if v := recover(); v != nil {
				c.panicked(v, debug.Stack())
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

// encode writes the answer. An output that the CLI would throw away is a failure
// here, unless the caller wants failures to change nothing.
func (m HookMatcher[In, Out]) encode(event HookEvent, out *Out) ([]byte, error) {
	if out == nil {
		return []byte("{}"), nil
	}
	o := any(out).(hookOutput)
	if m.OnFailure == "" {
		if err := checkHookOutput(o); err != nil {
			return nil, err
		}
	}
	return encodeHookOutput(event, o)
}

func checkHookOutput(out hookOutput) error {
	err := oneOf("Decision", out.common().Decision, DecisionApprove, DecisionBlock)
	if special, ok := out.(interface{ check() error }); ok {
		err = errors.Join(err, special.check())
	}
	return err
}

// hookOutput is the output of any event: a pointer to a struct that embeds
// HookOutput.
type hookOutput interface{ common() *HookOutput }
