package eventlog_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/internal/test/natstest"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// TestCluster_oneServer runs two nodes on one server over TCP: they see each other's events, and a
// replaced owner cannot write.
func TestCluster_oneServer(t *testing.T) {
	srv := natstest.Server(t, &server.Options{SyncAlways: true})
	one, two := open(t, &eventlog.Options{URL: srv.ClientURL()}), open(t, &eventlog.Options{URL: srv.ClientURL()})
	testTwoNodes(t, one, two)
	if u, err := one.Usage(t.Context()); err != nil || u.Bytes == 0 || u.Free != -1 {
		t.Errorf("usage %+v, %v", u, err)
	}
	if err := one.Health(t.Context()); err != nil {
		t.Errorf("Health: %v", err)
	}
}

// testTwoNodes makes node one own a log and node two take it over.
func testTwoNodes(t *testing.T, one, two *eventlog.Store) {
	t.Helper()
	lease, err := one.Acquire(t.Context(), "a", "one")
	if err != nil {
		t.Fatal(err)
	}
	var held *eventlog.LeaseHeldError
	if _, err := two.Acquire(t.Context(), "a", "two"); !errors.As(err, &held) || held.Owner != "one" {
		t.Errorf("lease of the other node: %v", err)
	}
	appendTexts(t, one.Log("a"), 0, "one", "two", strings.Repeat("3", 600_000))
	if err := one.Log("a").AppendDelta(t.Context(), lease.Epoch(), 3, 1, []byte("delta")); err != nil {
		t.Fatal(err)
	}
	wantRead(t, two.Log("a"), eventlog.Cursor{Seq: 3}, "3.1=delta")

	followed := make(chan string, 1)
	go func() {
		var got []string
		for e, err := range one.Log("a").Follow(t.Context(), eventlog.Cursor{Seq: 3, Sub: 1}) {
			if got = append(got, show(e)); err != nil || e.Seq == 5 {
				break
			}
		}
		followed <- strings.Join(got, " ")
	}()
	if err := lease.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	taken, err := two.Acquire(t.Context(), "a", "two")
	if err != nil || taken.Epoch() <= lease.Epoch() {
		t.Fatalf("taking over: %v", err)
	}
	appendTexts(t, two.Log("a"), 3, "four")
	var conflict *eventlog.ConflictError
	if _, err := one.Log("a").Append(t.Context(), 3, []byte("late")); !errors.As(err, &conflict) || conflict.Last != 4 {
		t.Errorf("the replaced owner: %v", err)
	}
	appendTexts(t, two.Log("a"), 4, "five")
	if got := <-followed; got != "4=four 5=five" {
		t.Errorf("followed %q", got)
	}
	testBackupBetween(t, two)
}

