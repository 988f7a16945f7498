package claude

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/seed7221b0f9/parley/claude/message"
)

// ErrWarmUsed is returned when a [Warm] is used for a second query or conversation. It matches
// [ErrUsed].
var ErrWarmUsed = fmt.Errorf("%w: a warm CLI serves one conversation", ErrUsed)

// startupMarks is the variable that makes the CLI tell how far its start has
// come, as the official SDK sets it when it starts one ahead.
const startupMarks = "CLAUDE_CODE_SDK_READS_STARTUP_MARKS"

// Warm is a CLI that was started ahead: it has answered the handshake, and its
// first turn pays for no start. It serves one query or one conversation; a second
// one gets [ErrWarmUsed]. All methods may be called from any goroutine. It must
// be closed unless it was used.
type Warm struct {
	client *Client

	mu   sync.Mutex
	used bool
}

// Prewarm starts a CLI and waits until it is ready for a prompt; the servers of
// [Options.RequireMCP] are connected then. The context bounds that alone. All
// options are fixed by it; what can be changed later is changed with the methods
// of the [Client] that [Warm.Connect] gives. Errors are those of [Connect].
func Prewarm(ctx context.Context, opts *Options) (*Warm, error) {
	if c := attach(opts); c != nil {
		return &Warm{client: c}, nil
	}
	l, err := newLaunch(opts)
	if err != nil {
		return nil, err
	}
	if variable(l.environ(), startupMarks) < 0 {
		l.addEnv(map[string]string{startupMarks: "1"})
	}
	c, err := connect(ctx, l)
	if err != nil {
		return nil, err
	}
	return &Warm{client: c}, nil
}

// take makes the CLI the caller's, who then has to close it.
func (w *Warm) take() (*Client, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.used {
		return nil, ErrWarmUsed
	}
	w.used = true
	return w.client, nil
}

// Query is the package's [Query] in the CLI that was started ahead: it yields
// every message, also those that came before the prompt, until the CLI has ended.
// A CLI that has died meanwhile is the error that it died with.
func (w *Warm) Query(ctx context.Context, prompt string) iter.Seq2[Message, error] {
	return w.stream(ctx, true, func(ctx context.Context, send func(message.UserInput) error) error {
		in := Text(prompt)
		in.EmptySessionID = true
		return send(in)
	})
}

// QueryStream is like the function [QueryStream], but it uses the CLI that was started ahead.
// It can be called once.
func (w *Warm) QueryStream(ctx context.Context, produce func(ctx context.Context, send func(message.UserInput) error) error) iter.Seq2[Message, error] {
	return w.stream(ctx, false, produce)
}

// Run is like the function [Run], but it uses the CLI that was started ahead. It can be called
// once.
func (w *Warm) Run(ctx context.Context, prompt string) (*message.Result, error) {
	return lastResult(w.Query(ctx, prompt))
}

func (w *Warm) stream(ctx context.Context, hold bool, produce func(ctx context.Context, send func(message.UserInput) error) error) iter.Seq2[Message, error] {
	return once(func(yield func(message.Message, error) bool) {
		c, err := w.take()
		if err != nil {
			yield(nil, err)
			return
		}
		q := &query{ctx: ctx, hold: hold, yield: yield}
		q.box = newLineQueue(c.s.freed)
		c.r.subscribe(q.box)
		c.ranges(q.box)
		c.s.update(func(st *sessionState) {
			st.end.hold = hold || c.s.launch.needsAnswers()
			st.turns = nil // from here on it is a query's session
		})
		q.drive(c.s, produce)
	})
}

// Connect gives the CLI as a [Client], which the caller has to close. A CLI that
// has died meanwhile is an error, as it is for [Client.Wait].
func (w *Warm) Connect(ctx context.Context) (*Client, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	c, err := w.take()
	if err != nil {
		return nil, err
	}
	if why, known := c.s.whyGone(); known {
		c.Close()
		if why == nil {
			why = errEnded
		}
		return nil, why
	}
	return c, nil
}

// ServerInfo returns what the CLI reported about itself in the handshake, such as its models
// and commands.
func (w *Warm) ServerInfo() *ServerInfo { return w.client.ServerInfo() }

// PID returns the process id of the CLI, or 0 where it is not known, as with a transport
// without a process.
func (w *Warm) PID() int { return w.client.View().PID }

// Done returns a channel that is closed when the CLI has ended and its goroutines and processes
// are gone.
func (w *Warm) Done() <-chan struct{} { return w.client.s.done }

// Check asks the CLI something and waits for the answer: nil means that it is
// alive and answers.
func (w *Warm) Check(ctx context.Context) error { return w.client.ping(ctx) }

// Close ends a CLI that was not used, as [Client.Close] does. One that was used is left to its
// user. It may be called many times.
func (w *Warm) Close() error {
	c, err := w.take()
	if err != nil {
		return nil
	}
	return c.Close()
}

// Wait waits until the CLI has ended and returns what it ended with, as [Client.Wait] does.
func (w *Warm) Wait() error { return w.client.Wait() }
