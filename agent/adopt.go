package agent

import (
	"context"
	"iter"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/spawn"
)

// Adopter is implemented by a provider whose agents can be taken over from another process that has started them
// with [Options.Spawner], under a host that outlives it.
type Adopter interface {
	// Adopt takes over the agent of the session with this id. It writes nothing to the agent; requests that
	// wait for an answer come again as events when the lines up to Adoption.Last were read. After an error the agent
	// is ended.
	Adopt(ctx context.Context, id string, opts Options, a Adoption) (Session, error)
}

// Adoption is an agent that another process has started and left running.
type Adoption struct {
	// Process is the agent. Its lines begin with the first one of its life.
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
	// CaughtUp blocks until the reader has read all output that existed when this program found the process, and has
	// asked for more.
	CaughtUp(ctx context.Context) error
	// Taken returns the number of the last output line that was read completely.
	Taken() uint64
	// Discard drops the output up to a line. Cut reports whether an earlier program dropped output.
	Discard(ctx context.Context, line uint64) error
	Cut() bool
	// Forget removes the record of a process that has ended.
	Forget(ctx context.Context) error
}

// Batch is all events of one line of an agent.
type Batch struct {
	// Line is the number of the line. It is 0 for events that come from no line; they may come again after an adoption.
	Line   uint64
	Events []event.Event // none for most lines to the agent
}

// Hosted is implemented by a session that can be adopted. A caller that wants that takes Batches and not Events.
type Hosted interface {
	// Batches yields the events of the session grouped by line, for an adopted session from the first line on. It
	// ends as Events does.
	Batches(ctx context.Context) iter.Seq2[Batch, error]
	// Kept returns how many bytes of lines an adoption would read.
	Kept() int64
	// OrphanInput returns the line with which a host interrupts the running turn before it ends an agent without an owner.
	// It may change with each turn; nil means no line.
	OrphanInput() []byte
}
