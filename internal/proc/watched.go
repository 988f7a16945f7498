package proc

import (
	"context"
	"sync"

	"github.com/seed7221b0f9/parley/spawn"
)

// OnExit returns a Spawner that calls after, once, when a process of next has been waited for or could
// not be started.
func OnExit(next spawn.Spawner, after func()) spawn.Spawner {
	return spawn.Func(func(ctx context.Context, cmd spawn.Command) (spawn.Process, error) {
		p, err := next.Spawn(ctx, cmd)
		if err != nil {
			after()
			return nil, err
		}
		return &watched{Process: p, after: sync.OnceFunc(after)}, nil
	})
}

// watched is a process whose end is reported.
type watched struct {
	spawn.Process
	after func()
}

func (w *watched) Wait() (spawn.ExitStatus, error) {
	defer w.after()
	return w.Process.Wait()
}

// localChild returns p as a child of this process, or nil.
func localChild(p spawn.Process) *child {
	for {
		w, ok := p.(*watched)
		if !ok {
			break
		}
		p = w.Process
	}
	c, _ := p.(*child)
	return c
}
