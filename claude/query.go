package claude

import (
	"context"
	"errors"
	"iter"
	"sync"
	"sync/atomic"
)

// ErrNoResult: the CLI ended well but gave no result.
var ErrNoResult = errors.New("claude: the CLI ended without a result")

// Query runs one prompt in a session of its own and yields every message until
// the CLI has ended. One prompt can give several results: tasks that it left in
// the background report when they end.
//
// The CLI starts when the iterator is first ranged over; it is gone when the
// range ends, however it ends. A turn that failed is a [ResultMessage] with
// IsError; when the CLI then exits with an error, a *[ResultError] follows as
// the last element. When ctx ends the CLI is stopped, with time to write its
// transcript, and the last element is the cause of ctx. The iterator can be
// ranged over once.
func Query(ctx context.Context, prompt string, opts *Options) iter.Seq2[Message, error] {
	return once(func(yield func(Message, error) bool) {
		q := &query{ctx: ctx, opts: opts, hold: true, yield: yield}
		q.run(func(ctx context.Context, send func(UserInput) error) error {
			in := Text(prompt)
			in.emptySession = true
			return send(in)
		})
	})
}

// QueryStream is [Query] with a conversation of several prompts, which produce
// sends one by one. The input ends when produce returns. The context that
// produce gets ends with the run; an error that it returns ends the run and is
// the iterator's last element. The iterator waits for produce.
func QueryStream(ctx context.Context, produce func(ctx context.Context, send func(UserInput) error) error, opts *Options) iter.Seq2[Message, error] {
	return once(func(yield func(Message, error) bool) {
		q := &query{ctx: ctx, opts: opts, yield: yield}
		q.run(produce)
	})
}

// Run runs one prompt in a session of its own and returns its last result. The
// error is the one that [Query] ends with, or a *[ResultError] when the turn
// failed; the result is returned beside it where there is one.
func Run(ctx context.Context, prompt string, opts *Options) (*ResultMessage, error) {
	return lastResult(Query(ctx, prompt, opts))
}

func lastResult(messages iter.Seq2[Message, error]) (*ResultMessage, error) {
	var last *ResultMessage
	for m, err := range messages {
		if err != nil {
			return last, err
		}
		if r, ok := m.(*ResultMessage); ok {
			last = r
		}
	}
	if last == nil {
		return nil, ErrNoResult
	}
	return last, last.Err()
}

// once makes an iterator that can be ranged over a single time.
func once(seq iter.Seq2[Message, error]) iter.Seq2[Message, error] {
	var used atomic.Bool
	return func(yield func(Message, error) bool) {
		if used.Swap(true) {
			yield(nil, ErrUsed)
			return
		}
		seq(yield)
	}
}

// query is one range over Query or QueryStream.
type query struct {
	ctx   context.Context
	opts  *Options
	hold  bool // keep the input open until the run has ended
	yield func(Message, error) bool

	box *mailbox
}

func (q *query) deliver(e entry) (warning string) {
	if m, ok := e.msg.(*SessionStateChangedMessage); ok && m.SDKHostOnly {
		return ""
	}
	q.box.put(e)
	return ""
}

func (q *query) finish(err error) { q.box.end(err) }
func (q *query) buffered() int64  { return q.box.bytes.Load() }

func (q *query) run(produce func(ctx context.Context, send func(UserInput) error) error) {
	var s *session
	q.box = newMailbox(func() { s.freed() })
	s, err := startSession(q.ctx, q.opts, q, q.hold)
	if err != nil {
		q.yield(nil, err)
		return
	}
	q.drive(s, produce)
}

// drive sends what produce produces and yields what comes.
func (q *query) drive(s *session, produce func(ctx context.Context, send func(UserInput) error) error) {
	stopWatching := context.AfterFunc(q.ctx, func() { s.stop(context.Cause(q.ctx)) })
	ctx, cancel := context.WithCancel(q.ctx)
	var producer sync.WaitGroup
	producer.Go(func() { q.produce(ctx, s, produce) })
	defer func() {
		stopWatching()
		s.stop(errStopped)
		cancel()
		producer.Wait()
		s.close()
	}()
	q.drain()
}

func (q *query) produce(ctx context.Context, s *session, produce func(context.Context, func(UserInput) error) error) {
	err := s.awaitMCP(ctx)
	if err == nil {
		err = produce(ctx, func(in UserInput) error { return q.send(ctx, s, in) })
	}
	if err != nil && ctx.Err() == nil {
		if errors.Is(err, errWriting) {
			s.writeFailed(err)
		} else {
			s.stop(err)
		}
	}
	s.noMoreInput()
}

// errWriting marks the errors of writing itself: behind them is a CLI that has
// ended, and its end says more.
var errWriting = errors.New("claude: writing a prompt")

type writeError struct{ err error }

func (e *writeError) Error() string        { return errWriting.Error() + ": " + e.err.Error() }
func (e *writeError) Unwrap() error        { return e.err }
func (e *writeError) Is(target error) bool { return target == errWriting }

func (q *query) send(ctx context.Context, s *session, in UserInput) error {
	line, err := in.line(s.opts)
	if err != nil {
		return err
	}
	if err := s.prompt(ctx, line); err != nil {
		return &writeError{err}
	}
	return nil
}

// drain yields what comes until the end of the stream.
func (q *query) drain() {
	for {
		e, ok, err := q.box.take(context.Background())
		if !ok {
			if err != nil {
				q.yield(nil, err)
			}
			return
		}
		if !q.yield(e.message(), nil) {
			return
		}
	}
}
