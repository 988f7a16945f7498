package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/server/blob"
)

// Limits of blobs.
const (
	// maxBlob is the maximum size of the data of one name in bytes, maxBlobs that of all.
	maxBlob  = 64 << 20
	maxBlobs = 4 << 30
	// blobPart is the size of one value in bytes.
	blobPart = 256 << 10
	// blobTries limits the attempts to read data that is replaced meanwhile.
	blobTries = 10
)

// blobs is a [blob.Store] in a bucket. The data of a name is in parts, under keys with a random generation; a key with the name has their
// number. So a reader never joins parts of two writes.
type blobs struct{ *Bucket }

// blobHead is the value of the key of a name.
type blobHead struct {
	Generation string `json:"generation"`
	Size       int    `json:"size"`
	Parts      int    `json:"parts"`
}

// Blobs opens a store of encrypted data that all servers share, and creates it if it does not exist.
func (c *Cluster) Blobs(ctx context.Context, name string) (blob.Store, error) {
	b, err := c.bucket(ctx, name, 0, maxBlobs)
	if err != nil {
		return nil, err
	}
	return blobs{b}, nil
}

// blobKey returns the key prefix for a name. In a key, which is a NATS subject, a dot takes the
// place of a slash.
func blobKey(name string) (string, error) {
	return strings.NewReplacer(".", "=", "/", ".").Replace(name), blob.CheckName(name)
}

func (h blobHead) part(key string, n int) string {
	return key + "._" + h.Generation + "." + strconv.Itoa(n)
}

// head is the end of the key of a blobHead. No part of a name begins with an underscore.
const head = "._"

// Read returns the data of a name.
func (s blobs) Read(ctx context.Context, name string) ([]byte, error) {
	key, err := blobKey(name)
	if err != nil {
		return nil, err
	}
	for range blobTries {
		var data []byte
		if data, err = s.read(ctx, key); !errors.Is(err, ErrMissing) {
			return data, err
		}
		if _, err := s.Get(ctx, key+head); errors.Is(err, ErrMissing) {
			return nil, fmt.Errorf("cluster: %s: %w", s.place(name), fs.ErrNotExist)
		}
	}
	return nil, err
}

// read returns the data of a key. A part that is missing was replaced meanwhile.
func (s blobs) read(ctx context.Context, key string) ([]byte, error) {
	e, err := s.Get(ctx, key+head)
	if err != nil {
		return nil, err
	}
	var h blobHead
	if err := json.Unmarshal(e.Value, &h); err != nil || h.Parts < 0 || h.Size < 0 || h.Size > maxBlob || h.Parts > maxBlob/blobPart+1 {
		return nil, fmt.Errorf("cluster: the value of %s is invalid: %v", key, err)
	}
	data := make([]byte, 0, h.Size)
	for n := range h.Parts {
		part, err := s.Get(ctx, h.part(key, n))
		if err != nil {
			return nil, err
		}
		data = append(data, part.Value...)
	}
	if len(data) != h.Size {
		return nil, fmt.Errorf("cluster: %s has %d bytes, want %d", key, len(data), h.Size)
	}
	return data, nil
}

// Write sets the data of a name.
func (s blobs) Write(ctx context.Context, name string, data []byte) error {
	key, err := blobKey(name)
	switch {
	case err != nil:
		return err
	case len(data) > maxBlob:
		return fmt.Errorf("%w: %s has %d bytes", ErrTooLarge, name, len(data))
	}
	h := blobHead{random.Hex(8), len(data), (len(data) + blobPart - 1) / blobPart}
	for n := range h.Parts {
		if err := s.Put(ctx, h.part(key, n), data[n*blobPart:min(len(data), (n+1)*blobPart)]); err != nil {
			return errors.Join(err, s.removeParts(ctx, key, h))
		}
	}
	before, err := s.setHead(ctx, key, h)
	if err != nil {
		return errors.Join(err, s.removeParts(ctx, key, h))
	}
	return s.removeParts(ctx, key, before)
}

// setHead makes h the data of a key and returns the replaced head.
func (s blobs) setHead(ctx context.Context, key string, h blobHead) (before blobHead, err error) {
	value, err := json.Marshal(h)
	if err != nil {
		return before, err
	}
	for {
		e, err := s.Get(ctx, key+head)
		switch {
		case errors.Is(err, ErrMissing):
			err = s.Create(ctx, key+head, value)
		case err == nil:
			before = blobHead{}
			_ = json.Unmarshal(e.Value, &before) // if it is invalid, no parts are removed
			err = s.Update(ctx, key+head, value, e.Revision)
		}
		if !errors.Is(err, ErrChanged) {
			return before, err
		}
	}
}

// removeParts removes the parts of data that no key refers to any more.
func (s blobs) removeParts(ctx context.Context, key string, h blobHead) error {
	for n := range min(h.Parts, maxBlob/blobPart+1) {
		if err := s.Purge(ctx, h.part(key, n)); err != nil {
			return err
		}
	}
	return nil
}

// Remove deletes a name with all names below it.
func (s blobs) Remove(ctx context.Context, name string) error {
	key, err := blobKey(name)
	if err != nil {
		return err
	}
	list, err := s.kv.ListKeysFiltered(ctx, key+".>")
	if err != nil {
		return fmt.Errorf("cluster: %s: %w", s.place(name), err)
	}
	defer list.Stop()
	var heads, parts []string
	for k := range list.Keys() {
		if strings.HasSuffix(k, head) {
			heads = append(heads, k)
		} else {
			parts = append(parts, k)
		}
	}
	for _, k := range append(heads, parts...) { // a reader finds all parts or no key
		if err := s.Purge(ctx, k); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Names returns all names with data, sorted.
func (s blobs) Names(ctx context.Context) (names []string, err error) {
	list, err := s.kv.ListKeys(ctx)
	if err != nil {
		return nil, fmt.Errorf("cluster: %s: %w", s.name, err)
	}
	defer list.Stop()
	for key := range list.Keys() {
		if name, ok := strings.CutSuffix(key, head); ok {
			names = append(names, strings.NewReplacer("=", ".", ".", "/").Replace(name))
		}
	}
	slices.Sort(names)
	return names, ctx.Err()
}

// Purge deletes a key and its value. NATS keeps a marker of it until a sweep.
func (b *Bucket) Purge(ctx context.Context, key string) error {
	ctx, cancel := b.c.bounded(ctx)
	defer cancel()
	if err := b.kv.Purge(ctx, key); !errors.Is(err, jetstream.ErrKeyNotFound) {
		return b.changed(key, err)
	}
	return nil
}
