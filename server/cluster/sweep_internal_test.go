package cluster

import (
	"bytes"
	"context"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"

	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/internal/test/natstest"
)

// TestSweep checks that a sweep removes only the markers of deleted keys, and that a watcher that
// has missed a deletion is notified of it.
func TestSweep(t *testing.T) {
	ctx := t.Context()
	store, err := eventlog.Open(ctx, &eventlog.Options{URL: natstest.URL(natstest.Server(t, &natsserver.Options{}))})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close(context.Background())
	c, err := Open(ctx, Options{Store: store, Node: "one", Key: bytes.Repeat([]byte("k"), MinKey)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	b, err := c.Bucket(ctx, "SWEEP", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"deleted", "again", "kept"} {
		if err := b.Put(ctx, key, []byte(key)); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{"deleted", "again"} {
		if err := b.Remove(ctx, key); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Put(ctx, "again", []byte("again")); err != nil {
		t.Fatal(err)
	}
	messages := func() uint64 {
		status, err := b.kv.Status(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return status.Values()
	}
	if err := b.sweep(ctx, time.Now().Add(-markerAge)); err != nil || messages() != 3 {
		t.Errorf("after a sweep of old markers there are %d messages, %v; want 3", messages(), err)
	}
	if err := b.sweep(ctx, time.Now().Add(time.Hour)); err != nil || messages() != 2 {
		t.Errorf("after a sweep of all markers there are %d messages, %v; want 2", messages(), err)
	}
	var told []Entry
	seen := &watched{b, func(e Entry) { told = append(told, e) }, map[string]bool{"deleted": true, "again": true, "kept": true}}
	if err := seen.compare(ctx); err != nil || len(told) != 1 || told[0].Key != "deleted" || told[0].Value != nil || seen.keys["deleted"] {
		t.Errorf("a watcher that has missed a deletion is told %+v, %v", told, err)
	}
}
