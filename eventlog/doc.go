// Package eventlog stores durable, numbered logs of events, one log for each session, on
// NATS JetStream. By default the server runs inside this process, without a listener; with
// [Options.URL] the same code uses an existing cluster. An event is a slice of bytes.
//
// # Events and deltas
//
// A log holds durable events, numbered from 1 without a gap. [Log.Append] writes one or more of them as one record: all of them are stored, or none. A delta is a small, short-lived event
// between two durable ones, such as a piece of a text that is still being written. It has the number of the durable event that it follows and a counter, (Seq, Sub). Once event Seq+1 is
// stored the deltas after Seq are superseded: readers skip them, and [Log.TrimDeltas] frees their space.
//
// # Order
//
// Readers see strictly increasing (Seq, Sub). [Log.Read] yields the events stored at the time of the call and ends; [Log.Follow] continues with later events, and yields every durable event
// after its cursor exactly once, regardless of the process that wrote it and of lost connections. Deltas are best effort: one may be missing, none is repeated or out of order. Different logs
// have no common order.
//
// A [Cursor] is a position in a log. Its epoch changes when the log is deleted and created again, and when a store is restored from a backup or has lost events. A cursor of another epoch
// ends a reader with [ErrEpoch], a cursor before the oldest stored event with [ErrTrimmed]; in both cases continue from [Log.Snapshot].
//
// # One writer
//
// Append takes the number of the last event that the writer knows. If the log has another last event, Append writes no event and returns [ErrConflict], so that a replaced writer cannot
// write. In a cluster a [Lease] determines the writer; its epoch marks deltas, and readers skip those of an earlier writer.
//
// # Durability
//
// When Append or PutSnapshot returns nil, the embedded server has written and synced the data: it survives the end of the process and a power failure, as far as the disk keeps synced data.
// No reader sees a durable event before that. When Append fails with another error than ErrConflict, [ErrFull], [ErrTooLarge] or [ErrSession], the events may be stored or not; [Log.Last]
// returns the actual end. Deltas, Trim and Delete are written at once and synced every [Options.SyncInterval]. With URL the cluster's settings decide what an acknowledgement means: it needs
// sync_interval: always, or three replicas on machines that do not fail together.
//
// # Bounds
//
// The bytes of one Append are limited by [Options.MaxAppend]; records over 256 KiB are split into parts and joined by readers, which hold one record in memory at a time. All logs and
// snapshots together are limited by [Options.Quota], and the disk keeps [Options.Reserve] free: beyond either, writers get ErrFull, readers read on, and deleting makes room. [Store.Usage]
// warns before. Deltas have a separate quota, 256 MiB and a day, and the oldest are dropped first. A store uses about 500 bytes of memory per log.
//
// # Blocking
//
// Every method ends with its context, and each call to the server takes at most [Options.Timeout], even if the context allows more. Appends to one log wait for each other, those to different
// logs do not. A reader never delays a writer, however slow it is: it reads from the log, not from a queue. Trim, Delete and PutSnapshot wait for a running [Store.Backup]. Close ends all
// readers and waits for other calls.
//
// # Files
//
// Only one store at a time can use a data directory; a second one gets a [*LockedError] that names the process. A store of a newer format is rejected with [ErrFormat], all older formats are
// read. Open checks a store that was not closed cleanly or has changed files, which takes time in proportion to its size, and [Store.Damage] lists the missing events.
package eventlog
