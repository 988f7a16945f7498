package claude

import (
	"context"

	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/spawn"
)

// Registry records on disk the processes that this program has started, so that the next program finds those that a
// crash has left. Set it in [Options.Registry]; see [OpenRegistry]. Several sessions may share one.
type Registry = proc.Registry

// Child is a process in a [Registry], identified by its id and its start time, with the path of
// its program.
type Child = proc.Child

// ErrChildren is returned when a [Registry] is closed while processes that were started through
// it are still running.
var ErrChildren = proc.ErrChildren

// OpenRegistry opens the registry in a directory, which it creates with access for this user only and which several
// programs may share. It first cleans up after programs that have ended: it ends their leftover processes with all
// descendants, returns these processes, and removes their temporary files. It identifies a process by its id and
// start time, or by a mark in its environment, and does not touch other processes or those of running programs. It
// searches processes only on Linux; on other systems the CLI ends with its input.
func OpenRegistry(dir string) (*Registry, []Child, error) { return proc.OpenRegistry(dir) }

// Admitter decides when a CLI may start. Acquire waits for places and returns the function that releases them;
// claudepool.Admission shares them fairly among tenants.
type Admitter interface {
	Acquire(ctx context.Context, tenant string, weight int64) (release func(), err error)
}

// tempDir returns the directory for temporary files, or "" for the system's.
func (l *launch) tempDir() string {
	if l.Registry == nil {
		return ""
	}
	return l.Registry.TempDir()
}

// here reports whether the CLI runs on this machine, so that its paths and its process id are valid in this process.
func (l *launch) here() bool {
	if l.Spawner == nil {
		return true
	}
	s, ok := l.Spawner.(spawn.Locality)
	return ok && s.Local()
}

// local returns the options for a CLI that runs on this machine.
func (l *launch) local() proc.LocalOptions {
	return proc.LocalOptions{Supervisor: l.Supervisor, KeepChildren: l.KeepChildren}
}

// supervised returns the spawner with admission before the start and a registry after it; nil means the default
// spawner.
func (l *launch) supervised() spawn.Spawner {
	spawner := l.Spawner
	if l.Registry == nil && l.Admission == nil {
		return spawner
	}
	spawner = l.Registry.Noted(spawner, l.local())
	if l.Admission == nil {
		return spawner
	}
	return spawn.Func(func(ctx context.Context, cmd spawn.Command) (spawn.Process, error) {
		release, err := l.Admission.Acquire(ctx, l.Tenant, l.Weight)
		if err != nil {
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			return nil, err
		}
		return proc.OnExit(spawner, release).Spawn(ctx, cmd)
	})
}
