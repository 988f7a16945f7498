package serve

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	quietEvery = 5 * time.Second // how often a server looks whether it is quiet
	quietBytes = 4 << 20         // what it allocates at most meanwhile if it is
	muchBytes  = 64 << 20        // what it must have allocated to give memory back
)

// giveBack returns memory to the system when the server is quiet after it has used much: a quiet
// server collects minutes later, and keeps until then what a large message took.
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

// allocated is how many bytes were allocated since the start.
type allocated struct {
	last  uint64 // at the last look
	freed uint64 // when memory was given back
}

// over reports whether the use of much memory has ended.
func (u *allocated) over(total uint64) bool {
	busy := total-u.last > quietBytes
	u.last = total
	if busy || total-u.freed < muchBytes {
		return false
	}
	u.freed = total
	return true
}
