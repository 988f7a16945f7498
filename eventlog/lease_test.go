package eventlog_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/eventlog"
)

func TestLease(t *testing.T) {
	s := open(t, nil)
	first, err := s.Acquire(t.Context(), "a", "node 1")
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Acquire(t.Context(), "a", "node 2")
	var held *eventlog.LeaseHeldError
	if !errors.Is(err, eventlog.ErrLeaseHeld) || !errors.As(err, &held) || held.Owner != "node 1" {
		t.Errorf("second owner: %v", err)
	}
	if _, err := s.Acquire(t.Context(), "b", "node 2"); err != nil {
		t.Errorf("another session: %v", err)
	}
	if err := errors.Join(first.Renew(t.Context()), first.Renew(t.Context()), first.Release(t.Context()), first.Release(t.Context())); err != nil {
		t.Errorf("renewing and releasing: %v", err)
	}
	second, err := s.Acquire(t.Context(), "a", "node 2")
	if err != nil || second.Epoch() <= first.Epoch() {
		t.Fatalf("after the release: %v, epochs %d and %d", err, first.Epoch(), second.Epoch())
	}
	if err := first.Renew(t.Context()); !errors.Is(err, eventlog.ErrLeaseLost) {
		t.Errorf("renewing a released lease: %v", err)
	}
	if err := first.Release(t.Context()); err != nil {
		t.Errorf("releasing a lost lease: %v", err)
	}
	if err := second.Renew(t.Context()); err != nil {
		t.Errorf("the second owner lost the lease to the first: %v", err)
	}
}

// TestLease_expires waits until a lease expires while another one is kept.
func TestLease_expires(t *testing.T) {
	s := open(t, &eventlog.Options{UnsafeNoSync: true, LeaseTTL: 600 * time.Millisecond})
	kept, err := s.Acquire(t.Context(), "kept", "node 1")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	keeping := make(chan error, 1)
	go func() { keeping <- kept.Keep(ctx) }()
	lost, err := s.Acquire(t.Context(), "lost", "node 1")
	if err != nil {
		t.Fatal(err)
	}
	next := acquireSoon(t, s, "lost")
	if next.Epoch() <= lost.Epoch() {
		t.Errorf("epochs %d and %d", lost.Epoch(), next.Epoch())
	}
	if err := lost.Renew(t.Context()); !errors.Is(err, eventlog.ErrLeaseLost) {
		t.Errorf("renewing an expired lease: %v", err)
	}
	if err := lost.Keep(t.Context()); !errors.Is(err, eventlog.ErrLeaseLost) {
		t.Errorf("keeping an expired lease: %v", err)
	}
	if _, err := s.Acquire(t.Context(), "kept", "node 2"); !errors.Is(err, eventlog.ErrLeaseHeld) {
		t.Errorf("the kept lease: %v", err)
	}
	cancel()
	if err := <-keeping; !errors.Is(err, context.Canceled) {
		t.Errorf("Keep: %v", err)
	}
}

// acquireSoon acquires a lease as soon as it is free.
func acquireSoon(t *testing.T, s *eventlog.Store, session string) *eventlog.Lease {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		lease, err := s.Acquire(ctx, session, "node 2")
		if err == nil {
			return lease
		}
		if !errors.Is(err, eventlog.ErrLeaseHeld) {
			t.Fatal(err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// TestLease_overHere checks that a lease that has expired by the local clock is lost, even if it has no other
// owner yet: its owner may have been suspended, and another one may be about to take it.
func TestLease_overHere(t *testing.T) {
	s := open(t, nil)
	l, err := s.Acquire(t.Context(), "a", "node 1")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Renew(t.Context()); err != nil {
		t.Errorf("renewing a lease in time: %v", err)
	}
	l.Expire()
	if err := l.Renew(t.Context()); !errors.Is(err, eventlog.ErrLeaseLost) {
		t.Fatalf("renewing a lease that is over here: %v", err)
	}
	if err := l.Keep(t.Context()); !errors.Is(err, eventlog.ErrLeaseLost) {
		t.Errorf("keeping it: %v", err)
	}
}

// TestLease_reacquire checks that the next process of the same owner can acquire a lease, with a higher epoch, and that
// another owner cannot.
func TestLease_reacquire(t *testing.T) {
	s := open(t, nil)
	if owner, err := s.Owner(t.Context(), "a"); owner != "" || err != nil {
		t.Errorf("the owner without a lease: %q, %v", owner, err)
	}
	dead, err := s.Reacquire(t.Context(), "a", "node 1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Reacquire(t.Context(), "a", "node 2"); !errors.Is(err, eventlog.ErrLeaseHeld) {
		t.Errorf("another owner: %v", err)
	}
	next, err := s.Reacquire(t.Context(), "a", "node 1")
	if err != nil || next.Epoch() <= dead.Epoch() {
		t.Fatalf("the next process: %v", err)
	}
	if err := dead.Renew(t.Context()); !errors.Is(err, eventlog.ErrLeaseLost) {
		t.Errorf("the dead process renews: %v", err)
	}
	if err := dead.Release(t.Context()); err != nil {
		t.Error(err)
	}
	if owner, err := s.Owner(t.Context(), "a"); owner != "node 1" || err != nil {
		t.Errorf("the owner is %q, %v", owner, err)
	}
	gone, err := s.Acquire(t.Context(), "b", "node 2")
	if err != nil || gone.Release(t.Context()) != nil {
		t.Fatal(err)
	}
	if all, err := s.Leases(t.Context()); err != nil || len(all) != 1 || all["a"] != "node 1" {
		t.Errorf("the leases are %v, %v", all, err)
	}
}
