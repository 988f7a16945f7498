package serve

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	quietEvery = 5 * time.Second // interval of the checks
	quietBytes = 4 << 20         // allocations below which the server counts as quiet
	muchBytes  = 64 << 20        // allocations after which memory is released
)

// giveBack returns memory to the system when the server becomes quiet after large allocations:
// otherwise a quiet server collects only minutes later, and keeps the memory of a large message
// until then.
func giveBack(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	total := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	var u allocated
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			metrics.Read(total)
			if u.over(total[0].Value.Uint64()) {
				debug.FreeOSMemory()
			}
		}
	}
}

// allocated tracks the number of bytes allocated since the start.
type allocated struct {
	last  uint64 // at the last check
	freed uint64 // at the last release of memory
}

// over reports whether a phase of large allocations has ended.
func (u *allocated) over(total uint64) bool {
	busy := total-u.last > quietBytes
	u.last = total
	if busy || total-u.freed < muchBytes {
		return false
	}
	u.freed = total
	return true
}
