package session

import (
	"context"
	"encoding/json"
	"fmt"
	"unsafe"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server/api"
)

func (j *journal) restore(data []byte) error {
	var sv saved
	if err := json.Unmarshal(data, &sv); err != nil {
		return err
	}
	var conv event.Conversation
	if err := json.Unmarshal(sv.Conversation, &conv); err != nil {
		return err
	}
	j.core, j.conv = sv.Core, conv
	return nil
}

// replay folds an event of the log. It collects webhook events that are newer than told.
func (j *journal) replay(ev eventlog.Event, told uint64) error {
	if ev.Sub > 0 && j.shown.any {
		return nil // the text that viewers saw contains it
	}
	rec, err := decodeRecord(ev.Data)
	if ev.Sub == 0 {
		if err == nil && rec.Facts != nil && rec.Facts.Owner != nil {
			j.ownedBefore(rec.Facts.Owner.Epoch)
		}
		j.replayShown(ev.Seq - 1)
	}
	if err != nil {
		return err
	}
	events, err := j.decoder.Decode(rec.Msg)
	if err != nil {
		return fmt.Errorf("server: event %d of the log: %w", ev.Seq, err)
	}
	if ev.Sub == 0 {
		j.seq = ev.Seq
		if rec.Facts != nil && rec.Facts.Asked != nil && len(events) > 0 {
			rec.Facts.Asked.prompt, _ = event.NewPrompt(events[0])
		}
		for _, e := range events {
			rec.Facts.complete(e)
		}
		j.core.apply(ev.Seq, rec.Time, rec.Facts)
		var last event.Event
		for _, last = range events {
			j.stream.durable(last) // the event replaces these deltas
			j.conv.Apply(last)
		}
		if ev.Seq > told {
			j.notes.add(&j.core, ev.Seq, rec, last)
		}
		return nil
	}
	for _, e := range events {
		j.stream.add(e)
	}
	return nil
}

// ownedBefore handles a record with a new owner: deltas from before it are invalid.
func (j *journal) ownedBefore(epoch uint64) {
	j.shown.owned(epoch)
	j.stream.blocks, j.stream.progress = nil, nil
}

// replayShown adds the deltas that viewers saw after events up to seq.
func (j *journal) replayShown(seq uint64) {
	f := &j.shown
	for ; len(f.found) > 0 && f.found[0].seq <= seq; f.found = f.found[1:] {
		rec, err := decodeRecord(f.found[0].data)
		if err == nil {
			var events []event.Event
			events, err = j.decoder.Decode(rec.Msg)
			for _, e := range events {
				j.stream.add(e)
			}
		}
		if err != nil {
			j.logger.Warn("a delta that viewers saw cannot be read", "err", err) // its block is cut off
		}
	}
}

// openMessages returns the messages of the conversation that have not ended.
func (j *journal) openMessages() []messageKey {
	var open []messageKey
	for _, t := range j.conv.Threads {
		for _, it := range t.Items {
			if m := it.Message; m != nil && m.Role == "assistant" && m.State == event.Streaming {
				open = append(open, messageKey{t.ParentToolUseID, m.ID})
			}
		}
	}
	return open
}

// kept reports whether the log still has the events after seq.
func (j *journal) kept(ctx context.Context, seq uint64) bool {
	if seq == j.seq || len(j.hub.after(api.Cursor{Epoch: j.hub.epoch, Seq: seq}, 1, true).items) > 0 {
		return true
	}
	for _, err := range j.log.Read(ctx, eventlog.Cursor{Seq: seq}) {
		return err == nil
	}
	return false
}

// saved is the stored form of a snapshot.
type saved struct {
	Core         core            `json:"core"`
	Conversation json.RawMessage `json:"conversation"`
}

// snapshotCache is the JSON of the conversation at a position.
type snapshotCache struct {
	seq, sub uint64
	data     []byte
}

// uncopied returns the JSON of a conversation as a string that shares its memory, for all viewers. The memory
// is never modified.
func uncopied(data []byte) event.JSON {
	return event.JSON(unsafe.String(unsafe.SliceData(data), len(data)))
}

// conversation returns the conversation as JSON.
func (j *journal) conversation() ([]byte, error) {
	if j.cached.data != nil && j.cached.seq == j.seq && j.cached.sub == j.sub {
		return j.cached.data, nil
	}
	data, err := j.conv.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("server: encoding a conversation: %w", err)
	}
	j.cached = snapshotCache{j.seq, j.sub, data}
	return data, nil
}

// snapshotSometimes stores a snapshot when the log has grown by a fraction of its size, so that
// loading reads little and storing is cheap over the life of a session.
func (j *journal) snapshotSometimes() {
	if !j.stream.empty() || j.core.State.busy() || j.seq-j.snapSeq < max(64, j.snapSeq/4) {
		return
	}
	j.snapshot()
}

func (j *journal) snapshot() {
	if j.lostOwner.Load() || j.seq == j.snapSeq || len(j.batch) > 0 || len(j.notes.waiting) > 0 { // a load collects webhook events only from the events after the snapshot
		return
	}
	conversation, err := j.conversation()
	if err == nil {
		var data []byte
		if data, err = json.Marshal(saved{j.core, conversation}); err == nil {
			ctx, cancel := j.bounded()
			defer cancel()
			err = j.log.PutSnapshot(ctx, j.seq, 0, data)
		}
	}
	if err != nil {
		j.logger.Warn("no snapshot", "err", err) // the log has everything
		return
	}
	j.snapSeq = j.seq
	j.trimSoon(j.seq)
}

// trimSoon frees the space of deltas that a snapshot includes, outside the loop: it may have to
// read many events of other sessions, and only one session does so at a time. Readers skip such
// deltas, so a failure only costs space.
func (j *journal) trimSoon(seq uint64) {
	j.srv.wg.Go(func() {
		select {
		case j.srv.trimming <- struct{}{}:
		case <-j.srv.ctx.Done():
			return
		}
		defer func() { <-j.srv.trimming }()
		ctx, cancel := context.WithTimeout(j.srv.ctx, j.srv.opts.CallTimeout)
		defer cancel()
		if err := j.log.TrimDeltas(ctx, seq); err != nil && ctx.Err() == nil {
			j.logger.Warn("deltas were not trimmed", "err", err)
		}
	})
}
