package editor

import (
	"context"
	"path/filepath"

	"github.com/seed7221b0f9/parley/agent"
)

// warm is a session that was opened ahead.
type warm struct {
	dir   string
	ready chan struct{} // closed when live and err are set
	opts  agent.Options
	live  agent.Session
	err   error
	stop  context.CancelFunc
}

// prewarm begins to open a session for the agent's own directory.
func (s *server) prewarm() {
	r := &sessionRequest{cwd: s.opts.PrewarmDir}
	o, err := s.options(r)
	if err != nil {
		return
	}
	ctx, cancel := context.WithCancel(s.ctx)
	w := &warm{dir: filepath.Clean(r.cwd), opts: o, ready: make(chan struct{}), stop: cancel}
	s.mu.Lock()
	if s.closing || s.warm != nil {
		s.mu.Unlock()
		cancel()
		return
	}
	s.warm = w
	s.mu.Unlock()
	s.work.Go(func() {
		defer close(w.ready)
		if w.live, w.err = s.opts.Provider.Open(ctx, o); w.err != nil {
			s.opts.Logger.Info("acp: no session was opened ahead", "err", w.err)
		}
	})
}

// takeWarm returns the session that was opened ahead, if it matches a request. It waits for one that is being opened:
// that is never slower than opening another.
func (s *server) takeWarm(ctx context.Context, r *sessionRequest) (*warm, error) {
	s.mu.Lock()
	w := s.warm
	fits := w != nil && filepath.Clean(r.cwd) == w.dir && len(r.servers) == 0 && len(r.directories) == 0 && !r.prompt.IsSet() && len(r.meta) == 0
	if fits {
		s.warm = nil
	}
	s.mu.Unlock()
	if !fits {
		return nil, nil
	}
	select {
	case <-w.ready:
	case <-ctx.Done():
		s.work.Go(w.close)
		return nil, context.Cause(ctx)
	}
	if w.err != nil {
		return nil, nil // opening it once more says why
	}
	return w, nil
}

// close ends a session that was not taken.
func (w *warm) close() {
	w.stop()
	<-w.ready
	if w.live != nil {
		_ = w.live.Close() // it has done nothing
	}
}
