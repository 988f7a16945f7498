package eventlog

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// reader merges the records of a log and of its deltas into one sequence of events with
// strictly increasing numbers.
type reader struct {
	log     *Log
	known   plan    // state at the start
	epoch   [8]byte // of the log; zero until the first record
	cursor  Cursor  // position after the last yielded event
	owner   uint64  // the largest owner of the deltas so far
	pending *record // deltas after an event that is not yielded yet
	yield   func(Event, error) bool
}

// follow merges until ctx ends, with a goroutine per feed.
func (r *reader) follow(ctx context.Context, logs, deltas *feed) error {
	ctx, cancel := context.WithCancel(ctx)
	events, pieces := make(chan record), make(chan record)
	var feeds sync.WaitGroup
	feeds.Go(func() { logs.pump(ctx, events) })
	feeds.Go(func() { deltas.pump(ctx, pieces) })
	defer feeds.Wait()
	defer cancel()
	return r.merge(ctx, events, pieces)
}

// merge yields from both channels. Deltas that are ahead of the log wait, together with the later
// ones in their channel, for the event that they follow: it was stored before them and will arrive.
func (r *reader) merge(ctx context.Context, events, deltas <-chan record) error {
	for {
		more := deltas
		if r.pending != nil {
			more = nil
		}
		var err error
		select {
		case rec := <-events:
			err = r.events(ctx, &rec)
		case rec := <-more:
			err = r.deltas(&rec)
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// readTo yields the events of the plan, and the deltas after them.
func (r *reader) readTo(ctx context.Context, logs, deltas *feed) error {
	var join joiner
	for at := uint64(0); at < r.known.logEnd && r.cursor.Seq < r.known.last; {
		rec, err := r.within(ctx, logs, &join, r.known.logEnd)
		if err == nil {
			err = r.events(ctx, &rec)
		}
		if err != nil {
			return err
		}
		at = rec.stream
	}
	for at := r.known.deltaStart - 1; at < r.known.deltaEnd; {
		rec, err := r.within(ctx, deltas, &join, r.known.deltaEnd)
		if errors.Is(err, ErrTrimmed) {
			return nil // newer events have superseded them
		}
		if err == nil {
			err = r.deltas(&rec)
		}
		if err != nil {
			return err
		}
		at = rec.stream
	}
	return nil
}

// stallCheck is the time after which Read checks whether a missing message was deleted.
const stallCheck = time.Second

var errStall = errors.New("no message")

// within returns the next record of a feed, or ErrTrimmed if the messages up to end were deleted.
func (r *reader) within(ctx context.Context, f *feed, join *joiner, end uint64) (record, error) {
	for {
		bound, cancel := context.WithTimeoutCause(ctx, stallCheck, errStall)
		rec, err := f.record(bound, join)
		cancel()
		if !errors.Is(err, errStall) {
			return rec, err
		}
		if err := r.stillThere(ctx, f.stream, f.subject, end); err != nil {
			return rec, err
		}
		if err := r.unreadable(ctx, f, end); err != nil {
			return rec, err
		}
	}
}

// unreadable returns an error if the server cannot read the next message of a feed, which would block its consumer forever. The
// error lists the events up to the next readable message; deltas are skipped.
func (r *reader) unreadable(ctx context.Context, f *feed, end uint64) error {
	_, _, err := probe(ctx, f.stream, f.subject, max(1, f.next))
	if !errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil // only slow
	}
	if err := r.stillThere(ctx, f.stream, f.subject, end); err != nil {
		return err
	}
	if f.subject != r.log.subject() {
		return ErrTrimmed
	}
	to := r.known.last
	for low, high := f.next+1, end+1; low < high; {
		middle := low + (high-low)/2
		_, h, err := probe(ctx, f.stream, f.subject, middle)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			low = middle + 1
			continue
		}
		if high = middle; h.first > r.cursor.Seq+1 {
			to = h.first - 1
		}
	}
	return r.lost(Damage{r.log.session, r.cursor.Seq + 1, to, "their record cannot be read"})
}

// stillThere returns ErrTrimmed if a subject has no unread message up to a sequence: it was deleted during the read.
func (r *reader) stillThere(ctx context.Context, stream jetstream.Stream, subject string, end uint64) error {
	last, err := lastSequence(ctx, stream, subject)
	if err == nil && last < end {
		err = ErrTrimmed
	}
	return r.log.wrap("reading", err)
}

// events yields the events of a record after the cursor.
func (r *reader) events(ctx context.Context, rec *record) error {
	if rec.err != nil && !errors.Is(rec.err, errRecord) {
		return rec.err
	}
	if rec.err != nil || rec.data == nil {
		return r.missing(rec.stream)
	}
	if r.epoch == [8]byte{} {
		r.epoch = rec.epoch
	}
	if rec.epoch != r.epoch {
		return fmt.Errorf("%w: the log of session %s was created again", ErrEpoch, r.log.session)
	}
	next := r.cursor.Seq + 1
	if rec.last() < next {
		return r.missing(rec.stream)
	}
	if rec.first > next {
		return r.gap(ctx, rec.first)
	}
	for i := next - rec.first; i < rec.count; i++ {
		if err := r.emit(Event{Seq: rec.first + i, Time: rec.time, Data: rec.data[i]}); err != nil {
			return err
		}
	}
	if waiting := r.pending; waiting != nil && waiting.first <= r.cursor.Seq {
		r.pending = nil
		return r.deltas(waiting)
	}
	return nil
}

// deltas yields the deltas of a record that are not superseded, or keeps the record until its event is yielded.
func (r *reader) deltas(rec *record) error {
	if rec.err != nil {
		if errors.Is(rec.err, errRecord) {
			return nil // a damaged delta counts as missing
		}
		return rec.err
	}
	switch {
	case rec.owner < r.owner, rec.first < r.cursor.Seq, r.epoch != [8]byte{} && rec.epoch != r.epoch:
		return nil
	case rec.first > r.cursor.Seq:
		r.pending = rec
		return nil
	}
	r.owner = rec.owner
	for i, data := range rec.data {
		sub := rec.sub + uint64(i)
		if sub <= r.cursor.Sub {
			continue
		}
		if err := r.emit(Event{Seq: rec.first, Sub: sub, Time: rec.time, Data: data}); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) emit(e Event) error {
	r.cursor.Seq, r.cursor.Sub = e.Seq, e.Sub
	if !r.yield(e, nil) {
		return errStopped
	}
	return nil
}

// missing returns an error if the newest events of the start were not among the messages up to a
// sequence. In other cases the next record reveals the missing events and their number.
func (r *reader) missing(seq uint64) error {
	if seq < r.known.logEnd || r.cursor.Seq >= r.known.last {
		return nil
	}
	return r.lost(Damage{Session: r.log.session, From: r.cursor.Seq + 1, To: r.known.last, Reason: "their record cannot be read"})
}

// gap returns the error for missing events: they were trimmed if a snapshot includes them, and lost otherwise.
func (r *reader) gap(ctx context.Context, found uint64) error {
	l, next := r.log, r.cursor.Seq+1
	oldest, err := l.first(ctx)
	if err != nil {
		return err
	}
	if oldest > next {
		snapshot, err := l.newestSnapshot(ctx)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		if err == nil && snapshot.Seq+1 >= oldest {
			return fmt.Errorf("%w: session %s starts at %d", ErrTrimmed, l.session, oldest)
		}
	}
	return r.lost(Damage{Session: l.session, From: next, To: found - 1, Reason: "they are not in the store"})
}

// lost returns the error for lost events, and reports a new loss.
func (r *reader) lost(d Damage) error {
	if s := r.log.store; s.journal.missed(d, r.epoch) {
		s.logDamage(d)
	}
	return &DamageError{d}
}

// lastSequence returns the sequence of a subject's newest message, or 0.
func lastSequence(ctx context.Context, stream jetstream.Stream, subject string) (uint64, error) {
	msg, err := stream.GetLastMsgForSubject(ctx, subject)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return msg.Sequence, nil
}
