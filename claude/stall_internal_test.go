package claude

import (
	"testing"
	"time"
)

func TestWatchdog(t *testing.T) {
	both := watchdog{first: 10 * time.Second, silence: 4 * time.Second}
	now := moment.Add(time.Minute)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	for name, tt := range map[string]struct {
		dog   watchdog
		turn  watchedTurn
		next  time.Duration
		phase string
		since time.Duration
	}{
		"nobody waits":           {both, watchedTurn{clock: ago(time.Hour)}, 0, "", 0},
		"this side is slow":      {both, watchedTurn{awaited: true, slow: true, clock: ago(time.Hour)}, 4 * time.Second, "", 0},
		"not yet begun":          {both, watchedTurn{awaited: true, clock: ago(3 * time.Second)}, 7 * time.Second, "", 0},
		"never begun":            {both, watchedTurn{awaited: true, clock: ago(10 * time.Second)}, 4 * time.Second, "first message", 10 * time.Second},
		"a line of before":       {both, watchedTurn{awaited: true, clock: ago(3 * time.Second), last: "assistant", lastAt: ago(9 * time.Second)}, 7 * time.Second, "", 0},
		"another line":           {both, watchedTurn{awaited: true, clock: ago(3 * time.Second), last: "system/status", lastAt: ago(time.Second)}, 7 * time.Second, "", 0},
		"an answer without init": {both, watchedTurn{awaited: true, clock: ago(9 * time.Second), last: "stream_event", lastAt: ago(time.Second)}, 3 * time.Second, "", 0},
		"silent":                 {both, watchedTurn{awaited: true, begun: true, clock: ago(9 * time.Second), last: "assistant", lastAt: ago(5 * time.Second)}, 4 * time.Second, "silence", 5 * time.Second},
		"silent, newer clock":    {both, watchedTurn{awaited: true, begun: true, clock: ago(time.Second), last: "assistant", lastAt: ago(5 * time.Second)}, 3 * time.Second, "", 0},
		"no limit for silence":   {watchdog{first: time.Second}, watchedTurn{awaited: true, begun: true, clock: ago(time.Hour)}, time.Second, "", 0},
		"no limit for the first": {watchdog{silence: time.Second}, watchedTurn{awaited: true, clock: ago(time.Hour)}, time.Second, "", 0},
	} {
		next, stalled := tt.dog.look(tt.turn, now)
		if next != tt.next || (stalled == nil) != (tt.phase == "") {
			t.Errorf("%s: again after %v, %v", name, next, stalled)
		} else if stalled != nil && (stalled.Phase != tt.phase || stalled.Since != tt.since) {
			t.Errorf("%s: %+v; want not (stalled != nil && (stalled.Phase != tt.phase || stalled.Since != tt.since))", name, stalled)
		}
	}
	for _, tt := range []struct {
		set  Deadlines
		want time.Duration
	}{{Deadlines{}, 0}, {Deadlines{FirstMessageTimeout: 2, SilenceTimeout: -1}, 2}, {Deadlines{SilenceTimeout: 3}, 3}, {Deadlines{FirstMessageTimeout: 2, SilenceTimeout: 3}, 2}, {Deadlines{FirstMessageTimeout: 4, SilenceTimeout: 3}, 3}} {
		if got := newWatchdog(&tt.set).interval(); got != tt.want {
			t.Errorf("%+v: %v; want got == tt.want", tt.set, got)
		}
	}
}
