package serve

import (
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/eventlog"
)

// TestFullNote checks that a server reports at its start if the disk has less space than
// its reserve.
func TestFullNote(t *testing.T) {
	for reserve, want := range map[int64]bool{-1: false, 1 << 60: true} {
		store, err := eventlog.Open(t.Context(), &eventlog.Options{Dir: t.TempDir(), UnsafeNoSync: true, Reserve: reserve})
		if err != nil {
			t.Fatal(err)
		}
		if got := fullNote(t.Context(), store); strings.Contains(got, "no") != want {
			t.Errorf("with the reserve %d: %q", reserve, got)
		}
		if err := store.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
