package claudepool

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
)

// Recycle sets the limits after which a new CLI replaces that of a conversation and resumes its
// session. That happens before a turn, and only while the session is idle. Zero fields mean no
// limit. A session that is not persisted is never recycled.
type Recycle struct {
	Memory int64         // in bytes, for the growth of the process tree; see [claude.Client.MeasureMemory]
	Turns  int           // served turns
	Age    time.Duration // since the CLI was started or taken
}

// RecycleReason is the reason why the CLI of a conversation was replaced.
type RecycleReason string

// The reasons to replace a CLI: it reached a limit of the options, or it ended.
const (
	RecycleMemory RecycleReason = "memory"
	RecycleTurns  RecycleReason = "turns"
	RecycleAge    RecycleReason = "age"
	RecycleEnded  RecycleReason = "ended" // it had died
)

// Lease is a conversation with a CLI of a [Pool]. If the CLI has died or reached a limit of
// [Options.Recycle], a new one resumes the session and serves the next turn. All methods are
// safe for concurrent use. The caller must close it, which ends its CLI.
type Lease struct {
	pool    *Pool
	opts    *claude.Options
	release func()
	warm    bool

	sending chan struct{} // holds a token while a prompt is sent or the CLI is replaced
	ending  context.CancelCauseFunc
	ended   context.Context

	mu     sync.Mutex
	client *claude.Client
	turns  int
	since  time.Time
	closed bool
}

