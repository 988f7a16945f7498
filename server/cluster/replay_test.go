package cluster

import (
	"strconv"
	"testing"
	"time"
)

// TestReplays checks that copies of calls are refused while the calls are recent, as are calls from
// before the start, and that many calls in one period do not block those of the next.
func TestReplays(t *testing.T) {
	start := time.Unix(1_000_000, 0)
	r := newReplays(start.Add(time.Second / 2))
	accept := func(what, call string, sent, now time.Duration, want bool) {
		t.Helper()
		if fresh, full := r.accept(call, start.Add(sent), start.Add(now)); (fresh && !full) != want {
			t.Errorf("%s: fresh %t, full %t, want %t", what, fresh, full, want)
		}
	}
	accept("before the start", "a", -time.Second, time.Second, false)
	accept("in the second of the start", "b", 0, time.Second, true)
	accept("a copy", "b", 0, 2*time.Second, false)
	accept("too old", "c", time.Second, replayTime+2*time.Second, false)
	accept("too new", "d", 2*replayTime, replayTime-time.Second, false)
	accept("of a fast clock", "e", 2*replayTime, replayTime, true)
	accept("its copy, at the end of its time", "e", 2*replayTime, 3*replayTime, false)
	for i := range maxSeen {
		r.accept(strconv.Itoa(i), start.Add(3*replayTime), start.Add(3*replayTime))
	}
	accept("too many", "f", 3*replayTime, 3*replayTime, false)
	accept("in the next period", "g", 6*replayTime, 6*replayTime, true)
	accept("a copy", "g", 6*replayTime, 6*replayTime, false)
}
