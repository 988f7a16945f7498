package claude

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// ErrFenced is returned by a store when another writer has claimed the session since; see
// [SessionClaimer]. It is not tried again.
var ErrFenced = errors.New("claude: the session was claimed by another writer")

// SessionStore keeps transcripts outside of the machine that the CLI runs on.
// With [Options.SessionStore] everything that the CLI writes to a transcript is
// appended to the store as well, and a session can be resumed from it where the
// CLI has never seen it. Methods may be called from several goroutines; one
// session appends its batches one after another.
//
// A store may do more than these two methods: see [SessionLister],
// [SessionFinder], [SubkeyLister], [SessionDeleter], [SummaryLister] and [SessionClaimer].
// Package claude/claudestore has implementations, and claudetest.TestSessionStore the
// tests that one of your own should pass.
type SessionStore interface {
	// Append adds entries after those that are there. An entry is opaque JSON; one with a uuid
	// that its transcript has already is left out, so that a batch may be appended again when
	// it is not known whether it arrived. Without entries Append does nothing.
	Append(ctx context.Context, key SessionKey, entries []json.RawMessage) error
	// Load returns all entries in their order, nil for a key never written.
	Load(ctx context.Context, key SessionKey) ([]json.RawMessage, error)
}

// SessionKey identifies one transcript in a [SessionStore]: the project, the session and, for a
// subagent, the path below it.
type SessionKey struct {
	ProjectKey string // see [ProjectKey]
	SessionID  string
	Subpath    string // of a subagent's transcript; "" is the main one
}

// SessionLister is a [SessionStore] that can list the sessions of a project. Resuming the
// newest session needs it.
type SessionLister interface {
	// ListSessions returns the main transcripts of a project, in any order.
	ListSessions(ctx context.Context, projectKey string) ([]StoredSession, error)
}

// StoredSession is a session that a [SessionLister] found in a store, with the time of its last
// change.
type StoredSession struct {
	SessionID string
	ModTime   time.Time
}

// SessionFinder is a [SessionStore] that finds a session without its project. With
// it a session is resumed from any directory, and goes on under the key that it has.
type SessionFinder interface {
	// FindSession returns the keys of the projects that have a main transcript of
	// this session, none if there is no such session, in any order.
	FindSession(ctx context.Context, sessionID string) (projectKeys []string, err error)
}

// SubkeyLister is a [SessionStore] that knows the subagents' transcripts of a
// session. Without it resuming restores the main transcript alone.
type SubkeyLister interface {
	// ListSubkeys returns the subpaths of a session, without the main transcript.
	ListSubkeys(ctx context.Context, key SessionKey) ([]string, error)
}

// SessionDeleter is a [SessionStore] that can delete transcripts. A store without it keeps
// everything that was ever appended.
type SessionDeleter interface {
	// Delete removes a transcript; that of a session takes its subagents' with
	// it. A key that does not exist is not an error.
	Delete(ctx context.Context, key SessionKey) error
}

// SummaryLister is a [SessionStore] that keeps a summary of each session, which
// makes listing many of them one call.
type SummaryLister interface {
	// ListSummaries returns one summary for each session of a project, in any
	// order. The store makes it with claudestore.FoldSummary when it appends to a main
	// transcript, one append at a time; its ModTime is of the same clock as that
	// of ListSessions, and not before it.
	ListSummaries(ctx context.Context, projectKey string) ([]StoredSummary, error)
}

// SessionClaimer is a [SessionStore] that can tell the writers of a session
// apart, so that one that was given up for dead cannot write after its successor. The session
// is claimed when it is resumed and when it is first appended to; an Append that fails with
// [ErrFenced] is not tried again, and is reported with a [message.MirrorError].
type SessionClaimer interface {
	// Claim makes the caller the writer of a session with all its transcripts;
	// the subpath of the key is not looked at. The returned store appends until
	// the session is claimed again, then Append fails with ErrFenced. Append of
	// the store itself is not fenced.
	Claim(ctx context.Context, key SessionKey) (SessionStore, error)
}

// StoreFlush selects when new entries of a transcript are passed to a [SessionStore]: in
// batches or at once.
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

// StoredSummary is what a [SummaryLister] keeps of a session. Data belongs to
// this package: a store keeps it as it is. It has the names that the official
// TypeScript SDK gives its members, see claudestore.SummaryData.
type StoredSummary struct {
	SessionID string
	ModTime   time.Time
	Data      json.RawMessage
}
