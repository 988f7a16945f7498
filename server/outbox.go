package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server/session"
	"github.com/seed7221b0f9/parley/webhook"
)

// outboxLogName is the log of the events for webhooks.
const outboxLogName = "outbox"

// outbox is the log of events for webhooks. Each event is stored once, after the related message of
// its session; events that a crash prevented are added when the session is loaded.
type outbox struct {
	log session.Log

	mu      sync.Mutex
	seq     uint64
	snapSeq uint64
	marks   map[string]uint64 // number of the newest included message, by session
	changed chan struct{}     // closed and replaced when it grows
	// max and step are maxOutbox and outboxStep; tests use smaller values.
	max, step uint64
}

// The size of the outbox: the number of newest events that are kept, and the number of further
// events after which the older ones are trimmed. A webhook that is further behind loses the trimmed
// events.
const (
	maxOutbox  = 50_000
	outboxStep = 1000
)

func openOutbox(ctx context.Context, log session.Log) (*outbox, error) {
	o := &outbox{log: log, changed: make(chan struct{}), max: maxOutbox, step: outboxStep}
	if err := o.restore(ctx); err != nil {
		return nil, err
	}
	return o, o.catchUp(ctx)
}

// restore reads the snapshot, which has the marks of all events up to its position. The caller
// holds the lock, or is the only user of the outbox.
func (o *outbox) restore(ctx context.Context) error {
	snap, err := o.log.Snapshot(ctx)
	if err != nil && !session.IsMissing(err) {
		return err
	}
	marks := map[string]uint64{}
	if err == nil {
		if err := json.Unmarshal(snap.Data, &marks); err != nil {
			return fmt.Errorf("server: the outbox: %w", err)
		}
	}
	o.marks, o.seq, o.snapSeq = marks, snap.Seq, snap.Seq
	return nil
}

// trim stores the marks and drops the excess events. It is retried after the next event if it
// fails. The caller holds the lock.
func (o *outbox) trim(ctx context.Context) {
	if o.seq < o.max || o.seq-o.snapSeq < o.step {
		return
	}
	data, err := json.Marshal(o.marks)
	if err == nil && o.log.PutSnapshot(ctx, o.seq, 0, data) == nil && o.log.Trim(ctx, o.seq-o.max) == nil {
		o.snapSeq = o.seq
	}
}

// forget drops the mark of a deleted session.
func (o *outbox) forget(session string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.marks, session)
}

// catchUp reads new events of the log. The caller holds the lock, or is the only user of the outbox.
func (o *outbox) catchUp(ctx context.Context) error { return readOn(ctx, o.readOn, o.restore) }

// readOn continues to read a log. If another server of the cluster has stored a newer snapshot and
// trimmed the events before it, it restarts from that.
func readOn(ctx context.Context, read, restore func(context.Context) error) error {
	err := read(ctx)
	if !errors.Is(err, eventlog.ErrTrimmed) {
		return err
	}
	if err := restore(ctx); err != nil {
		return err
	}
	return read(ctx)
}

func (o *outbox) readOn(ctx context.Context) error {
	for ev, err := range session.ReadAround(ctx, o.log, o.seq) {
		if session.IsMissing(err) {
			return nil
		}
		if err != nil {
			return err
		}
		o.seq = ev.Seq
		var e webhook.Event
		if json.Unmarshal(ev.Data, &e) == nil {
			o.marks[e.SessionID] = max(o.marks[e.SessionID], e.Seq)
		}
	}
	return nil
}

// add stores events of one session that are not in the outbox yet.
func (o *outbox) add(ctx context.Context, events []webhook.Event) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		var rows [][]byte
		var newest uint64
		for _, e := range events {
			if e.Seq <= o.marks[e.SessionID] {
				continue
			}
			data, err := json.Marshal(e)
			if err != nil {
				return err
			}
			rows, newest = append(rows, data), e.Seq
		}
		if len(rows) == 0 {
			return nil
		}
		last, err := o.log.Append(ctx, o.seq, rows...)
		var c *eventlog.ConflictError
		if errors.As(err, &c) && c.Last > o.seq { // another server of the cluster wrote events
			if err := o.catchUp(ctx); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		o.seq, o.marks[events[0].SessionID] = last, newest
		o.trim(ctx)
		close(o.changed)
		o.changed = make(chan struct{})
		return nil
	}
}

// follow reads events that other servers of the cluster write, until ctx ends.
func (o *outbox) follow(ctx context.Context) {
	log, ok := o.log.(interface {
		Follow(ctx context.Context, after eventlog.Cursor) iter.Seq2[eventlog.Event, error]
	})
	for ok && ctx.Err() == nil {
		after, _ := o.last()
		for ev, err := range log.Follow(ctx, eventlog.Cursor{Seq: after}) {
			if err != nil || o.learn(ctx, ev.Seq) != nil {
				break
			}
		}
		select {
		case <-time.After(followPause): // it was trimmed, or NATS has failed
		case <-ctx.Done():
		}
		_ = o.learn(ctx, after+1) // the next round tries again
	}
}

// followPause is the time between attempts to follow the outbox.
const followPause = time.Second

// learn reads the log up to an event that another server has written.
func (o *outbox) learn(ctx context.Context, seq uint64) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if seq <= o.seq {
		return nil
	}
	before := o.seq
	err := o.catchUp(ctx)
	if o.seq > before {
		close(o.changed)
		o.changed = make(chan struct{})
	}
	return err
}

// oldest returns the number before the oldest event that is certain to be kept.
func (o *outbox) oldest(ctx context.Context) (uint64, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	err := o.catchUp(ctx) // another server of the cluster may have written and trimmed
	return o.seq - min(o.seq, o.max), err
}

// last returns the number of the newest event, and a channel that is closed when there is a newer
// one.
func (o *outbox) last() (uint64, <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.seq, o.changed
}
