package deadline_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/internal/deadline"
)

func TestOr(t *testing.T) {
	for given, want := range map[time.Duration]time.Duration{0: time.Minute, -1: 0, -time.Hour: 0, 5: 5} {
		if got := deadline.Or(given, time.Minute); got != want {
			t.Errorf("Or(%v) = %v, want %v", given, got, want)
		}
	}
}

func TestWithAndWait(t *testing.T) {
	cause := errors.New("late")
	ctx, cancel := deadline.With(t.Context(), time.Nanosecond, cause)
	defer cancel()
	<-ctx.Done()
	if !errors.Is(context.Cause(ctx), cause) {
		t.Errorf("the cause is %v", context.Cause(ctx))
	}
	if deadline.Wait(ctx, time.Hour) {
		t.Error("Wait outlived its context")
	}
	unbounded, stop := deadline.With(t.Context(), 0, cause)
	defer stop()
	if _, bounded := unbounded.Deadline(); bounded {
		t.Error("a limit of 0 is a deadline")
	}
	if !deadline.Wait(unbounded, 0) {
		t.Error("no time at all was too long")
	}
}
