package eventlog

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// logState is the store's state of a log that it wrote to. It belongs to the goroutine that holds
// the turn.
type logState struct {
	turn  chan struct{} // holds the right to write
	known bool          // whether tip is the server's state after our last write
	tip   tip
}

// tip is the end of a log.
type tip struct {
	stream uint64 // the sequence of the subject's last message; 0 before the first
	last   uint64 // the number of the newest event; 0 before the first
	epoch  [8]byte
	time   time.Time
}

// maxAttempts limits how often Append retries after another writer left an unfinished record.
const maxAttempts = 3

// Append writes events after the event expected, 0 for an empty log, and returns the number of the
// last one written. When it returns nil, all events are stored and synced. On ErrConflict, ErrFull
// and ErrTooLarge, no event is stored. After any other error, call Last. Without events it only
// checks.
func (l *Log) Append(ctx context.Context, expected uint64, events ...[]byte) (last uint64, err error) {
	return l.AppendPieces(ctx, expected, inPieces(events)...)
}

// AppendPieces is [Log.Append] for events that consist of pieces: a large event need not be in one place.
func (l *Log) AppendPieces(ctx context.Context, expected uint64, events ...[][]byte) (last uint64, err error) {
	ctx, end, err := l.beginWrite(ctx)
	if err != nil {
		return 0, err
	}
	defer end()
	if err := l.admit(ctx, slices.Concat(events...)); err != nil {
		return 0, err
	}
	state, release, err := l.lock(ctx)
	if err != nil {
		return 0, err
	}
	defer release()
	for range maxAttempts {
		if err := l.expect(ctx, state, expected); err != nil {
			return 0, err
		}
		if len(events) == 0 {
			return expected, nil
		}
		err = l.write(ctx, state, events)
		if err == nil {
			return state.tip.last, nil
		}
		if !errors.Is(err, ErrConflict) {
			return 0, err
		}
	}
	return 0, &ConflictError{Session: l.session, Expected: expected, Last: state.tip.last}
}

// admit rejects data that is too large or does not fit.
func (l *Log) admit(ctx context.Context, data [][]byte) error {
	size := 0
	for _, d := range data {
		size += len(d)
	}
	if size > l.store.opts.MaxAppend {
		return fmt.Errorf("%w: %d bytes for session %s, at most %d are allowed", ErrTooLarge, size, l.session, l.store.opts.MaxAppend)
	}
	if len(data) == 0 {
		return nil
	}
	return l.store.checkRoom(ctx, size)
}

// lock waits for the turn to write to the log.
func (l *Log) lock(ctx context.Context) (*logState, func(), error) {
	s := l.store
	s.mu.Lock()
	state := s.logs[l.session]
	if state == nil {
		state = &logState{turn: make(chan struct{}, 1)}
		state.turn <- struct{}{}
		s.logs[l.session] = state
	}
	s.mu.Unlock()
	select {
	case <-state.turn:
		return state, func() { state.turn <- struct{}{} }, nil
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
}

// expect returns nil if the log's newest event is expected. The store's state is not sufficient for
// a conflict: another node may have written.
func (l *Log) expect(ctx context.Context, state *logState, expected uint64) error {
	if state.known && state.tip.last == expected {
		return nil
	}
	if err := l.refresh(ctx, state); err != nil {
		return err
	}
	if state.tip.last != expected {
		return &ConflictError{Session: l.session, Expected: expected, Last: state.tip.last}
	}
	return nil
}

func (l *Log) refresh(ctx context.Context, state *logState) (err error) {
	state.tip, err = l.tip(ctx)
	state.known = err == nil
	return err
}

// tip asks the server for the end of the log.
func (l *Log) tip(ctx context.Context) (tip, error) {
	msg, err := l.store.st.log.GetLastMsgForSubject(ctx, l.subject())
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return tip{}, nil
	}
	if err != nil {
		return tip{}, l.wrap("reading the newest event", err)
	}
	h, _, err := decodePart(msg.Data)
	if err != nil {
		return tip{}, l.wrap("reading the newest event", err)
	}
	t := tip{stream: msg.Sequence, last: h.last(), epoch: h.epoch, time: h.time}
	if !h.complete() {
		t.last = h.first - 1 // its writer exited before the record was complete
	}
	return t, nil
}

// write stores events as one record after the tip.
func (l *Log) write(ctx context.Context, state *logState, events [][][]byte) error {
	epoch := state.tip.epoch
	if state.tip.stream == 0 {
		rand.Read(epoch[:])
	}
	h := header{kind: kindEvents, epoch: epoch, first: state.tip.last + 1, time: l.store.opts.Now()}
	written, err := l.publishParts(ctx, state.tip.stream, pieceParts(h, events))
	if err != nil {
		state.known = false
		return err
	}
	state.tip = tip{stream: written, last: state.tip.last + uint64(len(events)), epoch: epoch, time: h.time}
	l.store.journal.acked(l.session, state.tip.last)
	return nil
}

