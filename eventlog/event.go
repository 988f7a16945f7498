package eventlog

import (
	"fmt"
	"time"
)

// Event is one element of a log: a durable event, or a delta if Sub is not 0.
type Event struct {
	Seq  uint64    // number of the event; for a delta, of the preceding event
	Sub  uint64    // counts the deltas after Seq from 1; 0 for a durable event
	Time time.Time // when it was appended, by the writer's clock
	Data []byte    // read-only; it may share memory with other events of the same record
}

// Cursor is a position in a log: just after the event with its numbers. The zero value is the start
// of a log. An empty Epoch matches every epoch.
type Cursor struct {
	Epoch    string
	Seq, Sub uint64
}

// String returns the cursor in the form epoch:seq.sub, for logs and for messages to people.
func (c Cursor) String() string { return fmt.Sprintf("%s:%d.%d", c.Epoch, c.Seq, c.Sub) }

// Snapshot is the state of a session after an event, created by the writer of the log.
type Snapshot struct {
	Cursor // the position up to which the state includes everything
	Time   time.Time
	Data   []byte
}

// SessionInfo describes the log of a session: its first and last event, the time of the last,
// and its size.
type SessionInfo struct {
	Session     string
	First, Last uint64    // the oldest and newest stored events
	Epoch       string    // of cursors into the log
	Time        time.Time // of the newest event
}

// Damage lists events that a store has lost. From and To are inclusive; To is 0 if the number of
// lost events is unknown.
type Damage struct {
	Session  string
	From, To uint64
	Reason   string
}

// String returns a text for people with the session, the lost events, and the reason.
func (d Damage) String() string {
	if d.To == 0 {
		return fmt.Sprintf("session %s has lost its events from %d on: %s", d.Session, d.From, d.Reason)
	}
	return fmt.Sprintf("session %s has lost its events %d to %d: %s", d.Session, d.From, d.To, d.Reason)
}

// Usage reports the used space of a store, and warns before writers fail with ErrFull.
type Usage struct {
	Bytes, Quota int64  // of logs and snapshots
	Free         int64  // bytes of the disk that writers may still use; -1 for a cluster
	Warning      string // the reason why writers may soon get ErrFull; empty while there is room
}
