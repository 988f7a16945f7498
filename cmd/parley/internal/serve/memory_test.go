package serve

import (
	"context"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"
)

// TestAllocated checks when a server releases memory: once after each phase of large allocations, and
// not while it is busy.
func TestAllocated(t *testing.T) {
	var u allocated
	for i, c := range []struct {
		total uint64
		want  bool
	}{
		{muchBytes / 2, false}, {muchBytes / 2, false}, // little
		{2 * muchBytes, false}, {3 * muchBytes, false}, // busy
		{3*muchBytes + quietBytes, true}, {3*muchBytes + quietBytes, false},
		{5 * muchBytes, false}, {5 * muchBytes, true},
	} {
		if got := u.over(c.total); got != c.want {
			t.Errorf("look %d, at %d bytes: %v, want %v", i, c.total, got, c.want)
		}
	}
}

// TestGiveBack checks that most of the memory of a large message returns to the system.
func TestGiveBack(t *testing.T) {
	held := func() float64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapSys - m.HeapReleased)
	}
	const size = 2 * muchBytes
	debug.FreeOSMemory() // so that the message does not reuse memory of others
	before := held()
	message := make([]byte, size)
	for i := 0; i < size; i += 4096 {
		message[i] = 1
	}
	runtime.KeepAlive(message)
	if took := held() - before; took < size/2 {
		t.Fatalf("a message of %d bytes took %.0f", size, took)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { giveBack(ctx, 10*time.Millisecond) })
	defer wg.Wait()
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(10 * time.Second); held()-before > size/4; <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("of %d bytes %.0f are held", size, held()-before)
		}
	}
}
