package claudepool

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/internal/deadline"
)

// place acquires a place for a CLI. If all are occupied, it discards the oldest ready CLI and
// waits.
func (p *Pool) place(ctx context.Context, tenant string) (release func(), err error) {
	if release, ok := p.places.TryAcquire(1); ok {
		return release, nil
	}
	if s := p.oldest(); s != nil && p.begin() {
		go func() {
			defer p.work.Done()
			if p.discard(s) {
				p.update(func() { p.stats.Discarded++ })
			}
		}()
	}
	return p.places.Acquire(ctx, tenant, 1)
}

// oldest returns the CLI that has waited longest, or nil.
func (p *Pool) oldest() (oldest *spare) {
	p.update(func() {
		for _, sh := range p.shelves {
			if len(sh.spares) > 0 && (oldest == nil || sh.spares[0].since.Before(oldest.since)) {
				oldest = sh.spares[0]
			}
		}
	})
	return oldest
}

// keep checks and refills the shelves periodically until the pool is closed.
func (p *Pool) keep() {
	every := p.opts.CheckEvery
	if every == 0 || p.opts.IdleTime > 0 && p.opts.IdleTime < every {
		every = p.opts.IdleTime
	}
	if every == 0 {
		every = defaultPoolCheck // to retry failed starts
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			p.forget()
			p.check()
			p.update(func() {
				for _, sh := range p.shelves {
					p.refill(sh)
				}
			})
		case <-p.ctx.Done():
			return
		}
	}
}

// forget removes the shelves that were not used for IdleTime.
func (p *Pool) forget() {
	var spares []*spare
	p.update(func() {
		for _, sh := range p.shelves {
			if p.opts.IdleTime > 0 && time.Since(sh.asked) >= p.opts.IdleTime {
				spares = append(spares, sh.spares...)
			}
		}
	})
	p.each(spares, func(s *spare) {
		if p.discard(s) {
			p.update(func() { p.stats.Discarded++ })
		}
	})
	p.update(func() {
		maps.DeleteFunc(p.shelves, func(_ string, sh *shelf) bool {
			return p.opts.IdleTime > 0 && time.Since(sh.asked) >= p.opts.IdleTime && len(sh.spares)+sh.starting == 0
		})
	})
}

// check pings all ready CLIs.
func (p *Pool) check() {
	if p.opts.CheckEvery == 0 {
		return
	}
	var spares []*spare
	p.update(func() {
		for _, sh := range p.shelves {
			spares = append(spares, slices.Clone(sh.spares)...)
		}
	})
	p.each(spares, func(s *spare) {
		ctx, cancel := deadline.With(p.ctx, p.opts.CheckTimeout, context.DeadlineExceeded)
		defer cancel()
		err := s.warm.Check(ctx)
		if err == nil || p.ctx.Err() != nil {
			return
		}
		if p.discard(s) {
			p.update(func() { p.stats.Lost++ })
			p.opts.Logger.Warn("claude: a prestarted CLI does not answer", "error", err)
		}
	})
}

// each calls f for many CLIs concurrently and waits for all.
func (p *Pool) each(spares []*spare, f func(*spare)) {
	var all sync.WaitGroup
	for _, s := range spares {
		all.Go(func() { f(s) })
	}
	all.Wait()
}
