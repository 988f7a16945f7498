package claudepool

import (
	"context"
	"log/slog"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/internal/deadline"
)

// Pool keeps CLIs ready, so that conversations begin without the wait for a
// start. Ready ones are kept apart by everything that a process is bound to when
// it starts: every field of its [claude.Options], the tenant among them, the environment
// and the directory. Only the model and the permission mode are changed when one
// is taken. Functions count by identity: options whose callbacks are made anew for
// each request find nothing that is ready, and give each request its own.
//
// A CLI serves one conversation and ends with it; none ever serves two tenants.
// All methods may be called from any goroutine. A Pool must be closed.
type Pool struct {
	opts   Options
	places *Admission
	ctx    context.Context // ends when the pool is closed
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu      sync.Mutex
	shelves map[string]*shelf
	leases  map[*Lease]bool
	closed  bool
	stats   Stats
}

// Options configures how a [Pool] keeps its CLIs. The zero value starts nothing ahead and
// bounds nothing.
type Options struct {
	// Min is how many CLIs are kept ready for options that have been asked for,
	// with Pool.Warm or by a conversation. Options that name a session are used
	// once and nothing is kept ready for them.
	Min int
	// Max bounds all CLIs, ready ones and those in use; 0 means no bound. A conversation that
	// finds no place takes that of a ready one of another kind, or waits; tenants take turns.
	Max int
	// IdleTime is how long options stay in the pool that are not asked for, with what is ready
	// for them: 5 min.
	IdleTime time.Duration
	// CheckEvery is how often ready CLIs are asked whether they are well, 30 s;
	// CheckTimeout is for the answer, 5 s. One that does not answer is replaced.
	CheckEvery   time.Duration
	CheckTimeout time.Duration
	// Recycle says when the CLI of a conversation is replaced between two turns.
	Recycle Recycle
	// OnRecycle is called with the new CLI of a conversation before its next turn
	// is sent, for what control requests have changed in the old one. Its error
	// is that of the turn.
	OnRecycle func(ctx context.Context, c *claude.Client, why RecycleReason) error
	// Logger gets warnings; nil is [slog.Default].
	Logger *slog.Logger
}

// Stats counts what a [Pool] has at the moment and what it has done since it was made.
type Stats struct {
	Ready    int // CLIs that wait for a conversation
	Starting int // that are being started ahead
	InUse    int // conversations
	Waiting  int // conversations that wait for a place

	Hits      int64 // conversations that found a CLI ready
	Misses    int64 // that had to start one
	Lost      int64 // ready ones that died or did not answer
	Discarded int64 // ready ones that made room or were not asked for
	Recycled  int64 // CLIs that were replaced between turns
}

// The defaults of Options.
const (
	defaultPoolIdle  = 5 * time.Minute
	defaultPoolCheck = 30 * time.Second
	defaultCheckTime = 5 * time.Second
)

// shelf is what is ready for one key.
type shelf struct {
	opts     *claude.Options // which also keeps alive whatever the key has the address of
	spares   []*spare        // the oldest first
	starting int
	asked    time.Time
}

// spare is a CLI that waits for a conversation.
type spare struct {
	warm    *claude.Warm
	opts    *claude.Options
	since   time.Time
	release func()
	left    chan struct{} // closed when it is on its shelf no longer
}

