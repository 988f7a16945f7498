package claude

import (
	"context"
	"encoding/json"
	"time"
)

// SessionStore keeps transcripts outside of the machine that the CLI runs on.
// With [Options.SessionStore] everything that the CLI writes to a transcript is
// appended to the store as well, and a session can be resumed from it where the
// CLI has never seen it. Methods may be called from several goroutines, for one
// key never at the same time.
//
// A store may do more than these two methods: see [SessionLister],
// [SubkeyLister] and [SessionDeleter].
type SessionStore interface {
	// Append adds entries behind those that are there. An entry is opaque JSON;
	// one with a uuid that is there already may be left out. No entries is
	// nothing to do.
	Append(ctx context.Context, key SessionKey, entries []json.RawMessage) error
	// Load returns all entries in their order, nil for a key never written.
	Load(ctx context.Context, key SessionKey) ([]json.RawMessage, error)
}

// SessionKey names one transcript.
type SessionKey struct {
	ProjectKey string // see [ProjectKey]
	SessionID  string
	Subpath    string // of a subagent's transcript; "" is the main one
}

// SessionLister is a [SessionStore] that knows its sessions, which resuming the
// newest one needs.
type SessionLister interface {
	// ListSessions returns the main transcripts of a project, in any order.
	ListSessions(ctx context.Context, projectKey string) ([]StoredSession, error)
}

// StoredSession is a session in a store.
type StoredSession struct {
	SessionID string
	ModTime   time.Time
}

// SubkeyLister is a [SessionStore] that knows the subagents' transcripts of a
// session. Without it resuming restores the main transcript alone.
type SubkeyLister interface {
	// ListSubkeys returns the subpaths of a session, without the main transcript.
	ListSubkeys(ctx context.Context, key SessionKey) ([]string, error)
}

// SessionDeleter is a [SessionStore] that can delete.
type SessionDeleter interface {
	// Delete removes a transcript; that of a session takes its subagents' with
	// it. A key that is not there is no error.
	Delete(ctx context.Context, key SessionKey) error
}

// StoreFlush says when entries go to a [SessionStore].
type StoreFlush string

// The ways of flushing. Before a result is delivered everything has been tried
// either way.
const (
	FlushBatched StoreFlush = "batched" // the default: at a result, or when much has gathered
	FlushEager   StoreFlush = "eager"   // as they come
)

func (o *Options) checkStore() error {
	if o.SessionStore == nil {
		return nil
	}
	_, lists := o.SessionStore.(SessionLister)
	switch {
	case o.PersistSession != nil && !*o.PersistSession:
		return errStoreUnpersisted
	case o.EnableFileCheckpointing:
		return errStoreCheckpoints
	case o.Continue && o.Resume == "" && !lists:
		return errStoreCannotList
	}
	return nil
}
