package server

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"

	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/internal/sealed"
	"github.com/seed7221b0f9/parley/internal/test/natstest"
	"github.com/seed7221b0f9/parley/server/cluster"
	"github.com/seed7221b0f9/parley/server/webpush"
)

// openCluster returns a member of a cluster that is no server.
func openCluster(t *testing.T, url string) *cluster.Cluster {
	t.Helper()
	store, err := eventlog.Open(t.Context(), &eventlog.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	c, err := cluster.Open(t.Context(), cluster.Options{Store: store, Node: "test", Name: "test", Key: clusterKey})
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

// TestCopyState_webhooks copies webhooks, subscriptions, their positions and the key of push messages to a cluster and back.
func TestCopyState_webhooks(t *testing.T) {
	c := openCluster(t, natstest.URL(natstest.Server(t, &natsserver.Options{SyncAlways: true})))
	from, back := t.TempDir(), filepath.Join(t.TempDir(), "back")
	hook := subscriber{ID: "hook-1", URL: "https://example.com", Secret: "s", Events: []string{"turn.done"}, Enabled: true, Created: time.Now(), Cursor: 7, LastError: "no answer"}
	browser := subscriber{ID: "push-1", Enabled: true, Created: time.Now().UTC(), Cursor: 8, Push: &pushed{Subscription: webpush.Subscription{Endpoint: "https://push.example.com/1"}, Account: "a", Tenant: "t", Allow: true}}
	command := subscriber{ID: commandID, Enabled: true, Cursor: 9}
	write := func(dir, key string, hooks ...subscriber) {
		t.Helper()
		if err := writeList(filepath.Join(dir, webhooksName), hooks); err != nil {
			t.Fatal(err)
		}
		if err := saveState(filepath.Join(dir, pushKeyName), []byte(key)); err != nil {
			t.Fatal(err)
		}
	}
	read := func(dir, name string) []byte {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		content, err := sealed.Open(data)
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	write(from, "the key", command, hook, browser)
	for i, want := range []int{4, 0} { // the webhooks and the key, and nothing again
		done, err := CopyState(t.Context(), from, c, true)
		if err != nil || done.Webhooks != 3 || done.Written != want {
			t.Fatalf("copy %d to the cluster: %+v, %v; want 3 webhooks, and %d entries written", i, done, err, want)
		}
	}
	done, err := CopyState(t.Context(), back, c, false)
	if err != nil || done.Webhooks != 3 || done.Written != 4 {
		t.Fatalf("the copy back: %+v, %v", done, err)
	}
	for _, name := range []string{webhooksName, pushKeyName} {
		if a, b := read(from, name), read(back, name); !bytes.Equal(a, b) {
			t.Errorf("%s has\n%s\nafter the copy back, it had\n%s", name, b, a)
		}
	}

	other := t.TempDir()
	write(other, "another key", hook)
	if done, err := CopyState(t.Context(), other, c, true); err != nil || done.Written != 0 || done.Webhooks != 1 {
		t.Errorf("a key without subscriptions: %+v, %v", done, err)
	}
	write(other, "another key", browser)
	if _, err := CopyState(t.Context(), other, c, true); err == nil || !strings.Contains(err.Error(), pushKeyName) {
		t.Errorf("subscriptions of another key: %v", err)
	}
	hook.Secret = "other"
	write(other, "the key", hook)
	if _, err := CopyState(t.Context(), other, c, true); err == nil || !strings.Contains(err.Error(), "hook-1") {
		t.Errorf("a webhook with another secret: %v", err)
	}
}

// TestCopyState_servers checks that servers have the copied webhooks: a server of the cluster, and one of a directory.
func TestCopyState_servers(t *testing.T) {
	h := newCluster(t, 0, eventlog.DefaultLeaseTTL)
	c := openCluster(t, h.urls)
	from, back := t.TempDir(), t.TempDir()
	hook := subscriber{ID: "hook-1", URL: "https://example.com", Secret: "s", Created: time.Now(), Cursor: 7}
	if err := writeList(filepath.Join(from, webhooksName), []subscriber{hook}); err != nil {
		t.Fatal(err)
	}
	if _, err := CopyState(t.Context(), from, c, true); err != nil {
		t.Fatal(err)
	}
	check := func(what string, n *harness) {
		t.Helper()
		all := n.server.webhooks.list()
		if len(all) != 1 || all[0].ID != hook.ID || all[0].Secret != hook.Secret || all[0].Cursor != hook.Cursor {
			t.Errorf("the server of the %s has %+v, want %+v", what, all, hook)
		}
	}
	check("cluster", h.add(h.urls))
	if _, err := CopyState(t.Context(), back, c, false); err != nil {
		t.Fatal(err)
	}
	alone := newHarness(t, func(o *Options) { o.Dir = back })
	check("directory", alone)
}
