package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/server/cluster"
)

// migratedHook returns a webhook with its position as JSON. Of the command, which is a setting of each server, there is only the position.
func migratedHook(k subscriber) ([]byte, error) {
	if k.ID == commandID {
		k = subscriber{ID: commandID, Enabled: true, Cursor: k.Cursor, LastError: k.LastError}
	}
	return json.Marshal(k)
}

// hookFile is the webhooks and subscriptions of a single server, by id.
type hookFile string

func (f hookFile) all() (all []subscriber, err error) {
	err = readList(string(f), &all)
	return all, err
}

// Names returns the ids of the webhooks.
func (f hookFile) Names(context.Context) (ids []string, err error) {
	all, err := f.all()
	for _, k := range all {
		ids = append(ids, k.ID)
	}
	return ids, err
}

// Read returns a webhook.
func (f hookFile) Read(_ context.Context, id string) ([]byte, error) {
	all, err := f.all()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(k subscriber) bool { return k.ID == id })
	if i < 0 {
		return nil, fs.ErrNotExist
	}
	return migratedHook(all[i])
}

// Write adds a webhook.
func (f hookFile) Write(_ context.Context, _ string, data []byte) error {
	all, err := f.all()
	if err != nil {
		return err
	}
	var k subscriber
	if err := json.Unmarshal(data, &k); err != nil {
		return fmt.Errorf("server: a webhook of the cluster: %w", err)
	}
	return writeList(string(f), append(all, k))
}

// hookBucket is the webhooks and subscriptions of a cluster, by id.
type hookBucket struct{ b *cluster.Bucket }

// Names returns the ids of the webhooks.
func (b hookBucket) Names(ctx context.Context) (ids []string, err error) {
	all, err := b.b.All(ctx)
	for _, e := range all {
		if id, ok := strings.CutPrefix(e.Key, hookPrefix); ok && e.Value != nil {
			ids = append(ids, id)
		}
		if e.Key == positionPrefix+commandID && e.Value != nil {
			ids = append(ids, commandID)
		}
	}
	slices.Sort(ids)
	return ids, err
}

// get returns the data of a key, if any.
func (b hookBucket) get(ctx context.Context, key string) ([]byte, error) {
	e, err := b.b.Get(ctx, key)
	if errors.Is(err, cluster.ErrMissing) {
		return nil, nil
	}
	return e.Value, err
}

// Read returns a webhook.
func (b hookBucket) Read(ctx context.Context, id string) ([]byte, error) {
	hook, err := b.get(ctx, hookPrefix+id)
	if err != nil {
		return nil, err
	}
	at, err := b.get(ctx, positionPrefix+id)
	if err != nil {
		return nil, err
	}
	if id != commandID && hook == nil || id == commandID && at == nil {
		return nil, fs.ErrNotExist
	}
	k, p := subscriber{ID: id}, position{}
	if hook != nil {
		err = json.Unmarshal(hook, &k)
	}
	if at != nil && err == nil {
		err = json.Unmarshal(at, &p)
	}
	if err != nil {
		return nil, fmt.Errorf("server: webhook %s of the cluster: %w", id, err)
	}
	k.Cursor, k.LastError = p.Cursor, p.LastError
	return migratedHook(k)
}

// Write adds a webhook. The position is first: without the webhook it has no effect.
func (b hookBucket) Write(ctx context.Context, id string, data []byte) error {
	var k subscriber
	if err := json.Unmarshal(data, &k); err != nil {
		return err
	}
	at, err := json.Marshal(position{k.Cursor, k.LastError})
	if err == nil {
		err = b.b.Put(ctx, positionPrefix+id, at)
	}
	if err != nil || id == commandID {
		return err
	}
	k.Cursor, k.LastError = 0, ""
	hook, err := json.Marshal(k)
	if err != nil {
		return err
	}
	return b.b.Create(ctx, hookPrefix+id, hook)
}

// pushKeyFile is the key of push messages of a single server.
type pushKeyFile struct {
	sealedDir
	hooks hookFile
}

// Names returns the name of the key if there are subscriptions.
func (f pushKeyFile) Names(context.Context) ([]string, error) {
	all, err := f.hooks.all()
	if slices.ContainsFunc(all, func(k subscriber) bool { return k.Push != nil }) {
		return []string{pushKeyName}, err
	}
	return nil, err
}

// pushKeyBucket is the key of push messages of a cluster.
type pushKeyBucket struct{ hookBucket }

// Names returns the name of the key if there are subscriptions.
func (b pushKeyBucket) Names(ctx context.Context) ([]string, error) {
	ids, err := b.hookBucket.Names(ctx)
	for _, id := range ids {
		var k subscriber
		data, err := b.hookBucket.Read(ctx, id)
		if err == nil {
			err = json.Unmarshal(data, &k)
		}
		if err != nil {
			return nil, err
		}
		if k.Push != nil {
			return []string{pushKeyName}, nil
		}
	}
	return nil, err
}

// Read returns the key.
func (b pushKeyBucket) Read(ctx context.Context, _ string) ([]byte, error) {
	data, err := b.get(ctx, pushKeyKey)
	if err == nil && data == nil {
		err = fs.ErrNotExist
	}
	return data, err
}

// Write sets the key.
func (b pushKeyBucket) Write(ctx context.Context, _ string, data []byte) error {
	return b.b.Create(ctx, pushKeyKey, data)
}
