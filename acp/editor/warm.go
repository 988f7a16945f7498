package editor

import (
	"context"
	"path/filepath"

	"github.com/seed7221b0f9/parley/agent"
)

// warm is a session that was opened in advance.
type warm struct {
	dir   string
	ready chan struct{} // closed when live and err are set
	opts  agent.Options
	live  agent.Session
	err   error
	stop  context.CancelFunc
}

// prewarm starts opening a session for the configured directory.
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
			s.opts.Logger.Info("acp: could not open a session in advance", "err", w.err)
		}
	})
}

// takeWarm returns the session that was opened in advance, if it matches a request. If it is still
// being opened, takeWarm waits, which is never slower than opening another one.
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
		return nil, nil // opening another session returns the error
	}
	return w, nil
}

// close ends a session that was not used.
func (w *warm) close() {
	w.stop()
	<-w.ready
	if w.live != nil {
		_ = w.live.Close() // no work is lost
	}
}
