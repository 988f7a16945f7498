package eventlog_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	natsserver "github.com/nats-io/nats-server/v2/server"

	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/internal/test/natstest"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// openFor opens a store; the caller closes it.
func openFor(t *testing.T, opts *eventlog.Options) (s *eventlog.Store, closeIt func()) {
	t.Helper()
	s, err := eventlog.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return s, func() {
		t.Helper()
		if err := s.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
}

// fillFor writes sessions with large, trimmed and small logs.
func fillFor(t *testing.T, s *eventlog.Store) {
	t.Helper()
	for i := range 5 {
		log := s.Log(fmt.Sprint("s-", i))
		for n := range 10 {
			if _, err := log.Append(t.Context(), uint64(n), []byte(fmt.Sprintf("event %d of %d %s", n, i, strings.Repeat("x", i*100_000)))); err != nil {
				t.Fatal(err)
			}
		}
		if i == 3 {
			if err := errors.Join(log.PutSnapshot(t.Context(), 6, 0, []byte("snapshot")), log.Trim(t.Context(), 5)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// contents returns the content of a store.
func contents(t *testing.T, opts *eventlog.Options) (all []string) {
	t.Helper()
	s, closeIt := openFor(t, opts)
	defer closeIt()
	infos, err := s.Sessions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range infos {
		snap, err := s.Log(info.Session).Snapshot(t.Context())
		if err != nil && !errors.Is(err, eventlog.ErrNotFound) {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%s: %d %q", info.Session, snap.Seq, snap.Data))
		for ev, err := range s.Log(info.Session).Read(t.Context(), eventlog.Cursor{Seq: snap.Seq}) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, fmt.Sprintf("%s %d: %s", info.Session, ev.Seq, ev.Data))
		}
	}
	slices.Sort(all)
	return all
}

// TestCopy copies a data directory to a cluster and back, and continues interrupted calls.
func TestCopy(t *testing.T) {
	short.SkipQuick(t, "copies many logs")
	first := &eventlog.Options{Dir: t.TempDir(), UnsafeNoSync: true}
	second := &eventlog.Options{URL: natstest.URL(natstest.Server(t, &natsserver.Options{}))}
	third := &eventlog.Options{Dir: t.TempDir()}
	s, closeIt := openFor(t, first)
	fillFor(t, s)
	if _, err := eventlog.Copy(t.Context(), first, second, eventlog.CopyOptions{}); !errors.Is(err, eventlog.ErrLocked) {
		t.Errorf("copying a directory that is in use: %v", err)
	}
	closeIt()
	want := contents(t, first)
	dry, err := eventlog.Copy(t.Context(), first, second, eventlog.CopyOptions{DryRun: true})
	if err != nil || dry.Sessions != 5 || dry.Written != 0 || dry.Messages < 40 || dry.Bytes < 5_000_000 {
		t.Fatalf("a dry run has %+v, %v", dry, err)
	}
	if got := contents(t, second); len(got) != 0 {
		t.Errorf("a dry run has written %d events", len(got))
	}
	ctx, cancel := context.WithCancel(t.Context())
	o := eventlog.CopyOptions{Progress: func(eventlog.Copied) { cancel() }} // at the end, before the comparison
	if _, err := eventlog.Copy(ctx, first, second, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("a call that is interrupted returns %v", err)
	}
	if _, err := eventlog.Open(t.Context(), second); !errors.Is(err, eventlog.ErrBackup) {
		t.Errorf("a target that is not complete is opened: %v", err)
	}
	for i, step := range []struct{ from, to *eventlog.Options }{{first, second}, {first, second}, {second, third}, {third, second}} {
		done, err := eventlog.Copy(t.Context(), step.from, step.to, eventlog.CopyOptions{})
		if err != nil || done.Sum != dry.Sum || done.Messages != dry.Messages {
			t.Fatalf("copy %d has %+v, %v, want the sum of the dry run: %+v", i, done, err, dry)
		}
		if wantWritten := map[int]int{2: dry.Messages}[i]; done.Written != wantWritten {
			t.Errorf("copy %d has written %d messages, want %d", i, done.Written, wantWritten)
		}
		if got := contents(t, step.to); !slices.Equal(got, want) {
			t.Errorf("copy %d: the target has %d events, want the %d of the source", i, len(got), len(want))
		}
	}
	s, closeIt = openFor(t, third)
	if _, err := s.Log("s-0").Append(t.Context(), 10, []byte("more")); err != nil {
		t.Fatal(err)
	}
	closeIt()
	if done, err := eventlog.Copy(t.Context(), third, second, eventlog.CopyOptions{}); err != nil || done.Written != 1 {
		t.Errorf("a copy of one event more has %+v, %v", done, err)
	}
}

// TestCopy_refused refuses a target with other events, and stores that servers use.
func TestCopy_refused(t *testing.T) {
	short.SkipQuick(t, "starts many stores")
	url := natstest.URL(natstest.Server(t, &natsserver.Options{}))
	cluster := &eventlog.Options{URL: url}
	for name, write := range map[string]func(s *eventlog.Store) error{
		"another event": func(s *eventlog.Store) error {
			_, err := s.Log("s-0").Append(t.Context(), 0, []byte("other"))
			return err
		},
		"more events": func(s *eventlog.Store) error {
			_, err := s.Log("s-more").Append(t.Context(), 0, []byte("more"))
			return err
		},
	} {
		from, to := &eventlog.Options{Dir: t.TempDir(), UnsafeNoSync: true}, &eventlog.Options{Dir: t.TempDir(), UnsafeNoSync: true}
		s, closeIt := openFor(t, from)
		if _, err := s.Log("s-0").Append(t.Context(), 0, []byte("event")); err != nil {
			t.Fatal(err)
		}
		closeIt()
		s, closeIt = openFor(t, to)
		if err := write(s); err != nil {
			t.Fatal(err)
		}
		closeIt()
		if _, err := eventlog.Copy(t.Context(), from, to, eventlog.CopyOptions{}); !errors.Is(err, eventlog.ErrDiffers) {
			t.Errorf("a target with %s: %v", name, err)
		}
	}
	s, closeIt := openFor(t, cluster)
	defer closeIt()
	if _, err := s.Acquire(t.Context(), "s-1", "server-1"); err != nil {
		t.Fatal(err)
	}
	for name, step := range map[string]struct{ from, to *eventlog.Options }{
		"source": {cluster, &eventlog.Options{Dir: t.TempDir()}}, "target": {&eventlog.Options{Dir: t.TempDir()}, cluster},
	} {
		if _, err := eventlog.Copy(t.Context(), step.from, step.to, eventlog.CopyOptions{}); !errors.Is(err, eventlog.ErrLeaseHeld) || !strings.Contains(err.Error(), "server-1") {
			t.Errorf("a %s with a server: %v", name, err)
		}
	}
}
