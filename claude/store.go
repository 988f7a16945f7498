package claude

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// ErrFenced: another writer has claimed the session, see [SessionClaimer].
var ErrFenced = errors.New("claude: the session was claimed by another writer")

// SessionStore keeps transcripts outside of the machine that the CLI runs on.
// With [Options.SessionStore] everything that the CLI writes to a transcript is
// appended to the store as well, and a session can be resumed from it where the
// CLI has never seen it. Methods may be called from several goroutines; one
// session appends its batches one after another.
//
// A store may do more than these two methods: see [SessionLister],
// [SessionFinder], [SubkeyLister], [SessionDeleter], [SummaryLister] and [SessionClaimer].
// Package claudestore has implementations, and claudetest.TestSessionStore the
// tests that one of your own should pass.
type SessionStore interface {
	// Append adds entries behind those that are there. An entry is opaque JSON;
	// one with a uuid that its transcript has already is left out, so that a
	// batch may be appended again when nobody knows whether it arrived. No
	// entries is nothing to do.
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

// SessionDeleter is a [SessionStore] that can delete.
type SessionDeleter interface {
	// Delete removes a transcript; that of a session takes its subagents' with
	// it. A key that is not there is no error.
	Delete(ctx context.Context, key SessionKey) error
}

// SummaryLister is a [SessionStore] that keeps a summary of each session, which
// makes listing many of them one call.
type SummaryLister interface {
	// ListSummaries returns one summary for each session of a project, in any
	// order. The store makes it with [claudestore.FoldSummary] when it appends to a main
	// transcript, one append at a time; its ModTime is of the same clock as that
	// of ListSessions, and not before it.
	ListSummaries(ctx context.Context, projectKey string) ([]StoredSummary, error)
}

// SessionClaimer is a [SessionStore] that can tell the writers of a session
// apart, so that one that was given up for dead cannot write behind its
// successor. The session is claimed when it is resumed and when it is first
// appended to; an Append that fails with [ErrFenced] is not tried again, and is
// told with a [message.MirrorError].
type SessionClaimer interface {
	// Claim makes the caller the writer of a session with all its transcripts;
	// the subpath of the key is not looked at. The returned store appends until
	// the session is claimed again, then Append fails with ErrFenced. Append of
	// the store itself is not fenced.
	Claim(ctx context.Context, key SessionKey) (SessionStore, error)
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

// StoredSummary is what a [SummaryLister] keeps of a session. Data belongs to
// this package: a store keeps it as it is. It has the names that the official
// TypeScript SDK gives its members, see [claudestore.SummaryData].
type StoredSummary struct {
	SessionID string
	ModTime   time.Time
	Data      json.RawMessage
}
