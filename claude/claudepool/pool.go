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

// Pool keeps CLIs ready, so that conversations begin without waiting for a start. A ready CLI
// serves only equal options: every field of its [claude.Options], including the tenant, the
// environment and the directory must match. Only the model and the permission mode are changed
// when a CLI is taken. Functions count by identity: options with new callbacks for each request
// never match a ready CLI.
//
// A CLI serves one conversation and ends with it; it never serves two tenants. All methods are
// safe for concurrent use. A Pool must be closed.
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

// Options configures a [Pool]. The zero value starts no CLIs ahead and sets no limits.
type Options struct {
	// Min is the number of CLIs to keep ready for each distinct options value that was passed
	// to Pool.Warm or used by a conversation. Options that name a session are used once, so the
	// pool keeps no CLIs for them.
	Min int
	// Max limits all CLIs, ready and in use; 0 means no limit. At the limit, a new conversation
	// takes the place of a ready CLI with other options, or waits; tenants take turns.
	Max int
	// IdleTime is how long the pool keeps unused options and their ready CLIs. The default is 5
	// min.
	IdleTime time.Duration
	// CheckEvery is the interval of health checks of ready CLIs, by default 30 s; CheckTimeout
	// is the time limit of one, by default 5 s. A CLI that does not answer is replaced.
	CheckEvery   time.Duration
	CheckTimeout time.Duration
	// Recycle sets when the CLI of a conversation is replaced between two turns.
	Recycle Recycle
	// OnRecycle is called with the new CLI of a conversation before its next turn is sent, to
	// repeat the control requests that changed the old one. If it fails, the turn fails with
	// its error.
	OnRecycle func(ctx context.Context, c *claude.Client, why RecycleReason) error
	// Logger receives warnings; nil means [slog.Default].
	Logger *slog.Logger
}

// Stats holds the current counts of a [Pool] and its totals since it was created.
type Stats struct {
	Ready    int // CLIs waiting for a conversation
	Starting int // CLIs being started ahead
	InUse    int // conversations
	Waiting  int // conversations waiting for a place

	Hits      int64 // conversations that got a ready CLI
	Misses    int64 // conversations that had to start one
	Lost      int64 // ready CLIs that died or did not answer
	Discarded int64 // ready CLIs removed to make room or after IdleTime
	Recycled  int64 // CLIs replaced between turns
}

// The defaults of Options.
const (
	defaultPoolIdle  = 5 * time.Minute
	defaultPoolCheck = 30 * time.Second
	defaultCheckTime = 5 * time.Second
)

// shelf holds the ready CLIs of one key.
type shelf struct {
	opts     *claude.Options // also keeps the objects alive that the key identifies by address
	spares   []*spare        // the oldest first
	starting int
	asked    time.Time
}

// spare is a ready CLI.
type spare struct {
	warm    *claude.Warm
	opts    *claude.Options
	since   time.Time
	release func()
	left    chan struct{} // closed when it leaves its shelf
}

// New returns a pool with these options. It starts no CLI before the first call of Warm or
// Connect.
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

// Warm makes the pool keep CLIs ready for these options and waits until one is ready. It
// returns the error of [claude.Prewarm] or of waiting for a place.
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

// Stats returns the current counts. It does not wait for CLIs that are starting.
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

// Close ends ready and starting CLIs and running conversations. Callers that wait for a place
// get [claude.ErrClosed]. It returns when all processes have ended, and may be called several
// times.
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

// call begins a call that Close cancels and waits for.
func (p *Pool) call(ctx context.Context) (_ context.Context, leave func(), err error) {
	if !p.begin() {
		return nil, nil, claude.ErrClosed
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(p.ctx, func() { cancel(claude.ErrClosed) })
	return ctx, func() { stop(); cancel(nil); p.work.Done() }, nil
}

// begin counts work that Close waits for. It returns false if the pool is closed.
func (p *Pool) begin() (open bool) {
	p.update(func() {
		if open = !p.closed; open {
			p.work.Add(1)
		}
	})
	return open
}

// ask returns the shelf of these options and creates it if necessary; it runs inside update.
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

// named reports whether options name a session.
func named(o *claude.Options) bool { return o.SessionID != "" || o.Resume != "" || o.Continue }

// refill starts missing CLIs of a shelf while places are free without waiting; it runs inside
// update.
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
				p.opts.Logger.Warn("claude: prestarting a CLI", "error", err)
			}
		})
	}
}

// start starts a CLI for a shelf. The caller has already counted it in starting.
func (p *Pool) start(ctx context.Context, sh *shelf, release func()) error {
	w, err := claude.Prewarm(ctx, sh.opts)
	if err != nil {
		p.update(func() { sh.starting-- })
		release()
		return err
	}
	s := &spare{warm: w, opts: sh.opts, since: time.Now(), release: release, left: make(chan struct{})}
	wanted := len(p.places.State().Waiting) > 0 // a caller waits for a place
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

// watchSpare discards a ready CLI when it dies.
func (p *Pool) watchSpare(s *spare) {
	select {
	case <-s.left:
	case <-s.warm.Done():
		if p.discard(s) {
			p.update(func() { p.stats.Lost++ })
			p.opts.Logger.Warn("claude: a prestarted CLI has died", "error", s.warm.Wait())
		}
	}
}

// unshelve removes a CLI from its shelf. Only the first of several callers gets true. It runs
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

// discard ends a ready CLI, unless it has been taken, and waits for its end.
func (p *Pool) discard(s *spare) (was bool) {
	p.update(func() { was = p.unshelve(s) })
	if was {
		s.warm.Close()
		s.release()
	}
	return was
}
