package session

import (
	"context"
	"errors"
	"testing"
)

// TestLoop_ended checks that a call with an ended context never runs, even if the loop is ready for
// it.
func TestLoop_ended(t *testing.T) {
	s, _ := memSessions(t)
	connected, err := created(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	a, release, err := s.use(t.Context(), connected.SessionID)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 200 { // a random choice would show
		ran := false
		err := a.call(ctx, func() error { ran = true; return nil })
		if ran || !errors.Is(err, context.Canceled) {
			t.Fatalf("a call with an ended context runs: %v, and returns %v; want false and %v", ran, err, context.Canceled)
		}
	}
}