// testBackupBetween restores a backup of a cluster into an embedded store.
func testBackupBetween(t *testing.T, s *eventlog.Store) {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "backup"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := s.Backup(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	if _, err := file.Seek(0, 0); err != nil {
		t.Fatal(err)
	}
	opts := &eventlog.Options{Dir: filepath.Join(t.TempDir(), "data"), UnsafeNoSync: true}
	if err := eventlog.Restore(t.Context(), file, opts); err != nil {
		t.Fatal(err)
	}
	wantRead(t, open(t, opts).Log("a"), eventlog.Cursor{Seq: 3}, "4=four 5=five")
}

// TestCluster_restart stops the server under a follower and a writer, and starts it again on the same port.
func TestCluster_restart(t *testing.T) {
	short.SkipQuick(t, "starts NATS servers")
	config := server.Options{SyncAlways: true, StoreDir: t.TempDir()}
	first := config
	srv := natstest.Server(t, &first)
	address, err := url.Parse(srv.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(address.Port(), &config.Port); err != nil {
		t.Fatal(err)
	}
	s := open(t, &eventlog.Options{URL: srv.ClientURL(), Timeout: 2 * time.Second})
	l := s.Log("a")
	appendTexts(t, l, 0, "1", "2")
	started, done := make(chan struct{}), make(chan eventlog.Cursor)
	go func() {
		cursor := followTo(t, l, eventlog.Cursor{}, 2)
		close(started)
		done <- followTo(t, l, cursor, 5)
	}()
	<-started
	srv.Shutdown()
	srv.WaitForShutdown()
	if err := s.Health(t.Context()); err == nil {
		t.Error("Health without a server is good")
	}
	natstest.Server(t, &config)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	appendPersistently(ctx, t, l, 3, 5)
	if got := <-done; got.Seq != 5 {
		t.Errorf("followed to %v", got)
	}
}

// appendPersistently appends the events from first to last like a writer that calls Last after an error.
func appendPersistently(ctx context.Context, t *testing.T, l *eventlog.Log, first, last uint64) {
	t.Helper()
	for seq := first; seq <= last; {
		_, err := l.Append(ctx, seq-1, fmt.Appendf(nil, "%d", seq))
		if err == nil {
			seq++
			continue
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
		if at, err := l.Last(ctx); err == nil {
			seq = at.Seq + 1
		}
	}
}

// TestCluster_noAnswer checks that calls end after Timeout, although their context has a later
// deadline, while the server has accepted the connection but does not answer.
func TestCluster_noAnswer(t *testing.T) {
	short.SkipQuick(t, "waits for deadlines")
	srv := natstest.Server(t, &server.Options{})
	s := open(t, &eventlog.Options{URL: srv.ClientURL(), Timeout: 3 * time.Second}) // the server must first answer within it
	l := s.Log("a")
	appendTexts(t, l, 0, "1")
	lease, err := s.Acquire(t.Context(), "a", "one")
	if err != nil {
		t.Fatal(err)
	}
	srv.Shutdown()
	srv.WaitForShutdown()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	calls := map[string]func() error{
		"Last":     func() error { _, err := l.Last(ctx); return err },
		"First":    func() error { _, err := l.First(ctx); return err },
		"Append":   func() error { _, err := l.Append(ctx, 1, []byte("2")); return err },
		"Trim":     func() error { return l.Trim(ctx, 1) },
		"Delete":   func() error { return l.Delete(ctx) },
		"Sessions": func() error { _, err := s.Sessions(ctx); return err },
		"Acquire":  func() error { _, err := s.Acquire(ctx, "b", "one"); return err },
		"Renew":    func() error { return lease.Renew(ctx) },
		"Release":  func() error { return lease.Release(ctx) },
	}
	var wg sync.WaitGroup
	for name, call := range calls {
		wg.Go(func() {
			if err := call(); err == nil || ctx.Err() != nil {
				t.Errorf("%s: %v, and the context: %v; want an error before the end of the context", name, err, ctx.Err())
			}
		})
	}
	wg.Wait()
}

// TestCluster_threeServers runs three servers with three copies, and stops one.
func TestCluster_threeServers(t *testing.T) {
	short.SkipQuick(t, "starts three servers")
	servers := natstest.Cluster(t, 3)
	var urls []string
	for _, srv := range servers {
		urls = append(urls, srv.ClientURL())
	}
	opts := func() *eventlog.Options {
		return &eventlog.Options{URL: strings.Join(urls, ","), Replicas: 3, Quota: 64 << 20, Timeout: 5 * time.Second}
	}
	one, two := open(t, opts()), open(t, opts())
	testTwoNodes(t, one, two)
	servers[0].Shutdown()
	servers[0].WaitForShutdown()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for _, s := range []*eventlog.Store{one, two} {
		last := lastSoon(ctx, t, s.Log("a"))
		appendPersistently(ctx, t, s.Log("a"), last+1, last+3)
	}
	wantRead(t, two.Log("a"), eventlog.Cursor{Seq: 5}, "6=6 7=7 8=8 9=9 10=10 11=11")
}

// lastSoon returns the number of the newest event as soon as the cluster answers.
func lastSoon(ctx context.Context, t *testing.T, l *eventlog.Log) uint64 {
	t.Helper()
	for {
		last, err := l.Last(ctx)
		if err == nil {
			return last.Seq
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
	}
}
