package eventlog

import (
	"context"
	"errors"
	"fmt"
)

// repairRoom is the free disk space in bytes required for the copies of damaged blocks, a few megabytes each.
const repairRoom = 64 << 20

// repair stops the embedded server, salvages its files, restarts it and searches for lost events. Calls wait meanwhile. It continues
// when ctx ends, because stopping halfway would be worse than the delay. It reports whether any block was damaged. The caller has the
// turn to read blocks.
func (s *Store) repair(ctx context.Context, why error) (found bool, err error) {
	if free, err := diskFree(s.dir.path); err != nil || free < repairRoom {
		return false, errors.Join(fmt.Errorf("%w: %d bytes are left to salvage files: %w", ErrFull, free, why), err)
	}
	s.opts.Logger.Error("eventlog: a file is damaged; the embedded server is stopped to salvage it", "err", why)
	ctx, end := joinContexts(context.WithoutCancel(ctx), s.calls)
	defer end()
	leave, err := s.gate.alone(ctx)
	if err != nil {
		return false, err
	}
	defer leave()
	if ctx, err = s.pause.begin(ctx); err != nil {
		return false, err
	}
	defer s.pause.end()
	before := s.journal.checkpoint()
	known := len(before.Damage)
	before.clean = true
	err = s.srv.salvage(ctx, func() error {
		err := s.dir.salvage(ctx, before, &s.opts)
		found = !before.clean
		return errors.Join(err, s.dir.dropIndex(logStream), s.dir.dropIndex(snapshotStream))
	})
	if err != nil {
		return found, fmt.Errorf("eventlog: salvaging damaged files: %w", err)
	}
	before.clean = false // search for lost events
	if err := s.inspect(ctx, before); err != nil {
		return found, fmt.Errorf("eventlog: looking for lost events: %w", err)
	}
	if s.unchecked != nil {
		s.unchecked.done()
	}
	return found || len(before.Damage) != known, nil
}
