package session

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/eventlog"
)

// write stores the drafts and shows them. After an error the batch is kept and the agent blocks;
// tick retries.
func (j *journal) write() error {
	if len(j.batch) == 0 {
		return nil
	}
	if j.notOwner() {
		return j.refuse()
	}
	records := make([][][]byte, len(j.batch))
	for i, p := range j.batch {
		pieces, err := p.rec.pieces()
		if err != nil {
			return err
		}
		records[i] = pieces
	}
	began := time.Now()
	last, err := j.append(records)
	j.srv.opts.Metrics.Appended(err, time.Since(began))
	if err != nil {
		if j.blocked == nil {
			j.logger.Warn("the log cannot be written", "err", err)
		}
		j.blocked = err
		if errors.Is(err, eventlog.ErrConflict) {
			j.onLost()
		}
		return err
	}
	j.resumed = j.resumed || j.blocked != nil
	j.blocked = nil
	items := make([]Item, len(j.batch))
	for i, p := range j.batch {
		j.seq++
		items[i] = Item{Seq: j.seq, ts: p.rec.Time, msg: p.rec.Msg, large: p.rec.isLarge(), brief: p.rec.brief, progress: event.IsTransient(p.ev), queue: p.queue}
		if p.ev != nil {
			j.conv.Apply(p.ev)
		}
		j.notes.add(&j.core, j.seq, p.rec, p.ev)
	}
	j.notes.tell()
	if j.seq != last {
		j.logger.Error("the log ends at another number", "want", j.seq, "got", last)
	}
	j.batch, j.sub, j.unsaved = nil, 0, unsaved{}
	j.lineStart, j.written, j.stored = 0, j.line, j.core.Line
	if j.stream.empty() {
		if err := j.shown.clear(); err != nil {
			j.logger.Warn("deltas that are in the log were not removed", "err", err)
		}
	}
	for _, ev := range j.stream.restart() {
		// The deltas before the record are superseded; those that still count are repeated.
		items = j.delta(items, ev, j.missed)
	}
	j.missed = false
	j.onWritten() // before viewers get the messages, because they look up requests in the list
	j.publish(items)
	j.snapshotSometimes()
	return nil
}

// notOwner reports whether another server may own the session.
func (j *journal) notOwner() bool {
	if !j.lostOwner.Load() && j.owner != nil && !j.owner.Held() {
		j.onLost() // before the lost channel is closed, because this process was paused
	}
	return j.lostOwner.Load()
}

// refuse drops unwritten drafts of a session that another server owns.
func (j *journal) refuse() error {
	j.batch, j.blocked = nil, errNotOwner()
	return j.blocked
}

// append stores records. If the outcome of a write is unknown, it reads the log.
func (j *journal) append(records [][][]byte) (uint64, error) {
	ctx, cancel := j.bounded()
	defer cancel()
	last, err := appendPieces(ctx, j.log, j.seq, records)
	if err == nil || errors.Is(err, eventlog.ErrConflict) || errors.Is(err, eventlog.ErrFull) || errors.Is(err, eventlog.ErrTooLarge) {
		return last, err
	}
	at, lastErr := j.log.Last(ctx)
	if lastErr == nil && at.Seq == j.seq+uint64(len(records)) && j.starts(ctx, slices.Concat(records[0]...)) {
		return at.Seq, nil
	}
	return 0, err
}

// starts reports whether a record follows directly on those that this server knows. It is false if another server has written in between.
func (j *journal) starts(ctx context.Context, record []byte) bool {
	for ev, err := range j.log.Read(ctx, eventlog.Cursor{Seq: j.seq}) {
		if err != nil || ev.Sub == 0 {
			return err == nil && bytes.Equal(ev.Data, record)
		}
	}
	return false
}

// publish shows items to the viewers.
func (j *journal) publish(items []Item) {
	if len(items) == 0 {
		return
	}
	if err := j.shown.flush(); err != nil {
		j.logger.Warn("viewers see deltas that a crash would lose", "err", err)
	}
	j.hub.publish(items, func() func() []Item {
		// Viewers that miss deltas get the current partial text, which belongs to the loop. They
		// convert it to messages.
		seq, sub, events, provider := j.seq, j.sub, j.stream.restart(), j.core.Provider
		return func() []Item { return restartItems(seq, sub, events, provider) }
	})
}

// restartItems returns the messages for a viewer with only the durable ones. All have the position
// of the newest delta, so that the next one follows.
func restartItems(seq, sub uint64, events []event.Event, provider string) []Item {
	encoder := event.NewEncoder("00000000", 0, event.CapabilityOutputDelta)
	now := Timestamp(time.Now())
	var items []Item
	for _, ev := range events {
		if h := ev.Head(); h.Provider == "" {
			h.Provider = provider
		}
		messages, err := encoder.Messages(ev)
		if err != nil {
			continue // as when it was new
		}
		for _, data := range messages {
			items = append(items, Item{Seq: seq, Sub: sub, ts: now, msg: data, progress: event.IsTransient(ev)})
		}
	}
	if len(items) == 0 {
		return nil
	}
	return items
}
