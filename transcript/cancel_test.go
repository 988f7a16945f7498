package transcript

import (
	"context"
	"errors"
	"runtime"
	"testing"
)

// TestCancel cancels the context before and at many points during every reader, over several
// shapes. The reader returns the error of the context, and takes at most a few hundred steps after
// the cancellation, which is far less than 100 ms of work.
func TestCancel(t *testing.T) {
	if raceDetector {
		t.Skip("it counts steps; make test runs it without the race detector")
	}
	// Only one goroutine runs at a time, so the context is checked in a fixed order.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, shape := range []string{"talk", "one uuid", "missing parents", "circles", "calls without results", "compactions", "branches"} {
		s := writeShape(t, shape, 400)
		for name, read := range readers {
			asked := int64(1 << 40)
			whole := stopping{t.Context(), &asked, nil}
			if err := read(whole, s); err != nil {
				t.Fatalf("%s of %s: %v", name, shape, err)
			}
			asked = 1<<40 - asked
			if asked < 1 {
				t.Errorf("%s of %s never looks at its context", name, shape)
			}
			for at := int64(0); at < asked; at += 1 + asked/5 {
				cancelAt(t, shape+": "+name, s, read, at)
			}
		}
	}
}

func cancelAt(t *testing.T, what string, s *Session, read func(context.Context, *Session) error, at int64) {
	t.Helper()
	var steps int64
	ctx := stopAfter(context.WithValue(t.Context(), stepCounter{}, &steps), at)
	watch := &watched{stopping: ctx, steps: &steps}
	err := read(watch, s)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%s: ended at look %d: %v", what, at, err)
	}
	if late := steps - watch.when; late > 2*stepsBetween {
		t.Errorf("%s: ended at look %d, and %d steps were taken after it", what, at, late)
	}
}

// watched records the number of steps at which the context ended.
type watched struct {
	stopping
	steps *int64
	when  int64
	over  bool
}

func (w *watched) Err() error {
	err := w.stopping.Err()
	if err != nil && !w.over {
		w.over, w.when = true, *w.steps
	}
	return err
}
