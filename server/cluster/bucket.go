package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Bucket is a key-value store that all servers of a cluster share. Its values are encrypted. Its methods may be called
// from any goroutine.
type Bucket struct {
	c    *Cluster
	name string
	kv   jetstream.KeyValue
	seal sealer
}

// Entry is a key of a bucket with its value.
type Entry struct {
	Key      string
	Value    []byte // nil if it was removed
	Revision uint64
}

var (
	// ErrChanged reports that another server has changed or created the value.
	ErrChanged = errors.New("cluster: the value has changed")
	// ErrMissing reports a key without a value.
	ErrMissing = errors.New("cluster: no such value")
)

// maxBucket is the maximum size of a bucket in bytes.
const maxBucket = 256 << 20

// Bucket opens a bucket and creates it if it does not exist. Values expire after age, unless it is 0.
func (c *Cluster) Bucket(ctx context.Context, name string, age time.Duration) (*Bucket, error) {
	return c.bucket(ctx, name, age, maxBucket)
}

func (c *Cluster) bucket(ctx context.Context, name string, age time.Duration, size int64) (*Bucket, error) {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	seal, err := c.sealer("bucket " + name)
	if err != nil {
		return nil, err
	}
	full := "PARLEY_" + name
	kv, err := c.js.KeyValue(ctx, full)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		config := jetstream.KeyValueConfig{Bucket: full, TTL: age, Replicas: c.store.Options().Replicas, MaxBytes: size}
		if kv, err = c.js.CreateKeyValue(ctx, config); errors.Is(err, jetstream.ErrBucketExists) {
			kv, err = c.js.KeyValue(ctx, full)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("cluster: opening bucket %s: %w", name, err)
	}
	b := &Bucket{c, name, kv, seal}
	if age == 0 {
		c.sweepMarkers(b)
	}
	return b, nil
}

// place returns the name with which the value of a key is authenticated.
func (b *Bucket) place(key string) string { return b.name + "/" + key }

// open decrypts an entry that NATS has returned.
func (b *Bucket) open(e jetstream.KeyValueEntry) (Entry, error) {
	entry := Entry{Key: e.Key(), Revision: e.Revision()}
	if e.Operation() != jetstream.KeyValuePut {
		return entry, nil
	}
	value, err := b.seal.open(b.place(e.Key()), e.Value())
	if err != nil {
		return entry, fmt.Errorf("%w: %s", err, b.place(e.Key()))
	}
	entry.Value = value
	return entry, nil
}

// Get returns the value of a key, or ErrMissing.
func (b *Bucket) Get(ctx context.Context, key string) (Entry, error) {
	ctx, cancel := b.c.bounded(ctx)
	defer cancel()
	e, err := b.kv.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return Entry{}, ErrMissing
	}
	if err != nil {
		return Entry{}, fmt.Errorf("cluster: %s: %w", b.place(key), err)
	}
	return b.open(e)
}

// Put sets the value of a key.
func (b *Bucket) Put(ctx context.Context, key string, value []byte) error {
	ctx, cancel := b.c.bounded(ctx)
	defer cancel()
	_, err := b.kv.Put(ctx, key, b.seal.seal(b.place(key), value))
	return b.changed(key, err)
}

// Create sets the value of a key that does not exist; otherwise it returns ErrChanged.
func (b *Bucket) Create(ctx context.Context, key string, value []byte) error {
	ctx, cancel := b.c.bounded(ctx)
	defer cancel()
	_, err := b.kv.Create(ctx, key, b.seal.seal(b.place(key), value))
	return b.changed(key, err)
}

// Update replaces the value if its revision is the given one; otherwise it returns ErrChanged.
func (b *Bucket) Update(ctx context.Context, key string, value []byte, revision uint64) error {
	ctx, cancel := b.c.bounded(ctx)
	defer cancel()
	_, err := b.kv.Update(ctx, key, b.seal.seal(b.place(key), value), revision)
	return b.changed(key, err)
}

// Remove deletes a key.
func (b *Bucket) Remove(ctx context.Context, key string) error {
	ctx, cancel := b.c.bounded(ctx)
	defer cancel()
	return b.changed(key, b.kv.Delete(ctx, key))
}

// RemoveRevision deletes a key whose value has the given revision; otherwise it returns ErrChanged.
func (b *Bucket) RemoveRevision(ctx context.Context, key string, revision uint64) error {
	ctx, cancel := b.c.bounded(ctx)
	defer cancel()
	return b.changed(key, b.kv.Delete(ctx, key, jetstream.LastRevision(revision)))
}

// changed returns ErrChanged for a write that failed because of a concurrent change, and other errors as they are.
func (b *Bucket) changed(key string, err error) error {
	if err == nil {
		return nil
	}
	var api *jetstream.APIError
	if errors.Is(err, jetstream.ErrKeyExists) || errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence {
		return fmt.Errorf("%w: %s", ErrChanged, b.place(key))
	}
	return fmt.Errorf("cluster: %s: %w", b.place(key), err)
}

// Watch calls changed for each existing value, then for each change, in order, until the cluster is closed. It returns
// after the existing values. A value that cannot be decrypted is logged and skipped.
func (b *Bucket) Watch(ctx context.Context, changed func(Entry)) error {
	w, err := b.kv.WatchAll(b.c.ctx)
	if err != nil {
		return fmt.Errorf("cluster: watching %s: %w", b.name, err)
	}
	seen := &watched{b, changed, map[string]bool{}}
	ctx, cancel := b.c.bounded(ctx)
	defer cancel()
	for all := false; !all; {
		select {
		case e, ok := <-w.Updates():
			switch {
			case !ok:
				return fmt.Errorf("cluster: watching %s: %w", b.name, nats.ErrConnectionClosed)
			case e == nil:
				all = true
			default:
				seen.tell(e)
			}
		case <-ctx.Done():
			_ = w.Stop() // the error is that of the context
			return fmt.Errorf("cluster: watching %s: %w", b.name, ctx.Err())
		}
	}
	b.c.wg.Go(func() {
		defer w.Stop()
		ticker := time.NewTicker(sweepEvery)
		defer ticker.Stop()
		for {
			select {
			case e, ok := <-w.Updates():
				if !ok {
					return
				}
				if e != nil {
					seen.tell(e)
				}
			case <-ticker.C:
				if err := seen.compare(b.c.ctx); err != nil && b.c.ctx.Err() == nil {
					b.c.logger.Warn("data that another server has deleted may still be cached here", "bucket", b.name, "err", err)
				}
			case <-b.c.ctx.Done():
				return
			}
		}
	})
	return nil
}

func (b *Bucket) tell(e jetstream.KeyValueEntry, changed func(Entry)) {
	entry, err := b.open(e)
	if err != nil {
		b.c.logger.Error("a value of the cluster cannot be read", "err", err)
		return
	}
	changed(entry)
}

// All returns all entries of the bucket.
func (b *Bucket) All(ctx context.Context) ([]Entry, error) {
	ctx, cancel := b.c.bounded(ctx)
	defer cancel()
	w, err := b.kv.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return nil, fmt.Errorf("cluster: reading %s: %w", b.name, err)
	}
	defer w.Stop()
	var all []Entry
	for {
		select {
		case e, ok := <-w.Updates():
			if !ok {
				return nil, fmt.Errorf("cluster: reading %s: %w", b.name, nats.ErrConnectionClosed)
			}
			if e == nil {
				return all, nil
			}
			b.tell(e, func(entry Entry) { all = append(all, entry) })
		case <-ctx.Done():
			return nil, fmt.Errorf("cluster: reading %s: %w", b.name, ctx.Err())
		}
	}
}
