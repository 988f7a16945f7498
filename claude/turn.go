package claude

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"

	"github.com/seed7221b0f9/parley/claude/message"
)

// ErrCancelled is returned for a prompt that was withdrawn, by an interrupt or by its id,
// before its turn began.
var ErrCancelled = errors.New("claude: the prompt was cancelled")

// Turn is one prompt and what comes of it. A turn that the CLI merges with
// others shares its messages and its result with them; see [Turn.MergedInto].
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
	left       chan struct{} // closed when the CLI is through with it
	waited     atomic.Bool   // a caller waits for the end alone
}

func newTurn(c *Client, id string, freed func()) *Turn {
	return &Turn{ID: id, c: c, box: newLineQueue(freed), ended: make(chan struct{}), left: make(chan struct{})}
}

// State is where the prompt stands: "" until the CLI has said something of it,
// then queued, started, completed or cancelled, or a state that this package
// does not know. A prompt that an interrupt has put back is queued again. [Turn.Wait] returns
// the outcome of a turn.
func (t *Turn) State() (state message.CommandState) {
	t.c.r.update(func(*routerState) { state = t.state })
	return state
}

// MergedInto returns the id of the turn that the CLI has merged this one into, empty if it has not.
// The two share their messages and their result.
func (t *Turn) MergedInto() (id string) {
	t.c.r.update(func(*routerState) { id = t.mergedInto })
	return id
}

// finish ends the turn for its user; the router calls it.
func (t *Turn) finish(result *message.Result, err error) {
	if t.over() {
		return
	}
	t.result, t.err = result, err
	t.box.end(err)
	close(t.ended)
}

// gone reports whether the CLI is through with the turn.
func (t *Turn) gone() bool {
	select {
	case <-t.left:
		return true
	default:
		return false
	}
}

// Messages yields the turn's messages, from its start, the result last. The error
// of a turn that failed follows its result: a *[ResultError], in a
// *[RateLimitError] where that is the reason. When there will be no result the
// last element is the error that says why:
// [ErrCancelled] for a prompt that was dropped, [ErrNoResult] where the CLI gave
// none, a *[StalledError], or what the session ended with. Breaking out only stops
// looking. The end of ctx ends the range, its cause last. The messages can be
// ranged over once.
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
// ranges over [Client.Messages]: they are neither kept nor decoded. It has no effect once Messages or
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

// yield reports whether the turn has been yielded to its end.
func (t *Turn) yield(ctx context.Context, yield func(message.Message, error) bool) bool {
	defer t.box.drop()
	for {
		e, ok, err := t.box.take(ctx)
		if !ok {
			if err != nil {
				yield(nil, err)
			}
			return t.over() // if not, it was ctx that ended
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

// Wait waits for the end of the turn and returns its result. The error says why
// there is none. A turn that failed has a result and, beside
// it, a *[ResultError], in a *[RateLimitError] where that is the reason; one that was interrupted
// has [ErrInterrupted] as well. The client can be used on.
func (t *Turn) Wait(ctx context.Context) (*message.Result, error) {
	t.waited.Store(true)
	t.c.s.freed() // a reader that waited until messages were taken goes on
	select {
	case <-t.ended:
		return t.result, t.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Cancel takes the prompt back if it has not begun and interrupts the turn if it
// has. After its end it does nothing.
func (t *Turn) Cancel(ctx context.Context) error {
	if t.gone() {
		return nil
	}
	if !t.c.r.running(t) {
		cancelled, err := t.c.CancelMessage(ctx, t.ID)
		if cancelled || err != nil && !errors.Is(err, ErrUnsupported) {
			return err
		}
		if err != nil && t.c.r.othersRun(t) {
			return err // an interrupt would hit them
		}
		// It has begun meanwhile, or the CLI cannot take prompts back.
	}
	_, err := t.c.Interrupt(ctx)
	return err
}
