package eventlog

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// Trim deletes events up to seq in whole records; the newest record stays. The snapshot must include
// them: otherwise the error is ErrNoSnapshot.
func (l *Log) Trim(ctx context.Context, seq uint64) error {
	ctx, end, err := l.beginWrite(ctx)
	if err != nil {
		return err
	}
	defer end()
	if err := l.store.readyAll(ctx, logStream, snapshotStream); err != nil {
		return l.wrap("checking its files", err)
	}
	leave, err := l.store.gate.shared(ctx)
	if err != nil {
		return err
	}
	defer leave()
	snapshot, err := l.newestSnapshot(ctx)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	if snapshot.Seq < seq {
		return fmt.Errorf("%w: session %s has one of event %d, not of %d", ErrNoSnapshot, l.session, snapshot.Seq, seq)
	}
	keep, err := l.locateEvent(ctx, seq+1)
	if err != nil || keep <= 1 {
		return l.wrap("looking for events", err)
	}
	_, kept, err := probe(ctx, l.store.st.log, l.subject(), keep)
	if err == nil {
		err = l.store.journal.purging(l.session, kept.epoch, kept.first)
	}
	if err == nil {
		err = l.store.st.log.Purge(ctx, jetstream.WithPurgeSubject(l.subject()), jetstream.WithPurgeSequence(keep))
	}
	l.store.freed()
	return l.wrap("trimming", err)
}

// Delete removes the log with its deltas, snapshots and lease. Deleting a log that does not exist is not an
// error. A later Append starts a new log with another epoch. After an error the log is complete. Once it is deleted,
// failures are only logged, as on a full disk: leases expire, and a snapshot without its log is not read.
func (l *Log) Delete(ctx context.Context) error {
	ctx, end, err := l.beginWrite(ctx)
	if err != nil {
		return err
	}
	defer end()
	if err := l.store.readyAll(ctx, logStream, snapshotStream); err != nil {
		return l.wrap("checking its files", err)
	}
	leave, err := l.store.gate.shared(ctx)
	if err != nil {
		return err
	}
	defer leave()
	state, release, err := l.lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	st := l.store.st
	tip, err := l.tip(ctx)
	if err != nil && !errors.Is(err, errRecord) {
		return err
	}
	if err := l.store.journal.purging(l.session, tip.epoch, everything); err != nil {
		return err
	}
	state.known = false
	if err := st.log.Purge(ctx, jetstream.WithPurgeSubject(l.subject())); err != nil {
		return l.wrap("deleting", err)
	}
	err = errors.Join(
		st.delta.Purge(ctx, jetstream.WithPurgeSubject(l.deltaSubject())),
		st.snapshot.Purge(ctx, jetstream.WithPurgeSubject(l.snapshotSubject())),
		st.leases.Purge(ctx, l.session),
	)
	if err != nil {
		l.store.opts.Logger.Warn("eventlog: removing the rest of a deleted log", "session", l.session, "err", err)
	}
	l.store.forget(l.session)
	l.store.freed()
	return nil
}

// forget drops the store's state of a log.
func (s *Store) forget(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.logs, session)
}

// dropSnapshot deletes the snapshots of a session.
func (s *Store) dropSnapshot(ctx context.Context, session string) error {
	err := s.st.snapshot.Purge(ctx, jetstream.WithPurgeSubject(snapshotPrefix+session))
	return s.Log(session).wrap("deleting a snapshot", err)
}
