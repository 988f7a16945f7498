package eventlog

import (
	"context"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// EventsOf yields the numbers of the events in a message of a log.
func EventsOf(msg []byte) func(yield func(uint64) bool) {
	return func(yield func(uint64) bool) {
		h, _, err := decodePart(msg)
		for seq := h.first; err == nil && seq <= h.last() && yield(seq); seq++ {
		}
	}
}

// LoseLog removes the events of a log and leaves the rest, like an interrupted deletion.
func (l *Log) LoseLog(ctx context.Context) error {
	l.store.forget(l.session)
	return l.store.st.log.Purge(ctx, jetstream.WithPurgeSubject(l.subject()))
}

// Expire ends the lease locally, while the server still has it.
func (l *Lease) Expire() {
	revision, _ := l.state()
	l.set(revision, time.Now())
}

// Scanned reports whether Open has read all messages from the server.
func Scanned(s *Store) bool { return s.scanned }

// Unchecked returns the number of closed blocks that are not checked yet.
func Unchecked(s *Store) int {
	if s.unchecked == nil {
		return 0
	}
	s.unchecked.mu.Lock()
	defer s.unchecked.mu.Unlock()
	return len(s.unchecked.left)
}

// CheckAfter sets the delay of the background check of closed blocks, and reduces the time for which the server reads blocks
// at its start to little more than the server needs. It returns a function that restores both.
func CheckAfter(d time.Duration) (undo func()) {
	delay, dedupe := checkDelay, dedupeTime
	checkDelay, dedupeTime = d, DedupeTime
	return func() { checkDelay, dedupeTime = delay, dedupe }
}

// LookAlways makes every call check for changed blocks. It returns a function that restores the interval.
func LookAlways() (undo func()) {
	interval := lookInterval
	lookInterval = 0
	return func() { lookInterval = interval }
}

// FalseAlarm reports whether the store was repaired without damage.
func FalseAlarm(s *Store) bool { return s.watch.off.Load() }

// DedupeTime is longer than the server's window of message ids.
const DedupeTime = 150 * time.Millisecond

// Mended reports whether the embedded server was restarted.
func Mended(s *Store) bool { return s.srv.restarted.Load() }

// CheckAgain makes stores that are opened later read their closed blocks at each tick. It returns a function that restores the interval.
func CheckAgain(ticks <-chan time.Time) (undo func()) {
	before := againTicks
	againTicks = func() (<-chan time.Time, func()) { return ticks, func() {} }
	return func() { againTicks = before }
}

// LookIdle makes stores that are opened later look at each tick without a call. It returns a function that restores the interval.
func LookIdle(ticks <-chan time.Time) (undo func()) {
	before := idleTicks
	idleTicks = func() (<-chan time.Time, func()) { return ticks, func() {} }
	return func() { idleTicks = before }
}

// Dedupe sets the age up to which a block is checked before the server starts. It returns a function that restores it.
func Dedupe(d time.Duration) (undo func()) {
	before := dedupeTime
	dedupeTime = d
	return func() { dedupeTime = before }
}
