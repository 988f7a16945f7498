package claude_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/seed7221b0f9/parley/internal/deadline"
)

// callAnswers are the callbacks of a recorded call: each invocation repeats the recorded
// one, after the same delay. [recordedCall.ClaudeOptions] sets them where the caller had
// callbacks, and [recordedCall.Run] executes the steps that wait for one. They can be
// used for one run.
type callAnswers struct {
	// FailOpen makes failing hooks behave like in the official SDKs: the CLI warns and
	// continues.
	FailOpen bool

	call *recordedCall

	mu      sync.Mutex
	used    []bool
	invoked func(n int)            // called with the number of each given answer, from 1
	extra   []string               // invocations that are not in the recording
	servers map[string]*mcp.Server // those in this process, by key
}

// newCallAnswers returns the callbacks of a call.
func newCallAnswers(call *recordedCall) *callAnswers {
	return &callAnswers{call: call, used: make([]bool, len(call.Answers)), invoked: func(int) {}}
}

// tell sets the function that is called for each given answer.
func (a *callAnswers) tell(f func(n int)) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.invoked = f
}

// Unexpected returns the invocations that the recording does not have.
func (a *callAnswers) Unexpected() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]string(nil), a.extra...)
}

// errNoSuchAnswer is returned by a callback that the recording has no invocation of.
var errNoSuchAnswer = errors.New("recording: the recording has no such callback")

// give finds the next matching answer, waits as long as its callback did, and returns its
// result or its error.
func (a *callAnswers) give(ctx context.Context, what string, meant func(*recordedAnswer) bool) (*recordedAnswer, error) {
	n, answer := a.next(what, meant)
	if answer == nil {
		return nil, fmt.Errorf("%w: %s", errNoSuchAnswer, what)
	}
	a.mu.Lock()
	invoked := a.invoked
	a.mu.Unlock()
	invoked(n)
	if err := answer.wait(ctx); err != nil {
		return nil, err
	}
	if answer.Throw != nil {
		return nil, errors.New(*answer.Throw)
	}
	return answer, nil
}

// next returns the first matching answer that has not been given, with its number.
func (a *callAnswers) next(what string, meant func(*recordedAnswer) bool) (n int, answer *recordedAnswer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range a.call.Answers {
		if answer := &a.call.Answers[i]; !a.used[i] && answer.NotCalled == nil && meant(answer) {
			a.used[i] = true
			return i + 1, answer
		}
	}
	a.extra = append(a.extra, what)
	return 0, nil
}

// wait waits as long as the callback did. It does not wait if the CLI cancelled the
// request, because no answer is sent then.
func (a *recordedAnswer) wait(ctx context.Context) error {
	delay := a.DelayMS
	if a.DelayAfterCancelMS != nil {
		<-ctx.Done()
		delay, ctx = *a.DelayAfterCancelMS, context.WithoutCancel(ctx)
	}
	if !deadline.Pause(ctx, delay) {
		return context.Cause(ctx)
	}
	return nil
}

// isNull reports whether a callback returned no value.
func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }
