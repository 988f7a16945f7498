package eventlog

import (
	"errors"
	"fmt"
)

var (
	// ErrConflict is returned by Append when the log's last event is not the expected one. Nothing
	// was written. It is wrapped by a [*ConflictError], which has the number of the last event.
	ErrConflict = errors.New("eventlog: the log has another last event than expected")
	// ErrNotFound is returned when a session has no log, no snapshot, or no lease.
	ErrNotFound = errors.New("eventlog: not found")
	// ErrTrimmed is returned by readers whose cursor is before the oldest stored event.
	ErrTrimmed = errors.New("eventlog: the events after the cursor were trimmed")
	// ErrEpoch is returned by readers whose cursor does not belong to the log as it is now: the log
	// was created again, restored, or has lost events.
	ErrEpoch = errors.New("eventlog: the cursor is of another epoch")
	// ErrFull is returned by writers when the quota is used up or the disk has less than the
	// reserve free. Nothing was written, unless other programs filled the disk to its end during the
	// call: then a repeated Append may find its events stored, and get ErrConflict.
	ErrFull = errors.New("eventlog: the store is full")
	// ErrTooLarge is returned by writers for data over Options.MaxAppend. Nothing was written.
	ErrTooLarge = errors.New("eventlog: the data is too large")
	// ErrFormat is returned for a store, record or backup of a newer format than this package reads.
	ErrFormat = errors.New("eventlog: the format is newer than this program")
	// ErrLocked is returned by Open when another store uses the data directory. It is wrapped by a
	// [*LockedError].
	ErrLocked = errors.New("eventlog: the data directory is in use")
	// ErrDamaged is returned by readers at the place where stored events are missing or unreadable. It is
	// wrapped by a [*DamageError].
	ErrDamaged = errors.New("eventlog: stored events are damaged")
	// ErrSession is returned for the name of a session that is not 1 to 128 letters, digits, '-' or '_'.
	ErrSession = errors.New("eventlog: not a valid session name")
	// ErrNoSnapshot is returned by Trim when no snapshot covers the events to be trimmed.
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

// ConflictError is an ErrConflict with the numbers that differ.
type ConflictError struct {
	Session  string
	Expected uint64 // what the writer expected
	Last     uint64 // the log's last event; 0 for an empty log
}

// Error names the session and both numbers.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("eventlog: the last event of %s is %d, not %d as expected", e.Session, e.Last, e.Expected)
}

// Unwrap returns ErrConflict.
func (e *ConflictError) Unwrap() error { return ErrConflict }

// LockedError is an ErrLocked with the owner of the directory.
type LockedError struct {
	Dir string
	PID int // of the process that has the directory; 0 if it is not known
}

// Error names the directory and the process.
func (e *LockedError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("eventlog: the data directory %s is in use by another process", e.Dir)
	}
	return fmt.Sprintf("eventlog: the data directory %s is in use by process %d", e.Dir, e.PID)
}

// Unwrap returns ErrLocked.
func (e *LockedError) Unwrap() error { return ErrLocked }

// DamageError is an ErrDamaged with the events that are missing.
type DamageError struct{ Damage }

// Error names the session and the missing events.
func (e *DamageError) Error() string { return "eventlog: " + e.String() }

// Unwrap returns ErrDamaged.
func (e *DamageError) Unwrap() error { return ErrDamaged }

// LeaseHeldError is an ErrLeaseHeld with the present owner.
type LeaseHeldError struct{ Session, Owner string }

// Error names the session and the owner.
func (e *LeaseHeldError) Error() string {
	return fmt.Sprintf("eventlog: %s holds the lease of %s", e.Owner, e.Session)
}

// Unwrap returns ErrLeaseHeld.
func (e *LeaseHeldError) Unwrap() error { return ErrLeaseHeld }
