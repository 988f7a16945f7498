package eventlog

import (
	"errors"
	"fmt"
)

var (
	// ErrConflict is returned by Append when the log's last event is not the expected one. No event
	// was written. It is wrapped by a [*ConflictError], which has the number of the last event.
	ErrConflict = errors.New("eventlog: the log has another last event than expected")
	// ErrNotFound is returned when a session has no log, no snapshot, or no lease, depending on
	// the call.
	ErrNotFound = errors.New("eventlog: not found")
	// ErrTrimmed is returned by readers with a cursor before the oldest stored event, so that
	// events are missing.
	ErrTrimmed = errors.New("eventlog: the events after the cursor were trimmed")
	// ErrEpoch is returned by readers with a cursor that does not belong to the current log: the
	// log was created again, restored, or has lost events.
	ErrEpoch = errors.New("eventlog: the cursor belongs to another epoch")
	// ErrFull is returned by writers when the quota is used up or the disk has less than the reserve
	// free. No event was written, unless other programs filled the disk completely during the call:
	// then a repeated Append may find its events stored, and get ErrConflict.
	ErrFull = errors.New("eventlog: the store is full")
	// ErrTooLarge is returned by writers for data that exceeds Options.MaxAppend. No event was
	// written.
	ErrTooLarge = errors.New("eventlog: the data is too large")
	// ErrFormat is returned for a store, record or backup of a newer format than this package reads.
	ErrFormat = errors.New("eventlog: the format is newer than this program")
	// ErrLocked is returned by Open when another store uses the data directory. It is wrapped by a
	// [*LockedError].
	ErrLocked = errors.New("eventlog: the data directory is in use")
	// ErrDamaged is returned by readers at the position where stored events are missing or unreadable. It
	// is wrapped by a [*DamageError].
	ErrDamaged = errors.New("eventlog: stored events are damaged")
	// ErrSession is returned for the name of a session that is not 1 to 128 letters, digits, '-' or '_'.
	ErrSession = errors.New("eventlog: not a valid session name")
	// ErrNoSnapshot is returned by Trim when no snapshot covers the events to trim. No event was
	// trimmed.
	ErrNoSnapshot = errors.New("eventlog: no snapshot covers the events to trim")
	// ErrLeaseHeld is returned by Acquire while another owner holds the lease. It is wrapped by a
	// [*LeaseHeldError].
	ErrLeaseHeld = errors.New("eventlog: another owner holds the lease")
	// ErrLeaseLost is returned by methods of a lease that expired, was released or was taken over.
	ErrLeaseLost = errors.New("eventlog: the lease is lost")
	// ErrBackup is returned by Restore for data that is not a complete backup, or a store that is not empty.
	ErrBackup = errors.New("eventlog: the backup cannot be restored")
	// ErrClosed is returned by methods called after Close, and ends readers that Close finds running.
	ErrClosed = errors.New("eventlog: the store is closed")
)

// ConflictError is returned when the log has another last event than the writer expected. It
// matches [ErrConflict].
type ConflictError struct {
	Session  string
	Expected uint64 // the writer's expectation
	Last     uint64 // the log's last event; 0 for an empty log
}

// Error returns a message with the session, the last event of its log, and the expected one.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("eventlog: the last event of %s is %d, not %d as expected", e.Session, e.Last, e.Expected)
}

// Unwrap returns [ErrConflict], so that [errors.Is] recognizes the error without its numbers.
func (e *ConflictError) Unwrap() error { return ErrConflict }

// LockedError is returned when another process has the data directory open. It names the process and matches
// [ErrLocked].
type LockedError struct {
	Dir string
	PID int // of the process that has the directory open; 0 if unknown
}

// Error returns a message with the directory and, if known, the process that has it open.
func (e *LockedError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("eventlog: the data directory %s is in use by another process", e.Dir)
	}
	return fmt.Sprintf("eventlog: the data directory %s is in use by process %d", e.Dir, e.PID)
}

// Unwrap returns [ErrLocked], so that [errors.Is] recognizes the error without the process.
func (e *LockedError) Unwrap() error { return ErrLocked }

// DamageError is returned when events of a log are missing, and names them. It matches
// [ErrDamaged].
type DamageError struct{ Damage }

// Error returns a message with the session, the missing events, and the reason.
func (e *DamageError) Error() string { return "eventlog: " + e.String() }

// Unwrap returns [ErrDamaged], so that [errors.Is] recognizes the error without the events.
func (e *DamageError) Unwrap() error { return ErrDamaged }

// LeaseHeldError is returned when another owner holds the lease of a session, and names it. It
// matches [ErrLeaseHeld].
type LeaseHeldError struct{ Session, Owner string }

// Error returns a message with the session and the owner of its lease.
func (e *LeaseHeldError) Error() string {
	return fmt.Sprintf("eventlog: %s holds the lease of %s", e.Owner, e.Session)
}

// Unwrap returns [ErrLeaseHeld], so that [errors.Is] recognizes the error without the owner.
func (e *LeaseHeldError) Unwrap() error { return ErrLeaseHeld }
