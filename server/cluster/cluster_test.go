package cluster_test

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"go.uber.org/goleak"

	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/internal/test/natstest"
	"github.com/seed7221b0f9/parley/server/blob"
	"github.com/seed7221b0f9/parley/server/blob/blobtest"
	"github.com/seed7221b0f9/parley/server/cluster"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/nats-io/nats-server/v2/server.init.0.func1"))
}

const wait = 2 * time.Minute

var key = bytes.Repeat([]byte("k"), cluster.MinKey)

// join opens a member of a cluster and closes it at the end of the test.
func join(t *testing.T, url, node string, key []byte) *cluster.Cluster {
	t.Helper()
	store, err := eventlog.Open(t.Context(), &eventlog.Options{URL: url, Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	c, err := cluster.Open(t.Context(), cluster.Options{Store: store, Node: node, Name: node, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		if err := store.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return c
}

func start(t *testing.T) (url string) {
	t.Helper()
	return natstest.URL(natstest.Server(t, &natsserver.Options{}))
}

// TestCall calls another server with small and large requests. A caller without the key is refused, and a call to a
// missing server returns an error.
func TestCall(t *testing.T) {
	url := start(t)
	one, two := join(t, url, "one", key), join(t, url, "two", key)
	if _, err := one.Call(t.Context(), "two", []byte("early")); !errors.Is(err, cluster.ErrNoNode) {
		t.Errorf("a server that does not serve yet: %v", err)
	}
	var served atomic.Int64
	if err := two.Serve(func(_ context.Context, request []byte) []byte {
		served.Add(1)
		return append(request, '!')
	}); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 1, 300 << 10, 9 << 20} {
		request := bytes.Repeat([]byte("x"), n)
		answer, err := one.Call(t.Context(), "two", request)
		if err != nil || !bytes.Equal(answer, append(request, '!')) {
			t.Errorf("a request of %d bytes: %d bytes, %v", n, len(answer), err)
		}
	}
	if _, err := one.Call(t.Context(), "two", make([]byte, cluster.MaxCall+1)); !errors.Is(err, cluster.ErrTooLarge) {
		t.Errorf("a request that is too large: %v", err)
	}
	before := served.Load()
	stranger := join(t, url, "three", bytes.Repeat([]byte("o"), cluster.MinKey))
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if answer, err := stranger.Call(ctx, "two", []byte("let me in")); err == nil {
		t.Errorf("without the key: %q", answer)
	}
	if _, err := one.Call(t.Context(), "two", nil); err != nil || served.Load() != before+1 { // it came after that of the stranger
		t.Errorf("%d calls were run after that of the stranger, %v, want one", served.Load()-before, err)
	}
}

// TestCall_cancelled checks that a call that its caller cancels is cancelled on the other server.
func TestCall_cancelled(t *testing.T) {
	url := start(t)
	one, two := join(t, url, "one", key), join(t, url, "two", key)
	began, ended := make(chan struct{}), make(chan struct{})
	err := two.Serve(func(ctx context.Context, _ []byte) []byte {
		close(began)
		<-ctx.Done()
		close(ended)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-began; cancel() }()
	if _, err := one.Call(ctx, "two", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled call: %v", err)
	}
	select {
	case <-ended:
	case <-time.After(wait):
		t.Error("the call goes on")
	}
}

// TestOwn acquires a session, checks that another server cannot, and releases it.
func TestOwn(t *testing.T) {
	url := start(t)
	one, two := join(t, url, "one", key), join(t, url, "two", key)
	first, err := one.Own(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	held, ok := errors.AsType[*cluster.HeldError](func() error { _, err := two.Own(t.Context(), "s"); return err }())
	if !ok || held.Node != "one" {
		t.Errorf("an owned session: %v", held)
	}
	short, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := one.Own(short, "s"); !errors.Is(err, context.Canceled) {
		t.Errorf("twice by one server: %v", err)
	}
	if owner, err := two.Owner(t.Context(), "s"); owner != "one" || err != nil {
		t.Errorf("the owner is %q, %v", owner, err)
	}
	first.Release()
	second, err := two.Own(t.Context(), "s")
	if err != nil || second.Epoch() <= first.Epoch() {
		t.Fatalf("after the release: %v", err)
	}
	nodes, err := one.Nodes(t.Context())
	if err != nil || len(nodes) != 2 || nodes[0].ID != "one" || nodes[1].ID != "two" {
		t.Errorf("the servers are %v, %v", nodes, err)
	}
}

// TestBucket shares values between servers. A value encrypted with another key, or moved to another name, is rejected.
func TestBucket(t *testing.T) {
	url := start(t)
	one, two := join(t, url, "one", key), join(t, url, "two", key)
	mine, err := one.Bucket(t.Context(), "T", 0)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := two.Bucket(t.Context(), "T", 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := mine.Create(t.Context(), "a", []byte("1")); err != nil {
		t.Fatal(err)
	}
	changes := make(chan cluster.Entry, 8)
	if err := theirs.Watch(t.Context(), func(e cluster.Entry) { changes <- e }); err != nil {
		t.Fatal(err)
	}
	if e := <-changes; e.Key != "a" || string(e.Value) != "1" {
		t.Errorf("the first value is %+v", e)
	}
	if err := theirs.Create(t.Context(), "a", nil); !errors.Is(err, cluster.ErrChanged) {
		t.Errorf("created twice: %v", err)
	}
	e, err := theirs.Get(t.Context(), "a")
	if err != nil || theirs.Update(t.Context(), "a", []byte("2"), e.Revision) != nil {
		t.Fatalf("update: %v", err)
	}
	if err := mine.Update(t.Context(), "a", []byte("3"), e.Revision); !errors.Is(err, cluster.ErrChanged) {
		t.Errorf("an update of an older value: %v", err)
	}
	if e := <-changes; string(e.Value) != "2" {
		t.Errorf("the change is %+v", e)
	}
	if err := mine.Remove(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if e := <-changes; e.Value != nil {
		t.Errorf("the end is %+v", e)
	}
	if _, err := mine.Get(t.Context(), "a"); !errors.Is(err, cluster.ErrMissing) {
		t.Errorf("a removed value: %v", err)
	}
	if err := mine.Put(t.Context(), "b", []byte("secret")); err != nil {
		t.Fatal(err)
	}
	stranger, err := join(t, url, "three", bytes.Repeat([]byte("o"), cluster.MinKey)).Bucket(t.Context(), "T", 0)
	if err != nil {
		t.Fatal(err)
	}
	if e, err := stranger.Get(t.Context(), "b"); !errors.Is(err, cluster.ErrSealed) || e.Value != nil {
		t.Errorf("without the key: %q, %v", e.Value, err)
	}
}

// TestBlobs checks the store of blobs of two servers.
func TestBlobs(t *testing.T) {
	url := start(t)
	nodes, n := []*cluster.Cluster{join(t, url, "one", key), join(t, url, "two", key)}, 0
	blobtest.Run(t, func(t *testing.T) blob.Store {
		n++
		s, err := nodes[n%2].Blobs(t.Context(), "BLOBS")
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}
