package joined

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"path/filepath"
	"sync"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/internal/supervise"
	"github.com/seed7221b0f9/parley/server/place"
	"github.com/seed7221b0f9/parley/workspace"
)

var (
	_ host.Service = (*Policy)(nil)
	_ host.Dialer  = (*Policy)(nil)
)

// files provides the files, worktrees and histories that a server can access. It opens the
// directory of worktrees at the first use, when it is certain that no other process has joined with
// the same directory.
type files struct {
	open func(context.Context) (*workspace.Manager, error)
	dirs []string // the offered directories
	from []agent.Provider
	mark func(session string) string

	mu    sync.Mutex
	local *place.Local
}

// get opens the files if necessary and returns them.
func (f *files) get(ctx context.Context) (*place.Local, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.local != nil {
		return f.local, nil
	}
	m, err := f.open(ctx)
	if err != nil {
		return nil, err
	}
	f.local = &place.Local{Roots: f.dirs, Manager: m, Agents: f.from, Confined: true, Mark: f.mark}
	return f.local, nil
}

// Close releases the directory of worktrees. It must not be called during a Call.
func (p *Policy) Close() error {
	p.files.mu.Lock()
	defer p.files.mu.Unlock()
	if p.files.local == nil {
		return nil
	}
	defer func() { p.files.local = nil }()
	return p.files.local.Manager.Close()
}

// Call answers a call about files, worktrees and histories.
func (p *Policy) Call(ctx context.Context, method string, params json.RawMessage) ([]byte, error) {
	local, err := p.files.get(ctx)
	if err != nil {
		return nil, err
	}
	return place.Serve(ctx, local, method, params)
}

// Dial connects to a port of a session's agent.
func (p *Policy) Dial(ctx context.Context, method string, params json.RawMessage) (net.Conn, error) {
	local, err := p.files.get(ctx)
	if err != nil {
		return nil, err
	}
	return place.Dial(ctx, local, method, params)
}

// GitOptions returns the options of worktrees below a data directory. Git gets only the variables
// that it needs from env, searches for no repository above the offered directories, and runs
// programs of a repository only if trusted contains their hash. Setup commands run below a
// supervisor.
func GitOptions(data string, env, dirs, trusted []string, log *slog.Logger) workspace.Options {
	trust := &place.GitTrust{Hashes: trusted, Logger: log}
	o := workspace.Options{Dir: filepath.Join(data, "workspaces"), Env: env, Logger: log, Trust: trust.Allows, Spawner: proc.LocalOptions{Supervisor: supervise.Self()}.Spawner()}
	for _, dir := range dirs {
		o.Ceilings = append(o.Ceilings, filepath.Dir(dir))
	}
	return o
}
