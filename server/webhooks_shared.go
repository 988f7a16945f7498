package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/server/cluster"
	"github.com/seed7221b0f9/parley/server/webpush"
)

// sharedHooks are the webhooks of a cluster. Every server has the list, and the one with the lease makes the calls of a webhook: an
// event is delivered again only if that server dies between the call and the write of its position. webhooks.mu guards the fields.
type sharedHooks struct {
	c      *cluster.Cluster
	bucket *cluster.Bucket
	// known is the content of the bucket by key: webhooks and their positions.
	known   map[string][]byte
	started bool
}

// Keys of the bucket with the webhooks.
const (
	hooksBucket    = "WEBHOOKS"
	hookPrefix     = "k." // of a webhook
	positionPrefix = "c." // of the position of a webhook
	pushKeyKey     = "push-key"
)

// position is the stored state of the server that makes the calls of a webhook.
type position struct {
	Cursor    uint64 `json:"cursor"`
	LastError string `json:"last_error,omitempty"`
}

// share reads the webhooks of the cluster, and follows their changes.
func (h *webhooks) share(ctx context.Context, c *cluster.Cluster) error {
	bucket, err := c.Bucket(ctx, hooksBucket, 0)
	if err != nil {
		return fmt.Errorf("server: %w", err)
	}
	h.shared = &sharedHooks{c: c, bucket: bucket, known: map[string][]byte{}}
	if err := bucket.Watch(ctx, h.learn); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	return nil
}

// learn applies a change in the bucket.
func (h *webhooks) learn(e cluster.Entry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if e.Key == pushKeyKey || bytes.Equal(h.shared.known[e.Key], e.Value) && e.Value != nil {
		return // this server made the change
	}
	if id, ok := strings.CutPrefix(e.Key, positionPrefix); ok {
		h.learnPosition(id, e)
		return
	}
	id, ok := strings.CutPrefix(e.Key, hookPrefix)
	if !ok {
		return
	}
	i := slices.IndexFunc(h.all, func(k subscriber) bool { return k.ID == id })
	h.end(id)
	if e.Value == nil {
		delete(h.shared.known, e.Key)
		if i >= 0 {
			h.all = slices.Delete(slices.Clone(h.all), i, i+1)
		}
		return
	}
	var k subscriber
	if err := json.Unmarshal(e.Value, &k); err != nil || k.ID != id {
		h.srv.logger.Error("a webhook of the cluster cannot be read", "id", id, "err", err)
		return
	}
	h.shared.known[e.Key] = e.Value
	all := slices.Clone(h.all)
	if i < 0 {
		i, all = len(all), append(all, subscriber{})
	}
	all[i] = k
	h.all = all
	if data := h.shared.known[positionPrefix+id]; data != nil {
		h.place(i, data)
	}
	if h.shared.started {
		h.serve(h.all[i])
	}
}

// learnPosition applies the position that another server has stored. The caller holds the lock.
func (h *webhooks) learnPosition(id string, e cluster.Entry) {
	if e.Value == nil {
		delete(h.shared.known, e.Key)
		return
	}
	h.shared.known[e.Key] = e.Value
	if i := slices.IndexFunc(h.all, func(k subscriber) bool { return k.ID == id }); i >= 0 {
		h.place(i, e.Value)
	}
}

// place sets the position of a webhook. The caller holds the lock.
func (h *webhooks) place(i int, data []byte) {
	var p position
	if json.Unmarshal(data, &p) == nil {
		h.all[i].Cursor, h.all[i].LastError = p.Cursor, p.LastError
	}
}

// end stops the deliveries of a webhook without waiting. The caller holds the lock.
func (h *webhooks) end(id string) {
	if run, ok := h.runs[id]; ok {
		run.cancel()
		delete(h.runs, id)
	}
}

// values returns the values that the bucket should have.
func (h *webhooks) values() (map[string][]byte, error) {
	values := map[string][]byte{}
	for _, k := range h.all {
		p, err := json.Marshal(position{k.Cursor, k.LastError})
		if err != nil {
			return nil, err
		}
		values[positionPrefix+k.ID] = p
		if k.ID == commandID {
			continue // the command is a setting of each server
		}
		k.Cursor, k.LastError = 0, ""
		if values[hookPrefix+k.ID], err = json.Marshal(k); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// saveShared writes the changes of this server. The caller holds the lock.
func (h *webhooks) saveShared() error {
	values, err := h.values()
	if err != nil {
		return err
	}
	x := h.shared
	ctx, cancel := context.WithTimeout(context.Background(), maxShare)
	defer cancel()
	for key, value := range values {
		if bytes.Equal(x.known[key], value) {
			continue
		}
		if err := x.bucket.Put(ctx, key, value); err != nil {
			return err
		}
		x.known[key] = value
	}
	for key := range x.known {
		if values[key] != nil || key == positionPrefix+commandID {
			continue
		}
		if err := x.bucket.Remove(ctx, key); err != nil {
			return err
		}
		delete(x.known, key)
	}
	return nil
}

// lead makes the calls of a webhook until ctx ends, while no other server makes them.
func (h *webhooks) lead(ctx context.Context, k subscriber) {
	for ctx.Err() == nil {
		lease, err := h.shared.c.Own(ctx, "w-"+k.ID)
		if err == nil {
			h.leadWith(ctx, k, lease)
		} else if _, held := errors.AsType[*cluster.HeldError](err); !held && ctx.Err() == nil {
			h.srv.logger.Warn("the calls of a webhook wait", "webhook", k.ID, "err", err)
		}
		select {
		case <-time.After(h.shared.c.LeaseTTL() / 4):
		case <-ctx.Done():
		}
	}
}

// leadWith makes the calls of a webhook until ctx ends or the lease is lost.
func (h *webhooks) leadWith(ctx context.Context, k subscriber, lease *cluster.Lease) {
	defer lease.Release()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		select {
		case <-lease.Lost():
			cancel()
		case <-stop:
		}
	}()
	e, err := h.shared.bucket.Get(ctx, positionPrefix+k.ID) // it may be newer than the followed changes
	switch {
	case err == nil:
		var p position
		if err := json.Unmarshal(e.Value, &p); err != nil {
			h.srv.logger.Error("the position of a webhook cannot be read", "webhook", k.ID, "err", err)
			return
		}
		k.Cursor = p.Cursor
	case !errors.Is(err, cluster.ErrMissing):
		h.srv.logger.Warn("the calls of a webhook wait", "webhook", k.ID, "err", err)
		return
	}
	h.loop(ctx, k)
}

// sharedPushKey returns the key of push messages of the cluster. The first server that needs it creates it.
func (h *webhooks) sharedPushKey(ctx context.Context) (*webpush.Key, error) {
	made, err := webpush.NewKey()
	if err != nil {
		return nil, err
	}
	text, err := made.Private()
	if err != nil {
		return nil, err
	}
	if err = h.shared.bucket.Create(ctx, pushKeyKey, []byte(text)); err == nil {
		return made, nil
	}
	if !errors.Is(err, cluster.ErrChanged) {
		return nil, err
	}
	e, err := h.shared.bucket.Get(ctx, pushKeyKey)
	if err != nil {
		return nil, err
	}
	return webpush.ParseKey(string(e.Value))
}
