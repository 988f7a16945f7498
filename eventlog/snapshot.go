package eventlog

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/nats-io/nats.go/jetstream"
)

// Snapshot returns the newest snapshot of the log. The error is ErrNotFound if the log has none.
func (l *Log) Snapshot(ctx context.Context) (Snapshot, error) {
	ctx, end, err := l.begin(ctx)
	if err != nil {
		return Snapshot{}, err
	}
	defer end()
	return l.newestSnapshot(ctx)
}

// newestSnapshot reads the snapshots of the session, which are few: writing one deletes earlier
// ones.
func (l *Log) newestSnapshot(ctx context.Context) (Snapshot, error) {
	tip, err := l.tip(ctx)
	if err != nil {
		return Snapshot{}, err
	}
	var newest *Snapshot
	var join joiner
	for seq := uint64(1); ; {
		msg, err := l.store.st.snapshot.GetMsg(ctx, seq, jetstream.WithGetMsgSubject(l.snapshotSubject()))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			break
		}
		if err != nil {
			return Snapshot{}, l.wrap("reading a snapshot", err)
		}
		h, data, err := join.add(msg.Data)
		if errors.Is(err, ErrFormat) {
			return Snapshot{}, l.wrap("reading a snapshot", err)
		}
		if err == nil && data != nil && h.epoch == tip.epoch {
			newest = &Snapshot{Cursor{l.epoch(h.epoch), h.first, h.sub}, h.time, data[0]}
		}
		seq = msg.Sequence + 1
	}
	if newest == nil {
		return Snapshot{}, fmt.Errorf("%w: snapshot of session %s", ErrNotFound, l.session)
	}
	return *newest, nil
}

// PutSnapshot stores the state of the session after (seq, sub), which replaces earlier snapshots. It is synced when it
// returns nil. The error is ErrConflict if the event seq is not stored, or a snapshot of a later position exists.
func (l *Log) PutSnapshot(ctx context.Context, seq, sub uint64, data []byte) error {
	ctx, end, err := l.beginWrite(ctx)
	if err != nil {
		return err
	}
	defer end()
	if err := l.admit(ctx, [][]byte{data}); err != nil {
		return err
	}
	if err := l.store.readyAll(ctx, snapshotStream); err != nil {
		return l.wrap("checking its files", err)
	}
	leave, err := l.store.gate.shared(ctx)
	if err != nil {
		return err
	}
	defer leave()
	tip, err := l.tip(ctx)
	if err != nil {
		return err
	}
	if seq == 0 || seq > tip.last {
		return &ConflictError{Session: l.session, Expected: seq, Last: tip.last}
	}
	after, err := l.snapshotEnd(ctx, tip.epoch, seq, sub)
	if err != nil {
		return err
	}
	h := header{kind: kindSnapshot, epoch: tip.epoch, first: seq, sub: sub, time: l.store.opts.Now()}
	return l.writeSnapshot(ctx, after, recordParts(h, [][]byte{data}))
}

// snapshotEnd returns the sequence of the subject's last message, and refuses to replace a later snapshot.
func (l *Log) snapshotEnd(ctx context.Context, epoch [8]byte, seq, sub uint64) (uint64, error) {
	msg, err := l.store.st.snapshot.GetLastMsgForSubject(ctx, l.snapshotSubject())
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, l.wrap("reading a snapshot", err)
	}
	h, _, err := decodePart(msg.Data)
	if errors.Is(err, ErrFormat) {
		return 0, l.wrap("reading a snapshot", err)
	}
	if err == nil && h.epoch == epoch && h.complete() && (h.first > seq || h.first == seq && h.sub > sub) {
		return 0, &ConflictError{Session: l.session, Expected: seq, Last: h.first}
	}
	return msg.Sequence, nil
}

// writeSnapshot stores the parts of a snapshot after the message with the sequence after, and deletes earlier parts.
func (l *Log) writeSnapshot(ctx context.Context, after uint64, msgs iter.Seq[[]byte]) error {
	var start uint64
	for msg := range msgs {
		ack, err := l.store.publish(ctx, l.snapshotSubject(), msg,
			jetstream.WithExpectStream(snapshotStream), jetstream.WithExpectLastSequencePerSubject(after))
		if err != nil {
			return l.wrap("writing a snapshot", err)
		}
		after = ack.Sequence
		if start == 0 {
			start = after
		}
		l.store.wrote(len(msg))
	}
	err := l.store.st.snapshot.Purge(ctx, jetstream.WithPurgeSubject(l.snapshotSubject()), jetstream.WithPurgeSequence(start))
	l.store.freed()
	return l.wrap("deleting an old snapshot", err)
}
