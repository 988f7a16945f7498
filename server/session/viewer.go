package session

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server/api"
)

// The limits of one result for a viewer.
const (
	viewerBatch = 256
	pageEvents  = 512
	// resyncAfter is the number of missing durable messages above which a snapshot is cheaper.
	resyncAfter = 20_000
)

// attachAt determines the start of a viewer: its cursor, or a snapshot if it has no cursor or the
// log no longer has that position.
func (s *Sessions) attachAt(ctx context.Context, a *actor, after *api.Cursor) (api.AttachResult, error) {
	var result api.AttachResult
	err := a.call(ctx, func() error {
		epoch := a.hub.epoch
		result.State = string(a.core.State)
		if after != nil && after.Epoch == epoch && after.Seq <= a.seq && a.seq-after.Seq <= resyncAfter && a.kept(ctx, after.Seq) {
			result.Cursor = *after
			return nil
		}
		data, err := a.conversation()
		if err != nil {
			return err
		}
		result.Cursor = api.Cursor{Epoch: epoch, Seq: a.seq, Sub: a.sub}
		result.Snapshot, result.Resync = uncopied(data), after != nil
		return nil
	})
	return result, err
}

// Attach returns the start of a viewer without following the session.
func (s *Sessions) Attach(ctx context.Context, p api.AttachParams) (api.AttachResult, error) {
	a, release, err := s.watched(ctx, p.SessionID)
	if err != nil {
		return api.AttachResult{}, err
	}
	defer release()
	return s.attachAt(ctx, a, p.After)
}

// Capabilities are the optional features of a viewer.
type Capabilities struct {
	Output bool // event.CapabilityOutputDelta
	Queue  bool // event.CapabilityQueueUpdated
	Brief  bool // large prompts may have a placeholder, so that the log need not be read for them
}

// Add adds a capability by its name. It ignores unknown ones.
func (c *Capabilities) Add(name string) {
	c.Output = c.Output || name == event.CapabilityOutputDelta
	c.Queue = c.Queue || name == event.CapabilityQueueUpdated
}

// Viewer follows one session for one connection. It fetches messages: there is no queue for it.
type Viewer struct {
	srv     *Sessions
	actor   *actor
	release func() // ends the use of actor
	Cursor  api.Cursor
	can     Capabilities
	queue   readQueue   // used if the viewer accepts only whole queues
	early   time.Time   // no messages before this time
	pacer   *time.Timer // for pace; nil before the first use
}

// ErrResync is returned when a viewer has to start again with a snapshot.
var ErrResync = errors.New("server: the log lacks messages that the viewer needs")