// New returns a pool with these options. It starts no CLI before the first conversation is
// asked for.
func New(opts Options) *Pool {
	opts.IdleTime = deadline.Or(opts.IdleTime, defaultPoolIdle)
	opts.CheckEvery = deadline.Or(opts.CheckEvery, defaultPoolCheck)
	opts.CheckTimeout = deadline.Or(opts.CheckTimeout, defaultCheckTime)
	if opts.Max <= 0 {
		opts.Max = math.MaxInt
	}
	if opts.Logger == nil {
		opts.Logger = slog.Default()
	}
	p := &Pool{opts: opts, places: NewAdmission(int64(opts.Max)), shelves: map[string]*shelf{}, leases: map[*Lease]bool{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.work.Go(p.keep)
	return p
}

func (p *Pool) update(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

// Warm has the pool keep CLIs ready for these options and waits until one is.
// The error is that of [claude.Prewarm], or that of waiting for a place.
func (p *Pool) Warm(ctx context.Context, opts *claude.Options) error {
	opts = opts.Clone()
	if err := opts.Check(); err != nil {
		return err
	}
	ctx, leave, err := p.call(ctx)
	if err != nil {
		return err
	}
	defer leave()
	var sh *shelf
	var ready bool
	p.update(func() {
		sh = p.ask(opts)
		if ready = len(sh.spares) > 0; !ready {
			sh.starting++ // by this call
		}
		p.refill(sh)
	})
	if ready {
		return nil
	}
	release, err := p.place(ctx, opts.Tenant)
	if err != nil {
		p.update(func() { sh.starting-- })
		return err
	}
	return p.start(ctx, sh, release)
}

// Stats returns the counts of the pool at this moment. It does not wait for CLIs that are
// starting.
func (p *Pool) Stats() (st Stats) {
	waiting := len(p.places.State().Waiting)
	p.update(func() {
		st = p.stats
		st.InUse, st.Waiting = len(p.leases), waiting
		for _, sh := range p.shelves {
			st.Ready += len(sh.spares)
			st.Starting += sh.starting
		}
	})
	return st
}

// Close ends everything: what is ready, what is being started, conversations under way, and the
// callers that wait for a place, which get [claude.ErrClosed]. It returns when all of it is
// gone, and may be called many times.
func (p *Pool) Close() error {
	var spares []*spare
	var leases []*Lease
	p.update(func() {
		p.closed = true
		for _, sh := range p.shelves {
			spares = append(spares, slices.Clone(sh.spares)...)
		}
		for l := range p.leases {
			leases = append(leases, l)
		}
	})
	p.cancel()
	p.places.Close()
	var closing sync.WaitGroup
	for _, s := range spares {
		closing.Go(func() { p.discard(s) })
	}
	for _, l := range leases {
		closing.Go(func() { l.Close() })
	}
	closing.Wait()
	p.work.Wait()
	return nil
}

// call begins a call that Close ends and waits for.
func (p *Pool) call(ctx context.Context) (_ context.Context, leave func(), err error) {
	if !p.begin() {
		return nil, nil, claude.ErrClosed
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(p.ctx, func() { cancel(claude.ErrClosed) })
	return ctx, func() { stop(); cancel(nil); p.work.Done() }, nil
}

// begin counts something that Close waits for; false when the pool is closed.
func (p *Pool) begin() (open bool) {
	p.update(func() {
		if open = !p.closed; open {
			p.work.Add(1)
		}
	})
	return open
}

// ask is the shelf of these options; it runs inside update.
func (p *Pool) ask(opts *claude.Options) *shelf {
	key := poolKey(opts)
	sh := p.shelves[key]
	if sh == nil {
		sh = &shelf{opts: opts}
		p.shelves[key] = sh
	}
	sh.asked = time.Now()
	return sh
}

// named reports whether options are for one session alone.
func named(o *claude.Options) bool { return o.SessionID != "" || o.Resume != "" || o.Continue }

// refill starts what is missing on a shelf, as far as there are places without a waiting
// caller; it runs inside update.
func (p *Pool) refill(sh *shelf) {
	if p.closed || named(sh.opts) {
		return
	}
	for len(sh.spares)+sh.starting < p.opts.Min {
		release, ok := p.places.TryAcquire(1)
		if !ok {
			return
		}
		sh.starting++
		p.work.Go(func() {
			if err := p.start(p.ctx, sh, release); err != nil && p.ctx.Err() == nil {
				p.opts.Logger.Warn("claude: starting a CLI ahead", "error", err)
			}
		})
	}
}

// start starts a CLI for a shelf, whose starting has been counted.
func (p *Pool) start(ctx context.Context, sh *shelf, release func()) error {
	w, err := claude.Prewarm(ctx, sh.opts)
	if err != nil {
		p.update(func() { sh.starting-- })
		release()
		return err
	}
	s := &spare{warm: w, opts: sh.opts, since: time.Now(), release: release, left: make(chan struct{})}
	wanted := len(p.places.State().Waiting) > 0 // its place, by a caller
	var closed bool
	p.update(func() {
		sh.starting--
		sh.spares = append(sh.spares, s)
		if closed = p.closed; !closed {
			p.work.Go(func() { p.watchSpare(s) })
		}
	})
	if closed || wanted {
		p.discard(s)
	}
	if closed {
		return claude.ErrClosed
	}
	return nil
}

// watchSpare notices when a CLI that waits to be used dies.
func (p *Pool) watchSpare(s *spare) {
	select {
	case <-s.left:
	case <-s.warm.Done():
		if p.discard(s) {
			p.update(func() { p.stats.Lost++ })
			p.opts.Logger.Warn("claude: a CLI that was started ahead has died", "error", s.warm.Wait())
		}
	}
}

// unshelve takes a CLI off its shelf, for one of those who want to; it runs
// inside update.
func (p *Pool) unshelve(s *spare) bool {
	for _, sh := range p.shelves {
		if i := slices.Index(sh.spares, s); i >= 0 {
			sh.spares = slices.Delete(sh.spares, i, i+1)
			close(s.left)
			return true
		}
	}
	return false
}

// discard ends a CLI that waits, unless it has been taken, and waits for that.
func (p *Pool) discard(s *spare) (was bool) {
	p.update(func() { was = p.unshelve(s) })
	if was {
		s.warm.Close()
		s.release()
	}
	return was
}
