package session

import (
	"context"
	"fmt"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
)

// unsaved holds deltas until they are saved. The zero value is empty.
type unsaved struct {
	records [][]byte
	first   uint64    // the number of the first of them
	due     time.Time // when they are due to be saved
}

func (u *unsaved) add(data []byte, sub uint64, due time.Time) {
	if len(u.records) == 0 {
		u.first, u.due = sub, due
	}
	u.records = append(u.records, data)
}

// take returns the next deltas, as many as fit into one write, with the number of the first.
func (u *unsaved) take() (records [][]byte, first uint64) {
	n := 1
	for size := len(u.records[0]); n < len(u.records) && size+len(u.records[n]) <= maxDeltas; n++ {
		size += len(u.records[n])
	}
	records, first = u.records[:n], u.first
	u.records, u.first = u.records[n:], u.first+uint64(n)
	return records, first
}

// delta creates items for a part of a block. fold is set for a new part; other parts repeat one
// from before a record.
func (j *journal) delta(items []Item, ev event.Event, fold bool) []Item {
	if h := ev.Head(); h.Provider == "" {
		h.Provider = j.core.Provider
	}
	now := Timestamp(time.Now())
	messages, err := j.encoder.Messages(ev)
	if err != nil {
		j.logger.Error("an event cannot be encoded", "type", fmt.Sprintf("%T", ev), "err", err)
		return items
	}
	if fold && len(messages) > 0 {
		j.conv.Apply(ev)
	}
	for _, data := range messages {
		j.sub++
		items = append(items, Item{Seq: j.seq, Sub: j.sub, ts: now, msg: data, progress: event.IsTransient(ev), delta: ev})
		if rec, err := (record{Time: now, Msg: data}).encode(); err == nil { // data was just encoded
			j.unsaved.add(rec, j.sub, time.Now().Add(j.srv.opts.DeltaInterval))
			if fold {
				j.shown.add(j.seq, j.core.Owner.Epoch, rec)
			}
		}
	}
	return items
}

// saveDeltas stores deltas, which are needed only after a crash. A failure is logged.
func (j *journal) saveDeltas() {
	ctx, cancel := context.WithTimeout(j.ctx, j.srv.opts.CallTimeout)
	defer cancel()
	for len(j.unsaved.records) > 0 {
		records, first := j.unsaved.take()
		if err := j.log.AppendDelta(ctx, j.ownerEpoch(), j.seq, first, records...); err != nil {
			j.logger.Warn("deltas were not saved", "count", len(records), "err", err)
		}
	}
	j.unsaved = unsaved{}
}

// maxDeltas is the number of bytes of deltas in one write; the log accepts slightly more.
const maxDeltas = 192 << 10
