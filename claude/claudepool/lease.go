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

// Recycle says when the CLI of a conversation is replaced by a new one that
// resumes its session: before a turn, and only while the session is idle. Zero
// fields say nothing. A session that is not persisted is never recycled.
type Recycle struct {
	Memory int64         // bytes over which the process tree has grown, see [claude.Client.MeasureMemory]
	Turns  int           // that it has served
	Age    time.Duration // since it was started or taken
}

// RecycleReason is the reason for which the CLI of a conversation was replaced by another one
// that resumes it.
type RecycleReason string

// The reasons for which a CLI is replaced: a limit of the options was reached, or it had ended.
const (
	RecycleMemory RecycleReason = "memory"
	RecycleTurns  RecycleReason = "turns"
	RecycleAge    RecycleReason = "age"
	RecycleEnded  RecycleReason = "ended" // it had died
)

// Lease is a conversation with a CLI of a [Pool]. Where the CLI has died, or has
// become one that [Options.Recycle] replaces, the next turn is served by a new
// one that resumes the session. All methods may be called from any goroutine. It
// must be closed, which ends its CLI.
type Lease struct {
	pool    *Pool
	opts    *claude.Options
	release func()
	warm    bool

	sending chan struct{} // holds a token while a prompt is sent or the CLI replaced
	ending  context.CancelCauseFunc
	ended   context.Context

	mu     sync.Mutex
	client *claude.Client
	turns  int
	since  time.Time
	closed bool
}

// Connect begins a conversation, with a CLI that is ready for these options or a
// new one. The context bounds that alone.
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

// begin gives the conversation a CLI that is ready, else a new one.
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

// start gives the conversation a CLI that is started for it.
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

// pick takes a CLI that is ready for these options, nil if there is none.
func (p *Pool) pick(opts *claude.Options) (s *spare) {
	p.update(func() {
		sh := p.ask(opts)
		if n := len(sh.spares); n > 0 {
			s = sh.spares[n-1] // the others grow old and go if they are not needed
			p.unshelve(s)
		}
		if named(opts) && len(sh.spares)+sh.starting == 0 {
			delete(p.shelves, poolKey(opts)) // it will not be asked for again
		}
		p.refill(sh)
	})
	return s
}

// enter notes a conversation; false when the pool is closed.
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

// connect makes a client of a CLI that was ready, and brings it to what the
// options say beyond its key.
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

// Client is the client of the CLI that serves the conversation now. It is for
// control requests; a CLI that is replaced takes its client with it.
func (l *Lease) Client() *claude.Client {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.client
}

// Warm reports whether the conversation began with a CLI that was ready, so that it did not
// wait for a start.
func (l *Lease) Warm() bool { return l.warm }

// Close ends the conversation and its CLI, as [claude.Client.Close] does, and gives its
// place back.
func (l *Lease) Close() error {
	l.ending(claude.ErrClosed)
	l.Client().Close() // which ends a prompt that is being sent
	l.sending <- struct{}{}
	defer func() { <-l.sending }()
	l.Client().Close() // it may have been replaced
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

// due is why the CLI is to be replaced, "" if it is not.
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
	// A CLI that got no prompt has no session to resume.
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

// recycle replaces the CLI if that is due; the caller holds sending. The place
// is kept.
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
		return err // the next turn tries again
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

// resuming are the options with which a new CLI goes on with a session.
func resuming(o *claude.Options, session string) *claude.Options {
	if session == "" {
		return o
	}
	c := *o.Clone()
	c.Resume, c.Continue, c.ForkSession, c.SessionID = session, false, false, ""
	c.ResumeSessionAt, c.ResumeDropsTurn, c.Title = "", nil, ""
	return &c
}
