package session

import (
	"context"
	"iter"

	"github.com/seed7221b0f9/parley/eventlog"
)

// Store is the part of package eventlog that the server uses. It is an interface so that tests can
// simulate a full disk or a contested log.
type Store interface {
	Log(session string) Log
	Ends(ctx context.Context) (generation string, ends map[string]uint64, err error)
	Health(ctx context.Context) error
	Damage() []eventlog.Damage
}

// Log is the log of one session.
type Log interface {
	Append(ctx context.Context, expected uint64, events ...[]byte) (uint64, error)
	AppendDelta(ctx context.Context, owner, seq, sub uint64, deltas ...[]byte) error
	TrimDeltas(ctx context.Context, seq uint64) error
	Last(ctx context.Context) (eventlog.Cursor, error)
	Read(ctx context.Context, after eventlog.Cursor) iter.Seq2[eventlog.Event, error]
	Snapshot(ctx context.Context) (eventlog.Snapshot, error)
	PutSnapshot(ctx context.Context, seq, sub uint64, data []byte) error
	Trim(ctx context.Context, seq uint64) error
	Delete(ctx context.Context) error
}

// StoreOf adapts a store of package eventlog to [Store].
func StoreOf(s *eventlog.Store) Store { return eventStore{s} }

type eventStore struct{ *eventlog.Store }

// Log returns the log of a session.
func (s eventStore) Log(session string) Log { return s.Store.Log(session) }
