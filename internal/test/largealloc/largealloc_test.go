package largealloc_test

import (
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/largealloc"
)

var sink []byte

// TestStacks checks that exactly the large allocations are found.
func TestStacks(t *testing.T) {
	got := largealloc.Stacks(8<<20, func() {
		for range 3 {
			sink = make([]byte, 9<<20)
		}
		sink = make([]byte, 1<<20)
	})
	sink = nil
	if len(got) != 3 || !strings.Contains(got[0], "TestStacks") {
		t.Errorf("%d large allocations are found, want 3:\n%s", len(got), strings.Join(got, "\n"))
	}
}
