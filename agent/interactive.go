package agent

import (
	"context"

	"github.com/seed7221b0f9/parley/agent/event"
)

// Finisher is implemented by a session that ends without Close when its work is done, including
// background tasks.
type Finisher interface {
	// Finish reports to the agent that no more inputs follow. The events end with ErrClosed when
	// the agent has ended.
	Finish(ctx context.Context) error
}

// Canceler is implemented by a session that can remove queued inputs before they run.
type Canceler interface {
	// Cancel removes the input with this uuid from the queue. It fails with ErrNotOpen if the input
	// has started or ended.
	Cancel(ctx context.Context, uuid string) error
}

// Holder is implemented by a session that holds inputs after an interrupt or a restart until a
// person decides.
type Holder interface {
	// Continue resumes an interrupted turn.
	Continue(ctx context.Context) error
	// Release runs the held inputs.
	Release(ctx context.Context) error
}

// Joined is implemented by a session that was running before it was opened here, such as one of a
// server.
type Joined interface {
	// Past returns the conversation up to the first event of the session, or nil. It must not be
	// modified.
	Past() *event.Conversation
}
