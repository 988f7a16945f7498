package agentkit

import (
	"sync"

	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/spawn"
)

// Registry records the processes of a provider in a directory, so that the next server with that
// directory ends the processes that a killed server has left. Before Sweep the zero value records
// no processes. Its methods are safe for concurrent use.
type Registry struct {
	mu   sync.Mutex
	open *proc.Registry
}

// Sweep ends the processes that an ended server has left in dir, and returns their number. Later processes are recorded
// there. Without a directory, and after the first call, it has no effect.
func (r *Registry) Sweep(dir string) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if dir == "" || r.open != nil {
		return 0, nil
	}
	open, ended, err := proc.OpenRegistry(dir)
	if err != nil {
		return len(ended), err
	}
	r.open = open
	return len(ended), nil
}

// Current returns the registry that Sweep has opened, or nil.
func (r *Registry) Current() *proc.Registry {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.open
}

// Spawner returns a spawner that records the processes of next. If next is nil, they run on this machine with the options of
// local.
func (r *Registry) Spawner(next spawn.Spawner, local proc.LocalOptions) spawn.Spawner {
	return r.Current().Noted(next, local)
}

// Close removes the record. While a process of the registry runs, it returns [proc.ErrChildren] and has no effect.
func (r *Registry) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open == nil {
		return nil
	}
	err := r.open.Close()
	if err == nil {
		r.open = nil
	}
	return err
}
