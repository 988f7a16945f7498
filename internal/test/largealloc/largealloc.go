// Package largealloc counts large allocations, for tests of code that must not copy large data.
package largealloc

import (
	"fmt"
	"runtime"
	"strings"
)

// Stacks calls f and returns the stacks of the allocations of at least size bytes that any goroutine made
// meanwhile, one text for each. size should be several megabytes: the runtime records all allocations much larger
// than [runtime.MemProfileRate].
func Stacks(size int64, f func()) []string {
	before := counts(size)
	f()
	var all []string
	for stack, n := range counts(size) {
		for range n - before[stack] {
			all = append(all, stack)
		}
	}
	return all
}

// counts returns the number of large allocations at each place.
func counts(size int64) map[string]int64 {
	runtime.GC() // the profile includes a cycle only after the next one
	runtime.GC()
	records := make([]runtime.MemProfileRecord, 1024)
	for {
		n, ok := runtime.MemProfile(records, true)
		if ok {
			records = records[:n]
			break
		}
		records = make([]runtime.MemProfileRecord, 2*n)
	}
	found := map[string]int64{}
	for _, r := range records {
		if r.AllocObjects > 0 && r.AllocBytes/r.AllocObjects >= size {
			found[text(r.Stack())] += r.AllocObjects
		}
	}
	return found
}

func text(stack []uintptr) string {
	var b strings.Builder
	frames := runtime.CallersFrames(stack)
	for {
		f, more := frames.Next()
		fmt.Fprintf(&b, "%s:%d\n", f.Function, f.Line)
		if !more {
			return b.String()
		}
	}
}
