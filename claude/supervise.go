package claude

import (
	"context"

	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/spawn"
)

// Registry keeps on disk what this program has started, so that the next one
// finds what a crash has left. It is given to sessions in [Options.Registry];
// see [OpenRegistry]. It may be used by many sessions at once.
type Registry = proc.Registry

// Child is a process in a [Registry], identified by its id and its start time, with the path of
// its program.
type Child = proc.Child

// ErrChildren is returned when a [Registry] is closed while processes that were started through
// it are still running.
var ErrChildren = proc.ErrChildren

// OpenRegistry opens the registry in a directory, which is created for this user
// only and may be shared by several programs. What programs that are gone have
// left in it is ended and removed first: their processes, which are returned,
// with everything that those have started, and their temporary files. A process
// is known by its id and start time, or by a mark in its environment; nothing
// else is touched, nor what belongs to a program that lives. Processes are looked
// for on Linux; on other systems the CLI ends with its input.
func OpenRegistry(dir string) (*Registry, []Child, error) { return proc.OpenRegistry(dir) }

// Admitter decides when a CLI may start. Acquire waits for places and returns the function
// that gives them back; claudepool.Admission shares them fairly among tenants.
type Admitter interface {
	Acquire(ctx context.Context, tenant string, weight int64) (release func(), err error)
}

// tempDir is where temporary files go, "" for the system's place.
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

// local are the options for a CLI that runs on this machine.
func (l *launch) local() proc.LocalOptions {
	return proc.LocalOptions{Supervisor: l.Supervisor, KeepChildren: l.KeepChildren}
}

// supervised is the spawner with admission before the start and a registry after it; nil is the
// default one.
func (l *launch) supervised() spawn.Spawner {
	spawner := l.Spawner
	if l.Registry == nil && l.Admission == nil {
		return spawner
	}
	if spawner == nil {
		spawner = l.local().Spawner()
	}
	if l.KeepChildren {
		spawner = proc.Unmarked(spawner)
	}
	if l.Registry != nil {
		spawner = l.Registry.Spawner(spawner)
	}
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
