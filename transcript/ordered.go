package transcript

import (
	"context"
	"iter"
	"runtime"
	"sync"
)

// ordered yields f of every item, in the order of the items. A few goroutines compute f and run
// only a little ahead of the caller; they exit before ordered returns. It ends early with ctx.
func ordered[T, R any](ctx context.Context, items []T, f func(T) R) iter.Seq[R] {
	return func(yield func(R) bool) {
		workers := min(runtime.GOMAXPROCS(0), 8, len(items))
		if workers <= 1 {
			for _, item := range items {
				if ctx.Err() != nil || !yield(f(item)) {
					return
				}
			}
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		var group sync.WaitGroup
		defer group.Wait()
		defer cancel()

		// A ring of result slots; a slot is free again when its result was taken, so no worker runs
		// further ahead than the length of the ring.
		const ahead = 16
		ring := make([]chan R, workers*ahead)
		for i := range ring {
			ring[i] = make(chan R, 1)
		}
		taken := make(chan struct{}, len(ring))
		tickets := make(chan int)
		group.Go(func() {
			defer close(tickets)
			for i := range items {
				select {
				case taken <- struct{}{}:
				case <-ctx.Done():
					return
				}
				select {
				case tickets <- i:
				case <-ctx.Done():
					return
				}
			}
		})
		for range workers {
			group.Go(func() {
				for i := range tickets {
					ring[i%len(ring)] <- f(items[i])
				}
			})
		}
		for i := range items {
			select {
			case r := <-ring[i%len(ring)]:
				<-taken
				if !yield(r) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}
