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

// LoseLog removes the events of a log and leaves the rest, as a deletion that was cut off does.
func (l *Log) LoseLog(ctx context.Context) error {
	l.store.forget(l.session)
	return l.store.st.log.Purge(ctx, jetstream.WithPurgeSubject(l.subject()))
}

// Expire lets the time of a lease end here, while the server still has it.
func (l *Lease) Expire() {
	revision, _ := l.state()
	l.set(revision, time.Now())
}

// Scanned reports whether Open has read all messages from the server.
func Scanned(s *Store) bool { return s.scanned }
