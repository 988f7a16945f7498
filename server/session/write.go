package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/eventlog"
)

// write stores what was drafted and shows it. After an error the batch is kept and the
// agent waits; tick tries again.
func (a *actor) write() error {
	if len(a.batch) == 0 {
		return nil
	}
	records := make([][]byte, len(a.batch))
	for i, p := range a.batch {
		data, err := p.rec.encode()
		if err != nil {
			return err
		}
		records[i] = data
	}
	began := time.Now()
	last, err := a.append(records)
	a.srv.opts.Metrics.Appended(err, time.Since(began))
	if err != nil {
		if a.blocked == nil {
			a.logger.Warn("the log cannot be written", "err", err)
		}
		a.blocked = err
		if errors.Is(err, eventlog.ErrConflict) {
			a.lost()
		}
		return err
	}
	a.blocked = nil
	items := make([]Item, len(a.batch))
	for i, p := range a.batch {
		a.seq++
		items[i] = Item{Seq: a.seq, ts: p.rec.Time, msg: p.rec.Msg, progress: event.IsTransient(p.ev)}
		if p.ev != nil {
			a.conv.Apply(p.ev)
		}
		a.note(a.seq, p.rec, p.ev)
	}
	a.tellHooks()
	if a.seq != last {
		a.logger.Error("the log has another number", "want", a.seq, "got", last)
	}
	a.batch, a.sub, a.unsaved = nil, 0, nil
	for _, ev := range a.stream.restart() {
		// The deltas before the record are superseded; those that still count come again.
		items = a.delta(items, ev, a.missed)
	}
	a.missed = false
	a.publish(items)
	a.snapshotSometimes()
	return nil
}

// append stores records. Where the outcome is unknown it asks the log.
func (a *actor) append(records [][]byte) (uint64, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(a.ctx), a.srv.opts.CallTimeout)
	defer cancel()
	last, err := a.log.Append(ctx, a.seq, records...)
	if err == nil || errors.Is(err, eventlog.ErrConflict) || errors.Is(err, eventlog.ErrFull) || errors.Is(err, eventlog.ErrTooLarge) {
		return last, err
	}
	at, lastErr := a.log.Last(ctx)
	if lastErr == nil && at.Seq == a.seq+uint64(len(records)) {
		return at.Seq, nil
	}
	return 0, err
}

// delta makes items of a part of a block. With fold set it is new; otherwise it repeats
// what came before a record.
func (a *actor) delta(items []Item, ev event.Event, fold bool) []Item {
	if h := ev.Head(); h.Provider == "" {
		h.Provider = a.core.Provider
	}
	now := Timestamp(time.Now())
	messages, err := a.encoder.Messages(ev)
	if err != nil {
		a.logger.Error("an event cannot be encoded", "type", fmt.Sprintf("%T", ev), "err", err)
		return items
	}
	if fold && len(messages) > 0 {
		a.conv.Apply(ev)
	}
	for _, data := range messages {
		a.sub++
		items = append(items, Item{Seq: a.seq, Sub: a.sub, ts: now, msg: data, progress: event.IsTransient(ev), delta: ev})
		a.unsave(now, data)
	}
	return items
}

// unsave queues a delta for the disk.
func (a *actor) unsave(now string, msg []byte) {
	data, err := record{Time: now, Msg: msg}.encode()
	if err != nil {
		return // msg was encoded a moment ago
	}
	if len(a.unsaved) == 0 {
		a.firstSub, a.saveAt = a.sub, time.Now().Add(a.srv.opts.DeltaInterval)
	}
	a.unsaved = append(a.unsaved, data)
}

// saveDeltas stores deltas. They are for a crash: losing some is allowed and said.
func (a *actor) saveDeltas() {
	a.publish(a.release(nil)) // what is held is saved with them
	if len(a.unsaved) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(a.ctx, a.srv.opts.CallTimeout)
	defer cancel()
	for len(a.unsaved) > 0 {
		n := 1
		for size := len(a.unsaved[0]); n < len(a.unsaved) && size+len(a.unsaved[n]) <= maxDeltas; n++ {
			size += len(a.unsaved[n])
		}
		if err := a.log.AppendDelta(ctx, 0, a.seq, a.firstSub, a.unsaved[:n]...); err != nil {
			a.logger.Warn("deltas were not saved", "count", n, "err", err)
		}
		a.unsaved, a.firstSub = a.unsaved[n:], a.firstSub+uint64(n)
	}
	a.unsaved = nil
}

// maxDeltas is how many bytes of deltas go to the log at once; it takes some more.
const maxDeltas = 192 << 10

// publish shows items to the viewers.
func (a *actor) publish(items []Item) {
	if len(items) == 0 {
		return
	}
	// Viewers that miss deltas get what is partial now. It is made here, in the loop, only
	// when the stream is small; else by the next publish.
	seq, sub, events := a.seq, a.sub, a.stream.restart()
	provider := a.core.Provider
	a.hub.publish(items, func() []Item { return restartItems(seq, sub, events, provider) })
	a.srv.updated(a.id, a.core.AgentID, a.summary())
}

// restartItems are the messages for a viewer that has the durable ones alone. All have the
// place of the newest delta, so that the next one follows.
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

// saved is a snapshot as the log holds it.
type saved struct {
	Core         core            `json:"core"`
	Conversation json.RawMessage `json:"conversation"`
}

// snapshotCache is the conversation as JSON at a place.
type snapshotCache struct {
	seq, sub uint64
	data     []byte
}

// conversation is the conversation as JSON.
func (a *actor) conversation() ([]byte, error) {
	if a.cached.data != nil && a.cached.seq == a.seq && a.cached.sub == a.sub {
		return a.cached.data, nil
	}
	data, err := a.conv.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("server: encoding a conversation: %w", err)
	}
	a.cached = snapshotCache{a.seq, a.sub, data}
	return data, nil
}

// snapshotSometimes stores a snapshot when the log has grown by a part of itself, so that
// loading reads little and storing costs little over the life of a session.
func (a *actor) snapshotSometimes() {
	if !a.stream.empty() || a.core.State.busy() || a.seq-a.snapSeq < max(64, a.snapSeq/4) {
		return
	}
	a.snapshot()
}

func (a *actor) snapshot() {
	if a.seq == a.snapSeq || len(a.batch) > 0 || len(a.unnoted) > 0 { // a load notes what is after the snapshot
		return
	}
	conversation, err := a.conversation()
	if err == nil {
		var data []byte
		if data, err = json.Marshal(saved{a.core, conversation}); err == nil {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(a.ctx), a.srv.opts.CallTimeout)
			defer cancel()
			err = a.log.PutSnapshot(ctx, a.seq, 0, data)
		}
	}
	if err != nil {
		a.logger.Warn("no snapshot", "err", err) // the log has everything
		return
	}
	a.snapSeq = a.seq
	a.trimSoon(a.seq)
}

// trimSoon frees the space of deltas that a snapshot holds, beside the loop: it may have to read
// much of what other sessions wrote, and one session after the other does. Readers skip such
// deltas, so a failure costs space alone.
func (a *actor) trimSoon(seq uint64) {
	a.srv.wg.Go(func() {
		select {
		case a.srv.trimming <- struct{}{}:
		case <-a.srv.ctx.Done():
			return
		}
		defer func() { <-a.srv.trimming }()
		ctx, cancel := context.WithTimeout(a.srv.ctx, a.srv.opts.CallTimeout)
		defer cancel()
		if err := a.log.TrimDeltas(ctx, seq); err != nil && ctx.Err() == nil {
			a.logger.Warn("deltas were not trimmed", "err", err)
		}
	})
}
