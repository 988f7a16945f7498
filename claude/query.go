package claude

import (
	"context"
	"errors"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/seed7221b0f9/parley/claude/message"
)

// ErrNoResult is returned when the CLI exited with status 0 but without a result for a prompt.
var ErrNoResult = errors.New("claude: the CLI ended without a result")

// Message is one line that the CLI wrote, decoded. Package message has its types, including
// one for unknown lines.
type Message = message.Message

// ResultError is the error of a turn that failed. Its Result has the details.
type ResultError = message.ResultError

// Text returns a prompt that consists of a single text block. Prompts with images or other
// blocks are made from [message.UserInput] directly.
func Text(s string) message.UserInput {
	return message.UserInput{Content: []message.InputBlock{&message.Text{Text: s}}}
}

// Query runs one prompt in a new session and yields every message until the CLI has ended. One
// prompt can give several results: background tasks report in separate turns when they end.
//
// The CLI starts when the range begins, and has ended when the range ends for any reason. A
// failed turn gives a [message.Result] with IsError; if the CLI then exits with an error, the
// last element is a *[ResultError]; if the CLI exits with success but without a result, it is
// [ErrNoResult]. When ctx ends, the last element is its cause, and the CLI is stopped: its
// turn is interrupted, so that no more tools start, and it gets time to write its transcript.
// Breaking out has the same effect. [Deadlines] limits the waits. The iterator can be ranged
// over once.
func Query(ctx context.Context, prompt string, opts *Options) iter.Seq2[Message, error] {
	return once(func(yield func(message.Message, error) bool) {
		in := Text(prompt)
		in.EmptySessionID = true
		if emptyPrompt(in.Content) {
			yield(nil, errEmptyPrompt)
			return
		}
		q := &query{ctx: ctx, opts: opts, hold: true, yield: yield}
		q.run(func(_ context.Context, send func(message.UserInput) error) error { return send(in) })
	})
}

// QueryStream is like [Query] with several prompts, which produce sends one by one. The input
// ends when produce returns. The context of produce ends with the run; if produce returns an
// error, the run ends and the error is the last element. The iterator waits until produce has
// returned.
func QueryStream(ctx context.Context, produce func(ctx context.Context, send func(message.UserInput) error) error, opts *Options) iter.Seq2[Message, error] {
	return once(func(yield func(message.Message, error) bool) {
		q := &query{ctx: ctx, opts: opts, yield: yield}
		q.run(produce)
	})
}

// Run runs one prompt in a new session and returns its last result. The error is the last
// element of [Query], or a *[ResultError] if the turn failed; the result is returned with the
// error if there is one. A CLI that does not exit within ExitTimeout after its result is
// stopped, which is not an error.
func Run(ctx context.Context, prompt string, opts *Options) (*message.Result, error) {
	return lastResult(Query(ctx, prompt, opts))
}

func lastResult(messages iter.Seq2[Message, error]) (*message.Result, error) {
	var last *message.Result
	var limit *message.RateLimitInfo
	for m, err := range messages {
		if last != nil && isExitTimeoutOnly(err) {
			break // the CLI was stopped after its last message
		}
		if err != nil {
			return last, err
		}
		switch m := m.(type) {
		case *message.Result:
			last = m
		case *message.RateLimitEvent:
			limit = &m.RateLimitInfo
		}
	}
	if last == nil {
		return nil, ErrNoResult
	}
	return last, resultError(last, limit)
}

// once makes an iterator that can be ranged over a single time.
func once[T any](seq iter.Seq2[T, error]) iter.Seq2[T, error] {
	var used atomic.Bool
	return func(yield func(T, error) bool) {
		if used.Swap(true) {
			yield(*new(T), ErrUsed)
			return
		}
		seq(yield)
	}
}

// query is one range over Query or QueryStream.
type query struct {
	ctx   context.Context
	opts  *Options // options of a session to start
	hold  bool     // keep the input open until the run has ended
	yield func(message.Message, error) bool

	box *lineQueue
}

func (q *query) deliver(e entry) (warning string) {
	if m, ok := e.msg().(*message.SessionStateChanged); ok && m.SDKHostOnly {
		return ""
	}
	q.box.put(e)
	return ""
}

func (q *query) finish(err error) { q.box.end(err) }

func (q *query) buffered() int64 { return q.box.size() }

func (q *query) run(produce func(ctx context.Context, send func(message.UserInput) error) error) {
	l, err := newLaunch(q.opts)
	if err != nil {
		q.yield(nil, err)
		return
	}
	var s *session
	q.box = newLineQueue(func() { s.freed() })
	s, err = startSession(q.ctx, l, q, q.hold)
	if err != nil {
		q.yield(nil, err)
		return
	}
	q.drive(s, produce)
}

// drive sends the prompts of produce and yields the messages.
func (q *query) drive(s *session, produce func(ctx context.Context, send func(message.UserInput) error) error) {
	watched := make(chan struct{})
	stopWatching := context.AfterFunc(q.ctx, func() {
		defer close(watched)
		s.halt(context.Cause(q.ctx))
	})
	ctx, cancel := context.WithCancel(q.ctx)
	var producer sync.WaitGroup
	producer.Go(func() { q.produce(ctx, s, produce) })
	defer func() {
		if !stopWatching() {
			<-watched // so that its cause is the session's error
		}
		s.halt(errStopped)
		cancel()
		producer.Wait()
		s.close()
	}()
	q.drain(s)
}

func (q *query) produce(ctx context.Context, s *session, produce func(context.Context, func(message.UserInput) error) error) {
	err := s.awaitMCP(ctx)
	if err == nil {
		err = produce(ctx, func(in message.UserInput) error { return q.send(ctx, s, in) })
	}
	if err != nil && ctx.Err() == nil {
		if errors.Is(err, errWriting) {
			s.writeFailed(err)
		} else {
			s.halt(err)
		}
	}
	if ctx.Err() == nil { // otherwise the session is already ending, beginning with an interrupt
		s.noMoreInput()
	}
}

// errWriting marks errors of writing a prompt: the CLI has then ended, and its exit error is
// more specific.
var errWriting = errors.New("claude: writing a prompt")

type writeError struct{ err error }

func (e *writeError) Error() string { return errWriting.Error() + ": " + e.err.Error() }

func (e *writeError) Unwrap() error { return e.err }

func (e *writeError) Is(target error) bool { return target == errWriting }

func (q *query) send(ctx context.Context, s *session, in message.UserInput) error {
	line, err := s.encode(in)
	if err != nil {
		return err
	}
	if err := s.prompt(ctx, line); err != nil {
		return &writeError{err}
	}
	return nil
}

// drain yields the messages until the end of the stream or of ctx. It yields ErrNoResult if
// the stream ended without an error, but without a result or in the middle of a turn.
func (q *query) drain(s *session) {
	defer q.box.drop()
	answered := false
	for {
		e, ok, err := q.box.take(q.ctx)
		if !ok {
			if err == nil && (!answered && (q.hold || s.wasPrompted()) || s.inTurn()) {
				err = ErrNoResult
			}
			if err != nil {
				q.yield(nil, err)
			}
			return
		}
		m := e.message()
		if _, ok := m.(*message.Result); ok {
			answered = true
		}
		if !q.yield(m, nil) {
			return
		}
	}
}
