package eventlog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/seed7221b0f9/parley/eventlog/internal/blockfile"
)

// watch detects blocks that change while the store is open, by size and time, before the server reads them. The server cuts a block at
// its first bad record, and if a bit of a sequence is flipped it first fills the memory with the apparently missing sequences.
type watch struct {
	turn   chan struct{} // holds the right to read blocks, and the fields below
	blocks blockList     // valid at the last read
	buf    []byte

	next atomic.Int64 // time of the next look, in nanoseconds since 1970
	off  atomic.Bool  // disabled after a false alarm
}

func newWatch() *watch {
	w := &watch{turn: make(chan struct{}, 1)}
	w.turn <- struct{}{}
	return w
}

// enter takes the turn.
func (w *watch) enter(ctx context.Context) (leave func(), err error) {
	select {
	case <-w.turn:
		return func() { w.turn <- struct{}{} }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// lookShare limits the time spent on looking to one part in lookShare.
const lookShare = 20

// look reads the blocks that have changed since the last look, if enough time has passed, and repairs the store if one is damaged. If it
// cannot look, the caller continues. A server that cannot write may leave a part of a record, which the next server removes.
func (s *Store) look(ctx context.Context) error {
	w := s.watch
	if s.dir == nil || w.off.Load() || time.Now().UnixNano() < w.next.Load() {
		return nil
	}
	leave, err := w.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	start := time.Now()
	if start.UnixNano() < w.next.Load() {
		return nil // another caller has looked
	}
	w.next.Store(start.Add(lookInterval).UnixNano())
	err = errors.Join(s.lookAt(ctx, logStream), s.lookAt(ctx, snapshotStream))
	if took := time.Since(start); lookInterval > 0 {
		w.next.Store(time.Now().Add(max(lookInterval, lookShare*took)).UnixNano())
	}
	switch {
	case err == nil, ctx.Err() != nil, s.srv.fault().Err() != nil:
		return nil
	case !errors.Is(err, ErrDamaged):
		s.opts.Logger.Warn("eventlog: searching for changed files", "err", err)
		return nil
	}
	found, err := s.repair(ctx, err)
	if err == nil && !found {
		w.off.Store(true)
		s.opts.Logger.Warn("eventlog: no file was damaged; changes of files are not watched until the next start")
	}
	return err
}

// idleInterval is the interval at which a store without calls checks its blocks for changes.
const idleInterval = 5 * time.Second

// idleTicks returns the ticks at which a store looks without a call. Tests replace it.
var idleTicks = func() (ticks <-chan time.Time, stop func()) {
	t := time.NewTicker(idleInterval)
	return t.C, t.Stop
}

// lookIdle looks at each tick until ctx ends, so that damage is reported before somebody needs the data.
func (s *Store) lookIdle(ctx context.Context, ticks <-chan time.Time) {
	for {
		select {
		case <-ticks:
		case <-ctx.Done():
			return
		}
		ctx, end, err := s.begin(ctx)
		if err != nil {
			return // the store is closed
		}
		if err := s.look(ctx); err != nil && ctx.Err() == nil {
			s.opts.Logger.Error("eventlog: damaged files are not salvaged; the next call tries again", "err", err)
		}
		end()
	}
}

// lookAt reads the changed blocks of a stream. It returns ErrDamaged for a block with a bad record, or without
// messages that the server does not list as deleted.
func (s *Store) lookAt(ctx context.Context, stream string) error {
	indexes, err := s.dir.blocks(stream)
	if err != nil {
		return err
	}
	known := s.watch.blocks[stream]
	var gone []uint64
	for i, index := range indexes {
		id := blockID{stream, index}
		before, listed := known[index]
		stamp, err := stampOf(s.dir.block(stream, index))
		if err == nil && listed && before.equal(stamp) {
			continue
		}
		now, missing, err := s.reread(ctx, id, &before, i == len(indexes)-1)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the next look finds it missing
		}
		if err != nil {
			return err
		}
		if now == nil {
			continue // it is being written
		}
		gone = append(gone, missing...)
		s.watch.blocks.add(id, *now)
	}
	for index, before := range known {
		if !slices.Contains(indexes, index) {
			gone = append(gone, before.without(nil)...)
			delete(known, index)
		}
	}
	return s.deleted(ctx, stream, gone)
}

// without returns the sequences of the block that are not among records.
func (b *closedBlock) without(records []blockfile.Record) (missing []uint64) {
	if b.First == 0 {
		return nil
	}
	next := b.First
	for _, r := range records {
		if r.Kind == blockfile.Tombstone || r.Seq < next {
			continue
		}
		for ; next < r.Seq && next <= b.Last; next++ {
			missing = append(missing, next)
		}
		next = r.Seq + 1
	}
	for ; next <= b.Last; next++ {
		missing = append(missing, next)
	}
	return missing
}

// reread reads a changed block, and returns it with the sequences that it lost since; nil for a block that keeps changing.
func (s *Store) reread(ctx context.Context, id blockID, before *closedBlock, last bool) (now *closedBlock, missing []uint64, err error) {
	var bad []blockfile.Span
	for range 5 {
		stamp, err := s.dir.readBlock(id, &s.watch.buf)
		if err != nil {
			return nil, nil, err
		}
		var records []blockfile.Record
		records, bad = scanBlock(id, s.watch.buf)
		if len(bad) == 0 {
			b := describe(stamp, s.watch.buf, records)
			return &b, before.without(records), nil
		}
		after, err := stampOf(s.dir.block(id.stream, id.index))
		if err != nil {
			return nil, nil, err
		}
		if after.equal(stamp) && !last {
			break
		}
		// The server may have written a part of a record.
		if err := wait(ctx, 5*time.Millisecond); err != nil {
			return nil, nil, err
		}
		if !after.equal(stamp) {
			bad = nil
		}
	}
	if len(bad) == 0 {
		return nil, nil, nil
	}
	return nil, nil, fmt.Errorf("%w: block %d of stream %s", ErrDamaged, id.index, id.stream)
}

// deleted returns ErrDamaged unless the server lists the messages with these sequences as deleted.
func (s *Store) deleted(ctx context.Context, stream string, seqs []uint64) error {
	if len(seqs) == 0 {
		return nil
	}
	st := s.st.log
	if stream == snapshotStream {
		st = s.st.snapshot
	}
	info, err := st.Info(ctx, jetstream.WithDeletedDetails(true))
	if err != nil {
		return err
	}
	gone := make(map[uint64]bool, len(info.State.Deleted))
	for _, seq := range info.State.Deleted {
		gone[seq] = true
	}
	for _, seq := range seqs {
		if info.State.Lost != nil || seq >= info.State.FirstSeq && !gone[seq] {
			return fmt.Errorf("%w: message %d of stream %s is missing", ErrDamaged, seq, stream)
		}
	}
	return nil
}
