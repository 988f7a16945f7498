package eventlog

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// room is the state of the space: measured at most once a second, plus the bytes written since.
type room struct {
	mu       sync.Mutex
	measured time.Time
	bytes    int64 // of logs and snapshots
	free     int64 // free bytes of the disk; -1 if it does not count
	warned   bool
}

const (
	roomAge = time.Second
	// warnPercent is the percentage of the quota at which Usage starts to warn.
	warnPercent = 80
)

// Usage reports the used and the free space. Its Warning is set from 80 % of the quota on, and when
// the disk has less than twice the reserve free.
func (s *Store) Usage(ctx context.Context) (Usage, error) {
	ctx, end, err := s.begin(ctx)
	if err != nil {
		return Usage{}, err
	}
	defer end()
	if err := s.refreshUsage(ctx); err != nil {
		return Usage{}, err
	}
	return s.usage(), nil
}

// refreshUsage measures the space.
func (s *Store) refreshUsage(ctx context.Context) error {
	log, err := s.st.log.Info(ctx)
	if err != nil {
		return fmt.Errorf("eventlog: measuring the logs: %w", err)
	}
	snapshot, err := s.st.snapshot.Info(ctx)
	if err != nil {
		return fmt.Errorf("eventlog: measuring the snapshots: %w", err)
	}
	free := int64(-1)
	if s.dir != nil && s.opts.Reserve > 0 {
		if free, err = diskFree(s.dir.path); err != nil {
			return err
		}
	}
	s.room.mu.Lock()
	s.room.measured, s.room.bytes, s.room.free = time.Now(), int64(log.State.Bytes+snapshot.State.Bytes), free
	s.room.mu.Unlock()
	s.warn()
	return nil
}

// usage returns the last measurement, plus the bytes written since.
func (s *Store) usage() Usage {
	s.room.mu.Lock()
	defer s.room.mu.Unlock()
	u := Usage{Bytes: s.room.bytes, Quota: s.opts.Quota, Free: s.room.free}
	if u.Free >= 0 {
		u.Free = max(0, u.Free-s.opts.Reserve)
	}
	switch {
	case u.Bytes >= u.Quota/100*warnPercent:
		u.Warning = fmt.Sprintf("%d of %d bytes of the quota are used", u.Bytes, u.Quota)
	case u.Free >= 0 && u.Free < s.opts.Reserve:
		u.Warning = fmt.Sprintf("the disk has %d bytes left before the reserve of %d", u.Free, s.opts.Reserve)
	}
	return u
}

// warn logs a warning once, until there is room again.
func (s *Store) warn() {
	warning := s.usage().Warning
	s.room.mu.Lock()
	first := warning != "" && !s.room.warned
	s.room.warned = warning != ""
	s.room.mu.Unlock()
	if first {
		s.opts.Logger.Warn("eventlog: the store is nearly full", "usage", warning)
	}
}

// checkRoom returns ErrFull if n more bytes do not fit. Before that it measures again, because
// there may be room now.
func (s *Store) checkRoom(ctx context.Context, n int) error {
	s.room.mu.Lock()
	known := time.Since(s.room.measured) <= roomAge
	s.room.mu.Unlock()
	if known && s.noRoom(n) == nil {
		return nil
	}
	if err := s.refreshUsage(ctx); err != nil {
		return err
	}
	return s.noRoom(n)
}

// noRoom returns ErrFull if n more bytes do not fit according to the last measurement.
func (s *Store) noRoom(n int) error {
	u := s.usage()
	if u.Bytes+int64(n) > u.Quota {
		return fmt.Errorf("%w: %d more bytes, with %d of %d bytes of the quota used", ErrFull, n, u.Bytes, u.Quota)
	}
	if u.Free >= 0 && u.Free <= int64(n) {
		return fmt.Errorf("%w: %d more bytes, with %d left on the disk before the reserve of %d", ErrFull, n, u.Free, s.opts.Reserve)
	}
	return nil
}

// wrote counts bytes written since the last measurement.
func (s *Store) wrote(n int) {
	s.room.mu.Lock()
	defer s.room.mu.Unlock()
	s.room.bytes += int64(n)
	if s.room.free >= 0 {
		s.room.free = max(0, s.room.free-int64(n))
	}
}

// freed makes the next call measure the space again.
func (s *Store) freed() {
	s.room.mu.Lock()
	defer s.room.mu.Unlock()
	s.room.measured = time.Time{}
}
