package agent

import (
	"context"
	"iter"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/spawn"
)

// Adopter is implemented by a provider whose running agents can be taken over by another process.
// The first process must have started them with [Options.Spawner] under a host that outlives it.
type Adopter interface {
	// Adopt takes over the agent of the session with this id. It sends no message to the agent.
	// When the lines up to Adoption.Last have been read, the open requests are events again. If
	// Adopt returns an error, it has ended the agent.
	Adopt(ctx context.Context, id string, opts Options, a Adoption) (Session, error)
}

// Adoption describes an agent that another process has started and left running.
type Adoption struct {
	// Process is the agent. Its lines start with the first line that it wrote.
	Process spawn.LineProcess
	// Last is the number of the newest line of the process when Adopt is called.
	Last uint64
	// Stored is the number of the last line with stored events. Lines up to it are not reported to OnUsed and
	// OnLine.
	Stored uint64
}

// Keeper runs processes for one agent under a host. Its methods may be called from any goroutine.
type Keeper interface {
	// Keep starts a process under a name that is unique for the agent, or returns the process that already has the
	// name.
	Keep(ctx context.Context, name string, cmd spawn.Command) (Kept, error)
	// Find returns the process that an earlier program started under a name, or [ErrNotFound].
	Find(ctx context.Context, name string) (Kept, error)
}

// Kept is a process of a [Keeper]. Its standard output begins after the discarded part; the standard error is not kept.
type Kept interface {
	spawn.Process
	// CaughtUp blocks until the reader has read all output that existed when this program found the
	// process, and waits for more.
	CaughtUp(ctx context.Context) error
	// Taken returns the number of the last output line that was read completely.
	Taken() uint64
	// Discard drops the output up to a line. Cut reports whether an earlier program dropped output.
	Discard(ctx context.Context, line uint64) error
	Cut() bool
	// Forget removes the record of a process that has ended.
	Forget(ctx context.Context) error
}

// Batch holds all events of one line of an agent.
type Batch struct {
	// Line is the number of the line. It is 0 for events without a line; an adoption may report
	// these again.
	Line   uint64
	Events []event.Event // empty for most lines to the agent
}

// Hosted is implemented by a session that can be adopted. To make use of that, a caller uses
// Batches instead of Events.
type Hosted interface {
	// Batches yields the events of the session grouped by line, for an adopted session from the first line on. It
	// ends as Events does.
	Batches(ctx context.Context) iter.Seq2[Batch, error]
	// Kept returns the number of bytes that an adoption would read.
	Kept() int64
	// OrphanInput returns the line with which a host interrupts the running turn before it ends an agent without an owner.
	// It may change with each turn; nil means no line.
	OrphanInput() []byte
}
