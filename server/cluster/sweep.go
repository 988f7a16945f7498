package cluster

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// NATS keeps a marker for every deleted key of a bucket. Every server removes old markers. It also
// lists the existing keys, because it may have been disconnected while a marker existed.
const (
	sweepEvery = time.Hour
	markerAge  = 24 * time.Hour
)

// sweepMarkers removes old markers until Close.
func (c *Cluster) sweepMarkers(b *Bucket) {
	c.wg.Go(func() {
		ticker := time.NewTicker(sweepEvery)
		defer ticker.Stop()
		for {
			if err := b.sweep(c.ctx, time.Now().Add(-markerAge)); err != nil && c.ctx.Err() == nil {
				c.logger.Warn("markers of deleted keys were not removed", "bucket", b.name, "err", err)
			}
			select {
			case <-ticker.C:
			case <-c.ctx.Done():
				return
			}
		}
	})
}

// sweep removes the markers from before a time. A key that was created again is not affected.
func (b *Bucket) sweep(ctx context.Context, before time.Time) error {
	var old []jetstream.KeyValueEntry
	err := b.heads(ctx, func(e jetstream.KeyValueEntry) {
		if e.Operation() != jetstream.KeyValuePut && e.Created().Before(before) {
			old = append(old, e)
		}
	})
	if err != nil || len(old) == 0 {
		return err
	}
	bound, cancel := b.c.bounded(ctx)
	defer cancel()
	stream, err := b.c.js.Stream(bound, "KV_"+b.kv.Bucket())
	for _, e := range old {
		if err != nil {
			break
		}
		err = b.purgeTo(ctx, stream, e)
	}
	if err != nil {
		return fmt.Errorf("cluster: sweeping %s: %w", b.name, err)
	}
	return nil
}

// purgeTo removes the messages of a key up to an entry.
func (b *Bucket) purgeTo(ctx context.Context, stream jetstream.Stream, e jetstream.KeyValueEntry) error {
	ctx, cancel := b.c.bounded(ctx)
	defer cancel()
	return stream.Purge(ctx, jetstream.WithPurgeSubject("$KV."+b.kv.Bucket()+"."+e.Key()), jetstream.WithPurgeSequence(e.Revision()+1))
}

// heads calls each with the newest entry of every key, without the value.
func (b *Bucket) heads(ctx context.Context, each func(jetstream.KeyValueEntry)) error {
	ctx, cancel := b.c.bounded(ctx)
	defer cancel()
	w, err := b.kv.WatchAll(ctx, jetstream.MetaOnly())
	if err != nil {
		return fmt.Errorf("cluster: reading %s: %w", b.name, err)
	}
	defer w.Stop()
	for {
		select {
		case e, ok := <-w.Updates():
			if !ok {
				return fmt.Errorf("cluster: reading %s: %w", b.name, nats.ErrConnectionClosed)
			}
			if e == nil {
				return nil
			}
			each(e)
		case <-ctx.Done():
			return fmt.Errorf("cluster: reading %s: %w", b.name, ctx.Err())
		}
	}
}

// watched holds the keys that a watcher knows.
type watched struct {
	b       *Bucket
	changed func(Entry)
	keys    map[string]bool
}

// tell passes an entry to the watcher. A value that cannot be decrypted is logged and skipped.
func (w *watched) tell(e jetstream.KeyValueEntry) {
	if e.Operation() == jetstream.KeyValuePut {
		w.keys[e.Key()] = true
	} else {
		delete(w.keys, e.Key())
	}
	w.b.tell(e, w.changed)
}

// compare reports the keys that no longer exist as deleted.
func (w *watched) compare(ctx context.Context) error {
	gone := make(map[string]bool, len(w.keys))
	for key := range w.keys {
		gone[key] = true
	}
	err := w.b.heads(ctx, func(e jetstream.KeyValueEntry) {
		if e.Operation() == jetstream.KeyValuePut {
			delete(gone, e.Key())
		}
	})
	if err != nil {
		return err
	}
	for key := range gone {
		delete(w.keys, key)
		w.changed(Entry{Key: key})
	}
	return nil
}