// Connect begins a conversation with a CLI that is ready for these options, or with a new one.
// The context applies only to this call.
func (p *Pool) Connect(ctx context.Context, opts *claude.Options) (*Lease, error) {
	opts = opts.Clone()
	if err := opts.Check(); err != nil {
		return nil, err
	}
	ctx, leave, err := p.call(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	l := &Lease{pool: p, opts: opts, sending: make(chan struct{}, 1), since: time.Now()}
	l.ended, l.ending = context.WithCancelCause(context.Background())
	if err := l.begin(ctx); err != nil {
		return nil, err
	}
	if !p.enter(l) {
		l.Close()
		return nil, claude.ErrClosed
	}
	return l, nil
}

// begin gives the conversation a ready CLI, or starts one.
func (l *Lease) begin(ctx context.Context) error {
	for s := l.pool.pick(l.opts); s != nil; s = l.pool.pick(l.opts) {
		c, err := s.connect(ctx, l.opts)
		if err == nil {
			l.client, l.release, l.warm = c, s.release, true
			return nil
		}
		s.release()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return l.start(ctx)
}

// start starts a new CLI for the conversation.
func (l *Lease) start(ctx context.Context) error {
	release, err := l.pool.place(ctx, l.opts.Tenant)
	if err != nil {
		return err
	}
	c, err := claude.Connect(ctx, l.opts)
	if err != nil {
		release()
		return err
	}
	l.client, l.release = c, release
	return nil
}

// pick takes a CLI that is ready for these options, or nil.
func (p *Pool) pick(opts *claude.Options) (s *spare) {
	p.update(func() {
		sh := p.ask(opts)
		if n := len(sh.spares); n > 0 {
			s = sh.spares[n-1] // the newest one: the others age and are removed if they are not needed
			p.unshelve(s)
		}
		if named(opts) && len(sh.spares)+sh.starting == 0 {
			delete(p.shelves, poolKey(opts)) // options of a single session are used once
		}
		p.refill(sh)
	})
	return s
}

// enter registers a conversation. It returns false if the pool is closed.
func (p *Pool) enter(l *Lease) (open bool) {
	p.update(func() {
		if open = !p.closed; !open {
			return
		}
		p.leases[l] = true
		if l.warm {
			p.stats.Hits++
		} else {
			p.stats.Misses++
		}
	})
	return open
}

// connect makes a client of a ready CLI, and applies the options that its key does not cover.
func (s *spare) connect(ctx context.Context, opts *claude.Options) (*claude.Client, error) {
	c, err := s.warm.Connect(ctx)
	if err != nil {
		s.warm.Close()
		return nil, err
	}
	if opts.Model != s.opts.Model {
		_, err = c.SetModel(ctx, opts.Model)
	}
	if err == nil && opts.PermissionMode != s.opts.PermissionMode {
		err = c.SetPermissionMode(ctx, opts.PermissionMode)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Query sends a prompt and yields the messages of its turn, as [claude.Client.Query] does, and
// replaces the CLI before it if necessary.
func (l *Lease) Query(ctx context.Context, prompt string) iter.Seq2[claude.Message, error] {
	var used atomic.Bool
	return func(yield func(message.Message, error) bool) {
		if used.Swap(true) {
			yield(nil, claude.ErrUsed)
			return
		}
		t, err := l.Send(ctx, claude.Text(prompt))
		if err != nil {
			yield(nil, err)
			return
		}
		t.Range(ctx)(yield)
	}
}

// Send sends a prompt and returns its turn, as [claude.Client.Send] does, and replaces the CLI
// before it if necessary.
func (l *Lease) Send(ctx context.Context, in message.UserInput) (*claude.Turn, error) {
	select {
	case l.sending <- struct{}{}:
		defer func() { <-l.sending }()
	case <-l.ended.Done():
		return nil, claude.ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if l.ended.Err() != nil {
		return nil, claude.ErrClosed
	}
	if err := l.recycle(ctx); err != nil {
		return nil, err
	}
	t, err := l.Client().Send(ctx, in)
	l.mu.Lock()
	l.turns++
	l.mu.Unlock()
	return t, err
}

// Client returns the client of the CLI that serves the conversation now. Use it for control
// requests. Replacing the CLI closes its client.
func (l *Lease) Client() *claude.Client {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.client
}

// Warm reports whether the conversation began with a ready CLI and did not wait for a start.
func (l *Lease) Warm() bool { return l.warm }

// Close ends the conversation and its CLI, as [claude.Client.Close] does, and releases its
// place.
func (l *Lease) Close() error {
	l.ending(claude.ErrClosed)
	l.Client().Close() // aborts a prompt that is being sent
	l.sending <- struct{}{}
	defer func() { <-l.sending }()
	l.Client().Close() // the client may have been replaced
	l.mu.Lock()
	first := !l.closed
	l.closed = true
	l.mu.Unlock()
	if first {
		l.release()
		l.pool.update(func() { delete(l.pool.leases, l) })
	}
	return nil
}

// due returns the reason to replace the CLI, or "".
func (l *Lease) due(ctx context.Context) RecycleReason {
	c := l.Client()
	l.mu.Lock()
	turns, age := l.turns, time.Since(l.since)
	l.mu.Unlock()
	if l.opts.PersistSession != nil && !*l.opts.PersistSession && turns > 0 {
		return ""
	}
	if c.View().Phase == claude.PhaseEnded {
		return RecycleEnded
	}
	// A CLI without a prompt has no session to resume.
	if why := l.pool.opts.Recycle.due(c, turns, age); why != "" && turns > 0 && c.WaitSettled(ctx) {
		return why
	}
	return ""
}

func (r Recycle) due(c *claude.Client, turns int, age time.Duration) RecycleReason {
	switch {
	case r.Turns > 0 && turns >= r.Turns:
		return RecycleTurns
	case r.Age > 0 && age >= r.Age:
		return RecycleAge
	case r.Memory > 0:
		if n, err := c.MeasureMemory(); err == nil && n > r.Memory {
			return RecycleMemory
		}
	}
	return ""
}

// recycle replaces the CLI if that is due; the caller holds sending. The lease keeps its place.
func (l *Lease) recycle(ctx context.Context) error {
	why := l.due(ctx)
	if why == "" {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(l.ended, func() { cancel(claude.ErrClosed) })()
	old := l.Client()
	old.Close()
	c, err := claude.Connect(ctx, resuming(l.opts, old.SessionID()))
	if err != nil {
		return err // the next turn retries
	}
	l.mu.Lock()
	l.client, l.turns, l.since = c, 0, time.Now()
	l.mu.Unlock()
	l.pool.update(func() { l.pool.stats.Recycled++ })
	if f := l.pool.opts.OnRecycle; f != nil {
		return f(ctx, c, why)
	}
	return nil
}

// resuming returns the options with which a new CLI resumes a session.
func resuming(o *claude.Options, session string) *claude.Options {
	if session == "" {
		return o
	}
	c := *o.Clone()
	c.Resume, c.Continue, c.ForkSession, c.SessionID = session, false, false, ""
	c.ResumeSessionAt, c.ResumeDropsTurn, c.Title = "", nil, ""
	return &c
}
