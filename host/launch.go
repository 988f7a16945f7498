package host

import (
	"context"
	"encoding/json"
	"net"

	"github.com/seed7221b0f9/parley/spawn"
)

// Launch describes an agent that an owner on another machine starts. It names no program: the [Policy] of the host's machine makes the
// command.
type Launch struct {
	Agent   string          // the name of the agent, without a slash
	Dir     string          // its working directory
	Options json.RawMessage `json:",omitempty"`
	// Key is the key of the agent, see [AgentOptions]. A [Policy] gets it; it is not sent.
	Key string `json:"-"`
}

// Policy decides what an owner on another machine may do. Its methods may be called from several goroutines.
type Policy interface {
	// Start makes the command of a launch and calls start with it, at most once. The files of the command are needed until start returns.
	// The error is reported to the owner.
	Start(ctx context.Context, l Launch, start func(spawn.Command) error) error
	// Line returns the bytes to write for a line to the agent, without the line feed. It should
	// decode the line and encode it again, so that the agent cannot read it differently than the
	// policy does. After an error the line does not reach the agent.
	Line(agent string, line []byte) ([]byte, error)
}

// NewLink connects to a host over a connection that [Relay] or a host serves; see [Dial]. The host's machine may be another one. The
// link closes the connection.
func NewLink(ctx context.Context, conn net.Conn, epoch uint64) (*Link, error) {
	l, err := newLink(ctx, conn, epoch)
	if err != nil {
		return nil, err
	}
	l.remote = true
	return l, nil
}

// Beat sends an empty frame, so that the other end of a silent link knows that this end is alive.
func (l *Link) Beat() error {
	frame, err := jsonFrame(frameRequest, request{Op: opCancel})
	if err != nil {
		return err
	}
	return l.send(frame)
}

// Launch starts an agent at a host behind [Relay]. See [Link.SpawnAgent].
func (l *Link) Launch(ctx context.Context, launch Launch, o AgentOptions) (*Process, error) {
	return l.openNew(ctx, request{Op: opSpawn, Launch: &launch, Options: &o, Window: window}, false)
}
