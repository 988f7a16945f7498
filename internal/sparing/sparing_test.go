package sparing_test

import (
	"runtime/debug"
	"testing"

	"github.com/seed7221b0f9/parley/internal/sparing"
)

// percent returns the setting of the garbage collector.
func percent() int {
	p := debug.SetGCPercent(100)
	debug.SetGCPercent(p)
	return p
}

// TestHold checks the setting of the collector during one and several holds, and
// afterwards.
func TestHold(t *testing.T) {
	for _, before := range []int{100, 400, 5, 4, -1} {
		old := debug.SetGCPercent(before)
		want := 5
		if before < 5 {
			want = before
		}
		look := func(when string, want int) {
			t.Helper()
			if got := percent(); got != want {
				t.Errorf("at %d: %s the setting is %d, want %d", before, when, got, want)
			}
		}
		small := sparing.Hold(sparing.Large - 1)
		look("for what is not large", before)
		small()
		one := sparing.Hold(sparing.Large)
		look("for what is large", want)
		two := sparing.Hold(sparing.Large)
		one()
		one() // counts once
		look("while another holds", want)
		two()
		look("at the end", before)
		debug.SetGCPercent(old)
	}
}

func ExampleHold() {
	body := make([]byte, 5<<20)
	release := sparing.Hold(len(body))
	defer release()
	// Output:
}
