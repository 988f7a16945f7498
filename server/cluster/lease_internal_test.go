package cluster

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	natsserver "github.com/nats-io/nats-server/v2/server"

	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/internal/test/natstest"
)

// hooked is a context that calls a function when it is first used.
type hooked struct {
	context.Context
	used func()
}

func (h hooked) Done() <-chan struct{} {
	h.used()
	return h.Context.Done()
}

// TestOwn_whileClosing closes the cluster while a lease is being acquired: Close waits for it and releases it, and no
// later lease is acquired.
func TestOwn_whileClosing(t *testing.T) {
	url := natstest.URL(natstest.Server(t, &natsserver.Options{}))
	store, err := eventlog.Open(t.Context(), &eventlog.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close(context.Background())
	c, err := Open(t.Context(), Options{Store: store, Node: "one", Key: bytes.Repeat([]byte("k"), MinKey)})
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan struct{})
	closing := sync.OnceFunc(func() {
		c.leases.mu.Lock()
		l := c.leases.held["s"]
		c.leases.mu.Unlock()
		go func() { defer close(closed); c.Close() }()
		<-l.keep.Done()
	})
	_, err = c.Own(hooked{t.Context(), closing}, "s")
	<-closed
	if owner, e := store.Owner(t.Context(), "s"); owner != "" || e != nil {
		t.Errorf("after Close (Own: %v) the owner is %q, %v, want none", err, owner, e)
	}
	if _, err := c.Own(t.Context(), "t"); err == nil {
		t.Error("a lease was acquired after Close")
	}
}

// TestNodeID returns the stored name, and chooses a new one for a file without a name.
func TestNodeID(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, nodeFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	id, err := NodeID(dir)
	if err != nil || id == "" {
		t.Fatalf("with an empty file: %q, %v", id, err)
	}
	if again, err := NodeID(dir); again != id || err != nil {
		t.Errorf("the second time: %q, %v, want %q", again, err, id)
	}
}
