package eventlog

import (
	"context"
	"errors"
	"fmt"
)

// repair stops the embedded server, salvages its files, starts it again and looks for what is lost. Calls wait meanwhile. It goes on
// when ctx ends: half of it would cost more than the caller's patience.
func (s *Store) repair(ctx context.Context) error {
	ctx, end := joinContexts(context.WithoutCancel(ctx), s.calls)
	defer end()
	leave, err := s.gate.alone(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if ctx, err = s.pause.begin(ctx); err != nil {
		return err
	}
	defer s.pause.end()
	before := s.journal.checkpoint()
	err = s.srv.salvage(ctx, func() error {
		err := s.dir.salvage(ctx, before, &s.opts)
		return errors.Join(err, s.dir.dropIndex(logStream), s.dir.dropIndex(snapshotStream))
	})
	if err != nil {
		return fmt.Errorf("eventlog: salvaging damaged files: %w", err)
	}
	if err := s.inspect(ctx, before); err != nil {
		return fmt.Errorf("eventlog: looking for what is lost: %w", err)
	}
	if s.unchecked != nil {
		s.unchecked.done()
	}
	return nil
}
