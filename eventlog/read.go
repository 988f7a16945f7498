package eventlog

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/nats-io/nats.go"
)

// Read yields the durable events after the cursor, up to the newest at the time of the call, and then the deltas
// that follow it. An error is the last element. Reading starts when the sequence is ranged over, which may be
// repeated.
func (l *Log) Read(ctx context.Context, after Cursor) iter.Seq2[Event, error] {
	return l.sequence(ctx, after, false)
}

// Follow yields the events of Read and then every later event, until ctx ends, the store is closed, or the
// log is created again. It waits for a log that does not exist yet. Lost connections are restored; the
// error that ends the sequence is its last element.
func (l *Log) Follow(ctx context.Context, after Cursor) iter.Seq2[Event, error] {
	return l.sequence(ctx, after, true)
}

func (l *Log) sequence(ctx context.Context, after Cursor, follow bool) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if err := l.read(ctx, after, follow, yield); err != nil && !errors.Is(err, errStopped) {
			yield(Event{}, err)
		}
	}
}

// errStopped ends a reader after its caller has left the loop.
var errStopped = errors.New("stopped")

// read yields events until it fails, the caller stops, or everything is read.
func (l *Log) read(ctx context.Context, after Cursor, follow bool, yield func(Event, error) bool) error {
	ctx, end, err := l.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	ctx, leave := joinContexts(ctx, l.store.readers)
	defer leave()
	r := &reader{log: l, cursor: after, yield: yield}
	plan, err := r.plan(ctx)
	for pause := minPause; follow && transient(ctx, err); pause = min(2*pause, maxPause) {
		if err := wait(ctx, pause); err != nil {
			return err
		}
		plan, err = r.plan(ctx)
	}
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil || plan.empty && !follow {
		return err
	}
	r.known = plan
	logs := &feed{store: l.store, stream: l.store.st.log, subject: l.subject(), next: plan.logStart, gets: feedGets}
	deltas := &feed{store: l.store, stream: l.store.st.delta, subject: l.deltaSubject(), next: plan.deltaStart, gets: feedGets}
	if follow {
		return r.follow(ctx, logs, deltas)
	}
	defer logs.close()
	defer deltas.close()
	return r.readTo(ctx, logs, deltas)
}

// transient reports whether an error is temporary: an error of the connection, not of the log.
func transient(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() != nil || errors.Is(err, nats.ErrConnectionClosed) {
		return false
	}
	for _, final := range []error{ErrNotFound, ErrTrimmed, ErrEpoch, ErrFormat, ErrDamaged, ErrClosed, errRecord} {
		if errors.Is(err, final) {
			return false
		}
	}
	return true
}

// plan is the start of a reader in both streams, and the end of the log at that time.
type plan struct {
	empty                  bool
	logStart, deltaStart   uint64
	last, logEnd, deltaEnd uint64 // the newest event; the sequences of the newest messages, 0 for none
}

// plan checks the cursor and finds the start.
func (r *reader) plan(ctx context.Context) (plan, error) {
	l := r.log
	// The end of the deltas is read first, so that deltas after the newest event are never missed.
	deltaEnd, err := lastSequence(ctx, l.store.st.delta, l.deltaSubject())
	if err != nil {
		return plan{}, l.wrap("reading deltas", err)
	}
	acked := l.store.journal.last(l.session)
	tip, err := l.tip(ctx)
	if err != nil {
		return plan{}, err
	}
	if r.epoch = tip.epoch; tip.last < acked {
		_ = r.lost(Damage{l.session, tip.last + 1, acked, "they are not in the store"}) // the reader ends before them
	}
	if err := r.checkCursor(tip); err != nil {
		return plan{}, err
	}
	if tip.stream == 0 {
		return plan{empty: true, logStart: 1, deltaStart: 1}, nil
	}
	p := plan{last: tip.last, logEnd: tip.stream, deltaEnd: deltaEnd}
	p.logStart, err = l.locateEvent(ctx, r.cursor.Seq+1)
	if err != nil {
		return p, l.wrap("looking for the cursor", err)
	}
	p.deltaStart, err = locate(ctx, l.store.st.delta, l.deltaSubject(), func(h *header) bool { return h.first >= tip.last })
	return p, l.wrap("looking for deltas", err)
}

func (r *reader) checkCursor(tip tip) error {
	c := r.cursor
	switch {
	case tip.last == 0 && (c.Epoch != "" || c.Seq > 0):
		return r.log.notFound()
	case tip.last == 0:
		return nil
	case c.Epoch != "" && c.Epoch != r.log.epoch(tip.epoch):
		return fmt.Errorf("%w: session %s has epoch %s, the cursor %s", ErrEpoch, r.log.session, r.log.epoch(tip.epoch), c.Epoch)
	case c.Seq > tip.last:
		return fmt.Errorf("%w: session %s ends at %d, the cursor is at %d", ErrEpoch, r.log.session, tip.last, c.Seq)
	}
	return nil
}

// record is a record of a feed.
type record struct {
	header
	data   [][]byte // nil for a part that does not complete a record
	stream uint64
	err    error
}

// record returns the next record or part of one. An error of the feed is returned, an error of the record is in it.
func (f *feed) record(ctx context.Context, join *joiner) (record, error) {
	msg, err := f.take(ctx)
	if err != nil {
		return record{}, err
	}
	r := record{stream: msg.seq}
	r.header, r.data, r.err = join.add(msg.data)
	return r, nil
}

// pump passes records from a feed to a channel until ctx ends or the feed fails.
func (f *feed) pump(ctx context.Context, to chan<- record) {
	defer f.close()
	var join joiner
	for {
		r, err := f.record(ctx, &join)
		if err != nil {
			r.err = err
		}
		select {
		case to <- r:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}
