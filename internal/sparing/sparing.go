// Package sparing limits the garbage of the process while it works on large data.
package sparing

import (
	"runtime/debug"
	"sync"
)

const (
	// Large is the minimum size in bytes of large data.
	Large = 4 << 20
	// percent is the value of GOGC while the process is sparing.
	percent = 5
)

var (
	mu      sync.Mutex
	holders int
	before  int // the setting of the process
)

// Hold makes the process collect garbage earlier until release is called, if size is at least [Large]. The
// last release restores the setting of the process and returns free memory to the system. It has no effect
// on a process without garbage collection.
func Hold(size int) (release func()) {
	if size < Large {
		return func() {}
	}
	mu.Lock()
	defer mu.Unlock()
	if holders++; holders == 1 {
		set()
	}
	return sync.OnceFunc(func() {
		mu.Lock()
		defer mu.Unlock()
		if holders--; holders == 0 {
			debug.SetGCPercent(before)
			debug.FreeOSMemory()
		}
	})
}

func set() {
	before = debug.SetGCPercent(percent)
	if before < percent { // disabled, or stricter
		debug.SetGCPercent(before)
	}
}
