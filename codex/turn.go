package codex

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/codex/item"
)

// turnCore is a turn of the server. Several prompts can share it.
type turnCore struct {
	id      string
	own     bool // started here
	awaited bool // requested, and not started yet
	over    bool
	boxes   []*mailbox
	early   []item.Notification // of a turn that was not started here, for callers that join
	result  *Result

	done chan struct{}
	once sync.Once
	err  error // the reason why the turn has no result
}

func newTurnCore(threadID, id string) *turnCore {
	return &turnCore{id: id, result: &Result{ThreadID: threadID, TurnID: id}, done: make(chan struct{})}
}

// finish ends the turn for all waiters; err is set if the turn has no end on the wire.
func (t *turnCore) finish(err error) {
	t.once.Do(func() {
		t.err = err
		for _, box := range t.boxes {
			box.end(err)
		}
		close(t.done)
	})
}

// Turn is the work on one prompt. Its methods may be called from any goroutine.
type Turn struct {
	thread *Thread
	prompt *Prompt
	box    *mailbox

	started chan struct{} // closed when core or err is set
	once    sync.Once
	core    *turnCore
	steered bool
	err     error
}

func (t *Thread) newTurn(p *Prompt) *Turn {
	return &Turn{thread: t, prompt: p, box: newMailbox(t.client.opts.MaxBuffered), started: make(chan struct{})}
}

// fail ends a turn that has not started.
func (t *Turn) fail(err error) {
	t.once.Do(func() {
		t.err = err
		t.box.end(err)
		close(t.started)
	})
}

// join attaches the prompt to a turn of the server. It is called inside Client.update.
func (t *Turn) join(core *turnCore, steered bool) {
	t.once.Do(func() {
		t.core, t.steered = core, steered
		for _, n := range core.early {
			t.box.push(n, nil)
		}
		core.early = nil
		core.boxes = append(core.boxes, t.box)
		close(t.started)
	})
}

// ID returns the server's id of the turn. It is empty while the prompt is queued.
func (t *Turn) ID() string {
	select {
	case <-t.started:
		if t.core != nil {
			return t.core.id
		}
	default:
	}
	return ""
}

// Started returns a channel that is closed when the server has accepted the prompt, or when it is
// certain that it will not accept it. [Turn.Wait] returns the reason.
func (t *Turn) Started() <-chan struct{} { return t.started }

// Notifications yields the notifications of the turn and its subagents, of which
// *[item.TurnCompleted] is the last. It can be used once; leaving the loop does not stop the turn.
// If the turn does not end, because the prompt was refused or the server ended, the last element
// is the error.
func (t *Turn) Notifications(ctx context.Context) iter.Seq2[item.Notification, error] {
	return func(yield func(item.Notification, error) bool) {
		if !t.box.attach() {
			yield(nil, ErrUsed)
			return
		}
		defer t.box.leave()
		t.box.each(ctx, yield)
	}
}

// Discard drops the notifications of the turn for a caller that does not read them, so that they
// use no memory. It has no effect once Notifications is in use.
func (t *Turn) Discard() { t.box.abandon() }

// Wait waits for the end of the turn and returns its result. The error is a *[TurnError] for a turn
// that failed and [ErrInterrupted] for one that was interrupted; both come with the result. Wait
// discards unread notifications, so call Notifications before it or concurrently.
func (t *Turn) Wait(ctx context.Context) (*Result, error) {
	t.box.abandon()
	select {
	case <-t.started:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if t.err != nil {
		return nil, t.err
	}
	select {
	case <-t.core.done:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if t.core.err != nil {
		return nil, t.core.err
	}
	r := *t.core.result
	r.Steered = t.steered
	return &r, r.Err()
}

// Interrupt stops the turn, or removes its prompt from the queue. It returns when the server has
// accepted the interrupt; the end of the turn follows. Background commands continue. It is not an
// error if the turn has ended already.
func (t *Turn) Interrupt(ctx context.Context) error {
	if t.thread.withdraw(t) {
		return nil
	}
	select {
	case <-t.started:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if t.core == nil {
		return nil
	}
	return t.thread.interrupt(ctx, t.core)
}

// interruptPause is the pause before an interrupt is retried.
const interruptPause = 20 * time.Millisecond

// interrupt stops a turn. The server rejects the interrupt of an announced turn that it has not
// started to work on, as if no turn were running, so it is retried until the turn has ended.
func (t *Thread) interrupt(ctx context.Context, core *turnCore) error {
	err := t.during(ctx, core, "turn/interrupt", map[string]string{"threadId": t.id, "turnId": core.id})
	if errors.Is(err, ErrNoTurn) {
		return nil // it has ended
	}
	return err
}

// during makes a request about a running turn. A turn that was just announced may not run yet, and
// the server then reports that no turn is running: the request is retried until the turn has ended,
// which is [ErrNoTurn].
func (t *Thread) during(ctx context.Context, core *turnCore, method string, params any) error {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, t.client.opts.CallTimeout)
		defer cancel()
	}
	for {
		err := t.client.Call(ctx, method, params, nil)
		if !errors.Is(err, ErrNoTurn) {
			return err
		}
		select {
		case <-core.done:
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(interruptPause):
		}
	}
}

// withdraw removes a prompt from the queue; it returns false if the prompt is not queued.
func (t *Thread) withdraw(turn *Turn) (ok bool) {
	t.client.update(func(r *routes) {
		s := r.threads[t.id]
		if s == nil {
			return
		}
		if i := slices.Index(s.waiting, turn); i >= 0 {
			s.waiting = slices.Delete(s.waiting, i, i+1)
			ok = true
		}
	})
	if ok {
		turn.fail(ErrInterrupted)
	}
	return ok
}
