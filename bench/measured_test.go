package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// eater is the environment variable that makes this program use that number of MiB of memory.
const eater = "PARLEY_BENCH_EATS"

// eat touches memory and prints a JSON value.
func eat(size string) {
	n := 0
	fmt.Sscan(size, &n)
	b := resident(n)
	fmt.Println(len(b))
}

// resident allocates memory of this size and touches every page.
func resident(mib int) []byte {
	b := make([]byte, mib<<20)
	for i := 0; i < len(b); i += 1024 {
		b[i] = 1
	}
	return b
}

// TestPeakMemory measures small and large processes from a larger one: only their own memory
// counts.
func TestPeakMemory(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("memory is not measured on this system")
	}
	held := resident(300)
	b := &bench{tmp: t.TempDir()}
	if err := os.MkdirAll(b.path("work"), 0o700); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, mib := range []int64{1, 120} {
		var printed int64
		m, err := b.timeIn(t.Context(), []string{self}, []string{fmt.Sprintf("%s=%d", eater, mib), "HOME=" + filepath.Join(b.tmp, "home")}, &printed)
		if err != nil {
			t.Fatal(err)
		}
		if printed != mib<<20 {
			t.Errorf("it printed %d", printed)
		}
		// The race detector keeps some bytes for each of the program's; this process has three times as much too.
		most := mib + 100
		if raceDetector {
			most += 4 * mib
		}
		if m.Peak < mib<<20 || m.Peak > most<<20 {
			t.Errorf("a process of %d MiB is said to have had %d MiB", mib, m.Peak>>20)
		}
		if m.Seconds <= 0 || m.CPU <= 0 {
			t.Errorf("it took %+v", m)
		}
	}
	if _, err := b.timeIn(t.Context(), []string{filepath.Join(b.tmp, "none")}, nil, nil); err == nil {
		t.Error("a command that is not there was run")
	}
	runtime.KeepAlive(held)
}
