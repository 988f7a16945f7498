package linecopy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/internal/linecopy"
)

// TestRecent keeps the last value of a bounded number, and forgets those that match.
func TestRecent(t *testing.T) {
	var r linecopy.Recent[int]
	if _, ok := r.Get("a"); ok {
		t.Error("an empty one has a value")
	}
	r.Forget(func(string) bool { return true })
	for i := range 3000 {
		r.Put(fmt.Sprint("key ", i), i)
		if v, ok := r.Get(fmt.Sprint("key ", i)); !ok || v != i {
			t.Fatalf("value %d is %d, %v", i, v, ok)
		}
	}
	n := 0
	r.Forget(func(key string) bool {
		n++
		return strings.HasSuffix(key, "key 2999")
	})
	if _, ok := r.Get("key 2999"); ok || n != 1024 {
		t.Errorf("%d values, want 1024; a forgotten one is there: %v", n, ok)
	}
}