// Next waits for messages after the cursor and advances it. Deltas of one block are joined. The
// results of two calls are at least [Options.ViewerInterval] apart, so that messages in between are
// sent together. Without a message it returns when ctx ends.
func (v *Viewer) Next(ctx context.Context) ([]Item, error) {
	for {
		f := v.actor.hub.after(v.Cursor, viewerBatch, v.can.Brief)
		if f.stale {
			return nil, ErrResync
		}
		items := f.items
		if (f.behind || len(items) > 0) && v.pace(ctx) {
			continue
		}
		switch {
		case f.behind:
			page, err := v.page(ctx)
			if err == nil && !v.can.Queue {
				err = v.readQueues(ctx, page)
			}
			if err != nil {
				return nil, err
			}
			items = page
		case len(items) == 0:
			if f.closed && v.move(ctx) {
				continue
			}
			if f.closed {
				return nil, Fail(api.NotConnected, "the session was closed; attach again")
			}
			select {
			case <-f.wait:
				continue
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		if len(items) > 0 {
			last := items[len(items)-1]
			v.Cursor.Seq, v.Cursor.Sub = last.Seq, last.Sub
		}
		if items = v.whole(v.wanted(joined(items))); len(items) > 0 {
			v.early = time.Now().Add(v.srv.opts.ViewerInterval)
			return items, nil
		}
	}
}

// wanted drops messages that the viewer has not requested.
func (v *Viewer) wanted(items []Item) []Item {
	// A durable message keeps its number, so that a gap is always a fault.
	unwanted := func(it Item) bool { return it.progress && it.Sub != 0 }
	if v.can.Output || !slices.ContainsFunc(items, unwanted) {
		return items
	}
	return slices.DeleteFunc(slices.Clone(items), unwanted)
}

// page reads durable messages from the log.
func (v *Viewer) page(ctx context.Context) ([]Item, error) {
	var items []Item
	bytes := 0
	for ev, err := range v.actor.log.Read(ctx, eventlog.Cursor{Seq: v.Cursor.Seq}) {
		if errors.Is(err, eventlog.ErrTrimmed) || errors.Is(err, eventlog.ErrEpoch) || errors.Is(err, eventlog.ErrDamaged) || IsMissing(err) {
			return nil, ErrResync
		}
		if err != nil {
			return nil, err
		}
		if ev.Sub != 0 {
			break
		}
		rec, err := decodeRecord(ev.Data)
		if err != nil {
			return nil, ErrResync
		}
		items = append(items, Item{Seq: ev.Seq, ts: rec.Time, msg: rec.Msg})
		if bytes += len(rec.Msg); len(items) >= pageEvents || bytes > ringBytes {
			break
		}
	}
	if len(items) == 0 {
		return nil, ErrResync
	}
	return items, nil
}

// The frame of a message on a socket, around its envelope.
const (
	frameHead = `{"jsonrpc":"2.0","method":"event","params":`
	frameTail = `}`
)

// Frame returns an item encoded for a socket.
func (v *Viewer) Frame(it Item) []byte {
	encode := func() []byte {
		b := make([]byte, 0, len(it.msg)+len(frameHead)+len(v.actor.id)+len(v.Cursor.Epoch)+len(it.ts)+96)
		return append(appendEnvelope(append(b, frameHead...), v.actor.id, v.Cursor.Epoch, it.Seq, it.Sub, it.ts, it.msg), frameTail...)
	}
	if it.shared == nil {
		return encode()
	}
	it.shared.once.Do(func() { it.shared.frame = encode() })
	return it.shared.frame
}

// Envelope returns an item encoded for a stream or a poll.
func (v *Viewer) Envelope(it Item) []byte {
	frame := v.Frame(it)
	return frame[len(frameHead) : len(frame)-len(frameTail)]
}

// pace waits until the next allowed time, or until ctx ends, and reports whether it waited. A viewer with rare messages
// needs no timer.
func (v *Viewer) pace(ctx context.Context) bool {
	wait := time.Until(v.early)
	if wait <= 0 {
		return false
	}
	v.early = time.Time{}
	if v.pacer == nil {
		v.pacer = time.NewTimer(wait)
	} else {
		v.pacer.Reset(wait)
	}
	select {
	case <-v.pacer.C:
	case <-ctx.Done():
	}
	return true
}

// Watch returns a viewer of a session that starts at a cursor, and the function that ends it.
func (s *Sessions) Watch(ctx context.Context, id string, after *api.Cursor, can Capabilities) (*Viewer, api.AttachResult, func(), error) {
	a, release, err := s.watched(ctx, id)
	if err != nil {
		return nil, api.AttachResult{}, nil, err
	}
	result, err := s.attachAt(ctx, a, after)
	if err != nil {
		release()
		return nil, api.AttachResult{}, nil, err
	}
	v, end := s.view(a, result.Cursor, can, release)
	return v, result, end, nil
}

// view returns a viewer at a cursor, and the function that ends it.
func (s *Sessions) view(a *actor, at api.Cursor, can Capabilities, release func()) (*Viewer, func()) {
	v := &Viewer{srv: s, Cursor: at, can: can}
	v.enter(a, release)
	return v, v.leave
}

// Within is Next with a timeout: without a message it returns no items.
func (v *Viewer) Within(ctx context.Context, d time.Duration) ([]Item, error) {
	bound, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	items, err := v.Next(bound)
	if err != nil && bound.Err() != nil && ctx.Err() == nil {
		return nil, nil
	}
	return items, err
}

// Session returns the id of the session.
func (v *Viewer) Session() string { return v.actor.id }

// Resync starts again with a snapshot.
func (v *Viewer) Resync(ctx context.Context) (api.AttachResult, error) {
	result, err := v.srv.attachAt(ctx, v.actor, nil)
	if err == nil {
		result.Resync, v.Cursor = true, result.Cursor
	}
	return result, err
}
