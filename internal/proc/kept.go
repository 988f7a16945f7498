package proc

import (
	"context"

	"github.com/seed7221b0f9/parley/spawn"
)

// NoteLines returns a spawner that stores the started process in lines, if a host numbers its
// lines. It returns nil if s is nil.
func NoteLines(s spawn.Spawner, lines *spawn.LineProcess) spawn.Spawner {
	if s == nil {
		return nil
	}
	return spawn.Func(func(ctx context.Context, cmd spawn.Command) (spawn.Process, error) {
		p, err := s.Spawn(ctx, cmd)
		*lines, _ = p.(spawn.LineProcess)
		return p, err
	})
}

// Adopted returns a spawner for a process that is already running.
func Adopted(p spawn.Process) spawn.Spawner {
	return spawn.Func(func(context.Context, spawn.Command) (spawn.Process, error) { return p, nil })
}
