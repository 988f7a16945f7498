package claude

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"

	"github.com/seed7221b0f9/parley/claude/message"
)

// ErrCancelled is returned for a prompt that was cancelled, by an interrupt or by its id, before its
// turn began.
var ErrCancelled = errors.New("claude: the prompt was cancelled")

// Turn is one prompt with its messages and its result. If the CLI merges several prompts into one
// turn, they share both; see [Turn.MergedInto].
type Turn struct {
	// ID is the uuid of the prompt.
	ID string

	c          *Client
	box        *lineQueue
	state      message.CommandState // the router's
	mergedInto string               // the router's
	result     *message.Result
	err        error
	ended      chan struct{} // closed when result or err is set
	left       chan struct{} // closed when the CLI has finished it
	waited     atomic.Bool   // a caller waits only for the end
}

func newTurn(c *Client, id string, freed func()) *Turn {
	return &Turn{ID: id, c: c, box: newLineQueue(freed), ended: make(chan struct{}), left: make(chan struct{})}
}

// State returns the state of the prompt: "" before the first report of the CLI, then queued, started,
// completed or cancelled, or an unknown state. A prompt that an interrupt has put back is queued
// again. [Turn.Wait] returns the outcome of a turn.
func (t *Turn) State() (state message.CommandState) {
	t.c.r.update(func(*routerState) { state = t.state })
	return state
}

// MergedInto returns the id of the turn into which the CLI has merged this one, or "". The two share
// their messages and their result.
func (t *Turn) MergedInto() (id string) {
	t.c.r.update(func(*routerState) { id = t.mergedInto })
	return id
}

// finish ends the turn for its caller; the router calls it.
func (t *Turn) finish(result *message.Result, err error) {
	if t.over() {
		return
	}
	t.result, t.err = result, err
	t.box.end(err)
	close(t.ended)
}

// finished reports whether the CLI has finished the turn.
func (t *Turn) finished() bool {
	select {
	case <-t.left:
		return true
	default:
		return false
	}
}

// Messages yields the turn's messages, from its start, the result last. The error of a turn that
// failed follows its result: a *[ResultError], wrapped in a *[RateLimitError] for a rate limit.
// Without a result the last element is the reason: [ErrCancelled] for a prompt that was dropped,
// [ErrNoResult] if the CLI ended the turn without one, a *[StalledError], or the error of the
// session. Breaking out has no effect on the turn. The end of ctx ends the range, with its cause as
// the last element. The messages can be ranged over once.
func (t *Turn) Messages(ctx context.Context) iter.Seq2[Message, error] {
	return func(yield func(message.Message, error) bool) {
		if !t.c.ranges(t.box) {
			yield(nil, ErrUsed)
			return
		}
		t.yield(ctx, yield)
	}
}

// Discard drops the messages of the turn for a caller that does not read them, such as one that
// ranges over [Client.Messages]: they are not queued or decoded. It has no effect once Messages or
// Range is in use.
func (t *Turn) Discard() {
	if t.box.ranged.Swap(true) {
		return
	}
	t.waited.Store(true)
	t.box.drop()
}

// Range yields the turn's messages as [Client.Query] does: leaving the range before the
// result interrupts the turn. The messages can be ranged over once.
func (t *Turn) Range(ctx context.Context) iter.Seq2[Message, error] {
	return once(func(yield func(message.Message, error) bool) { t.c.rangeOver(ctx, t, yield) })
}

// yield yields the messages and reports whether it reached the end of the turn.
func (t *Turn) yield(ctx context.Context, yield func(message.Message, error) bool) bool {
	defer t.box.drop()
	for {
		e, ok, err := t.box.take(ctx)
		if !ok {
			if err != nil {
				yield(nil, err)
			}
			return t.over() // otherwise ctx has ended
		}
		m := e.message()
		if !yield(m, nil) {
			_, last := m.(*message.Result)
			return last
		}
	}
}

func (t *Turn) over() bool {
	select {
	case <-t.ended:
		return true
	default:
		return false
	}
}

// Wait waits for the end of the turn and returns its result. Without a result the error is the
// reason. A failed turn has a result and a *[ResultError], wrapped in a *[RateLimitError] for a rate
// limit; the error of an interrupted turn also matches [ErrInterrupted]. The client remains usable.
func (t *Turn) Wait(ctx context.Context) (*message.Result, error) {
	t.waited.Store(true)
	t.c.s.freed() // unblocks a reader that waited for a consumer
	select {
	case <-t.ended:
		return t.result, t.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Cancel cancels the prompt if its turn has not begun, and interrupts the turn if it has. After the
// end of the turn it has no effect.
func (t *Turn) Cancel(ctx context.Context) error {
	if t.finished() {
		return nil
	}
	if !t.c.r.running(t) {
		cancelled, err := t.c.CancelMessage(ctx, t.ID)
		if cancelled || err != nil && !errors.Is(err, ErrUnsupported) {
			return err
		}
		if err != nil && t.c.r.othersRun(t) {
			return err // an interrupt would stop them
		}
		// The turn has begun meanwhile, or the CLI does not support cancelling prompts.
	}
	_, err := t.c.Interrupt(ctx)
	return err
}