// publishParts stores the messages of a record, each only if the previous one is the subject's
// last, and returns the sequence of the last one.
func (l *Log) publishParts(ctx context.Context, after uint64, msgs iter.Seq[[]byte]) (uint64, error) {
	var written []uint64
	for msg := range msgs {
		ack, err := l.store.publish(ctx, l.subject(), msg, jetstream.WithExpectStream(logStream), jetstream.WithExpectLastSequencePerSubject(after))
		if err != nil {
			err = l.wrap("appending", err)
			if errors.Is(err, ErrFull) {
				l.takeBack(ctx, written)
			}
			return 0, err
		}
		after = ack.Sequence
		written = append(written, after)
		l.store.wrote(len(msg))
	}
	return after, nil
}

// publish stores a message. If the context has ended, it returns the cause.
func (s *Store) publish(ctx context.Context, subject string, msg []byte, opts ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	ack, err := bounded(ctx, bounds{&s.pause, s.opts.Timeout}, func(ctx context.Context) (*jetstream.PubAck, error) {
		return s.js.Publish(ctx, subject, msg, opts...)
	})
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return ack, err
}

// takeBack deletes the parts of a record that did not fit, last first: readers skip the start of a
// record.
func (l *Log) takeBack(ctx context.Context, written []uint64) {
	for _, seq := range slices.Backward(written) {
		if err := l.store.st.log.DeleteMsg(ctx, seq); err != nil {
			l.store.opts.Logger.Warn("eventlog: deleting an unfinished record", "session", l.session, "err", err)
			return
		}
	}
	l.store.freed()
}

// classify maps errors of the server to the errors of this package.
func classify(err error) error {
	var api *jetstream.APIError
	if !errors.As(err, &api) {
		return err
	}
	switch {
	case api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence, api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant:
		return ErrConflict
	case strings.Contains(api.Description, "maximum bytes exceeded"), strings.Contains(api.Description, "no space left"),
		strings.Contains(api.Description, "insufficient resources"), strings.Contains(api.Description, "resource limits exceeded"):
		return fmt.Errorf("%w: %s", ErrFull, api.Description)
	}
	return err
}

// AppendDelta writes deltas that follow the durable event seq, the log's newest, numbered from sub on. owner is the epoch of the
// writer's lease, 0 without leases: readers skip deltas of an owner smaller than the largest they have seen. It returns when the
// server has the deltas; they are synced later. The error is ErrConflict if seq is not the newest event.
func (l *Log) AppendDelta(ctx context.Context, owner, seq, sub uint64, deltas ...[]byte) error {
	ctx, end, err := l.beginWrite(ctx)
	if err != nil || len(deltas) == 0 {
		return err
	}
	defer end()
	if seq == 0 || sub == 0 {
		return fmt.Errorf("eventlog: session %s: a delta needs the number of an event and a counter from 1 on, not (%d, %d)", l.session, seq, sub)
	}
	state, release, err := l.lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := l.expect(ctx, state, seq); err != nil {
		return err
	}
	h := header{kind: kindDeltas, epoch: state.tip.epoch, owner: owner, first: seq, sub: sub, time: l.store.opts.Now()}
	msgs := encodeRecord(h, deltas...)
	if len(msgs) > 1 {
		return fmt.Errorf("%w: deltas of session %s have more than %d bytes", ErrTooLarge, l.session, partSize)
	}
	_, err = l.store.publish(ctx, l.deltaSubject(), msgs[0], jetstream.WithExpectStream(deltaStream))
	return l.wrap("appending a delta", err)
}

// TrimDeltas frees the space of deltas that follow events before seq. Readers skip superseded
// deltas in any case, so it may be called rarely, such as once a turn.
func (l *Log) TrimDeltas(ctx context.Context, seq uint64) error {
	ctx, end, err := l.beginWrite(ctx)
	if err != nil {
		return err
	}
	defer end()
	keep, err := locate(ctx, l.store.st.delta, l.deltaSubject(), func(h *header) bool { return h.first >= seq })
	if err != nil || keep <= 1 {
		return l.wrap("looking for deltas", err)
	}
	err = l.store.st.delta.Purge(ctx, jetstream.WithPurgeSubject(l.deltaSubject()), jetstream.WithPurgeSequence(keep))
	return l.wrap("trimming deltas", err)
}
