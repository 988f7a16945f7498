package cluster

import "time"

const (
	// replayTime is the maximum age of a call. The clocks of the servers must not differ by more.
	replayTime = time.Minute
	// maxSeen limits the number of calls that a server accepts in twice that time.
	maxSeen = 300_000
)

// replays remembers the ids of calls, to refuse copies of them.
type replays struct {
	started     time.Time // older calls are refused, because an earlier process may have run them
	turned      time.Time // when seen was empty
	seen, older map[string]struct{}
}

func newReplays(now time.Time) replays {
	return replays{started: now.Truncate(time.Second), turned: now, seen: map[string]struct{}{}}
}

// accept remembers a call. fresh reports whether it is not a copy, full whether it must be refused because there are too
// many calls.
func (r *replays) accept(call string, sent, now time.Time) (fresh, full bool) {
	if now.Sub(r.turned) >= 2*replayTime { // a call may be sent in the future by replayTime
		r.seen, r.older, r.turned = map[string]struct{}{}, r.seen, now
	}
	_, seen := r.seen[call]
	_, older := r.older[call]
	if seen || older || sent.Before(r.started) || now.Sub(sent).Abs() > replayTime {
		return false, false
	}
	if len(r.seen) >= maxSeen {
		return true, true
	}
	r.seen[call] = struct{}{}
	return true, false
}
