package eventlog

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"time"
)

// againInterval is the interval at which an open store reads its closed blocks again. A failing disk changes bytes without changing size
// and time.
const againInterval = 24 * time.Hour

// againTicks returns the ticks at which closed blocks are read again. Tests replace it.
var againTicks = func() (ticks <-chan time.Time, stop func()) {
	t := time.NewTicker(againInterval)
	return t.C, t.Stop
}

// checkDaily reads all closed blocks at each tick until ctx ends.
func (s *Store) checkDaily(ctx context.Context, ticks <-chan time.Time) {
	for {
		select {
		case <-ticks:
		case <-ctx.Done():
			return
		}
		if err := s.checkAgain(ctx); err != nil && ctx.Err() == nil {
			s.opts.Logger.Error("eventlog: damaged files are not salvaged; the next check tries again", "err", err)
		}
	}
}

// checkAgain reads the valid blocks again, one at a time, and salvages the store if the content of one has changed. It pauses
// half of the time for others.
func (s *Store) checkAgain(ctx context.Context) error {
	for _, stream := range []string{snapshotStream, logStream} {
		indexes, err := s.dir.blocks(stream)
		if err != nil {
			return err
		}
		for _, index := range indexes[:max(0, len(indexes)-1)] {
			start := time.Now()
			if err := s.checkOne(ctx, blockID{stream, index}); err != nil {
				return err
			}
			if err := wait(ctx, time.Since(start)); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkOne reads a closed block. It leaves a block with another size or time to look.
func (s *Store) checkOne(ctx context.Context, id blockID) error {
	leave, err := s.watch.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	known, ok := s.watch.blocks[id.stream][id.index]
	if !ok {
		return nil
	}
	stamp, err := s.dir.readBlock(id, &s.watch.buf)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && !known.equal(stamp):
		return nil
	case err != nil:
		err = fmt.Errorf("%w: block %d of stream %s: %w", ErrDamaged, id.index, id.stream, err)
	case crc32.Checksum(s.watch.buf, castagnoli) != known.Sum:
		after, statErr := stampOf(s.dir.block(id.stream, id.index))
		if statErr != nil || !known.equal(after) {
			return nil // the server has rewritten the block
		}
		err = fmt.Errorf("%w: block %d of stream %s", ErrDamaged, id.index, id.stream)
	default:
		return nil
	}
	_, err = s.repair(ctx, err)
	return err
}
