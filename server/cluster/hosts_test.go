package cluster_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/server/cluster"
)

// TestHosts makes two servers own a host in turn: one at a time, with rising epochs. The host is found by its directory, but
// not by a copy of it.
func TestHosts(t *testing.T) {
	url, dir := start(t), filepath.Join(t.TempDir(), "data")
	c := join(t, url, "one", key)
	open := func(c *cluster.Cluster, machine string) *cluster.Hosts {
		h, err := c.Hosts(t.Context(), machine)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	one, two, elsewhere := open(c, "m"), open(join(t, url, "two", key), "m"), open(join(t, url, "three", key), "other")
	lease, name, err := one.Own(t.Context(), dir, true)
	if err != nil {
		t.Fatal(err)
	}
	for who, h := range map[string]*cluster.Hosts{"the owner": one, "another server": two} {
		_, _, err := h.Own(t.Context(), dir, false)
		if _, held := errors.AsType[*cluster.HeldError](err); !held {
			t.Errorf("%s owns a host with an owner: %v", who, err)
		}
	}
	eventually(t, "the host in all lists", func() bool { return two.Known(name) && elsewhere.Known(name) })
	if two.Here()[name] != dir || len(elsewhere.Here()) != 0 || elsewhere.Machine(name) != "m" {
		t.Errorf("the host is at %q here, %q elsewhere, on machine %q", two.Here(), elsewhere.Here(), elsewhere.Machine(name))
	}
	lease.Release()
	if _, _, err := two.Own(t.Context(), dir, true); err == nil {
		t.Error("a known host is fresh")
	}
	next, same, err := two.Own(t.Context(), dir, false)
	if err != nil || same != name || next.Epoch() <= lease.Epoch() || !next.Held() {
		t.Fatalf("the next owner has host %q instead of %q with epoch %d after %d, %v", same, name, next.Epoch(), lease.Epoch(), err)
	}
	copied := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if _, other, err := one.Own(t.Context(), copied, true); err != nil || other == name {
		t.Errorf("a copy of the directory has the host %q, %v", other, err)
	}
	if err := os.Remove(filepath.Join(dir, "host-id")); err != nil {
		t.Fatal(err)
	}
	if _, here := two.Here()[name]; here {
		t.Error("a host is found in a directory without its id")
	}
	if err := two.Forget(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the end of the host in all lists", func() bool { return !one.Known(name) && !two.Known(name) })
}

// eventually calls ok until it reports true.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.NewTimer(wait)
	defer deadline.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("it never came: %s", what)
		}
	}
}
