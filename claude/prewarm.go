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

// startupMarks is the variable that makes the CLI report the progress of its start. The
// official SDK also sets it for a prewarmed CLI.
const startupMarks = "CLAUDE_CODE_SDK_READS_STARTUP_MARKS"

// Warm is a CLI that was started ahead: it has completed the handshake, so its first turn does
// not wait for a start. It serves one query or one conversation; a second one gets
// [ErrWarmUsed]. All methods are safe for concurrent use. It must be closed unless it was used.
type Warm struct {
	client *Client

	mu   sync.Mutex
	used bool
}

// Prewarm starts a CLI and waits until it is ready for a prompt; the servers of
// [Options.RequireMCP] are then connected. The context applies only to the start. It fixes all
// options; use the methods of the [Client] from [Warm.Connect] for later changes. It returns
// the same errors as [Connect].
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

// take transfers the CLI to the caller, who must close it.
func (w *Warm) take() (*Client, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.used {
		return nil, ErrWarmUsed
	}
	w.used = true
	return w.client, nil
}

// Query is like the function [Query], but it uses the prewarmed CLI: it yields every message,
// including those before the prompt, until the CLI has ended. If the CLI has died meanwhile, it
// yields the exit error.
func (w *Warm) Query(ctx context.Context, prompt string) iter.Seq2[Message, error] {
	return w.stream(ctx, true, func(ctx context.Context, send func(message.UserInput) error) error {
		in := Text(prompt)
		in.EmptySessionID = true
		return send(in)
	})
}

// QueryStream is like the function [QueryStream], but it uses the prewarmed CLI. It can be
// called once.
func (w *Warm) QueryStream(ctx context.Context, produce func(ctx context.Context, send func(message.UserInput) error) error) iter.Seq2[Message, error] {
	return w.stream(ctx, false, produce)
}

// Run is like the function [Run], but it uses the prewarmed CLI. It can be called once.
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
			st.turns = nil // from here on it is the session of a query
		})
		q.drive(c.s, produce)
	})
}

// Connect returns a [Client] for the CLI. The caller must close it. If the CLI has died
// meanwhile, Connect returns the error of [Client.Wait].
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

// ServerInfo returns the information that the CLI reported in the handshake, such as its models
// and commands.
func (w *Warm) ServerInfo() *ServerInfo { return w.client.ServerInfo() }

// PID returns the process id of the CLI, or 0 if it is unknown, for example with a transport
// without a process.
func (w *Warm) PID() int { return w.client.View().PID }

// Done returns a channel that is closed when all processes and goroutines of the CLI have
// ended.
func (w *Warm) Done() <-chan struct{} { return w.client.s.done }

// Check sends a request to the CLI and waits for the answer. It returns nil if the CLI answers.
func (w *Warm) Check(ctx context.Context) error { return w.client.ping(ctx) }

// Close ends a CLI that was not used, as [Client.Close] does. It does not affect a CLI that was
// used. It may be called several times.
func (w *Warm) Close() error {
	c, err := w.take()
	if err != nil {
		return nil
	}
	return c.Close()
}

// Wait waits until the CLI has ended and returns its error, as [Client.Wait] does.
func (w *Warm) Wait() error { return w.client.Wait() }
