package session

import (
	"fmt"
	"testing"
	"time"
)

// TestUnsaved_take checks that deltas are saved in order, as many at once as the log accepts, each with
// its number.
func TestUnsaved_take(t *testing.T) {
	var u unsaved
	sizes := []int{10, maxDeltas - 10, 1, maxDeltas, maxDeltas + 1, 5, 5}
	for i, size := range sizes {
		u.add(make([]byte, size), uint64(7+i), time.Now())
	}
	var got []string
	for len(u.records) > 0 {
		records, first := u.take()
		got = append(got, fmt.Sprintf("%d from %d", len(records), first))
	}
	if want := "[2 from 7 1 from 9 1 from 10 1 from 11 2 from 12]"; fmt.Sprint(got) != want {
		t.Errorf("saved are %v, want %s", got, want)
	}
}
