package claude

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// ErrFenced is returned by a store if another writer has since claimed the session; see
// [SessionClaimer]. The append is not retried.
var ErrFenced = errors.New("claude: the session was claimed by another writer")

// SessionStore keeps transcripts outside of the machine that the CLI runs on. With
// [Options.SessionStore] every entry of the CLI's transcripts is also appended to the store,
// and a session can be resumed from it on any machine. Methods must be safe for concurrent use;
// one session appends its batches sequentially.
//
// Optional interfaces are [SessionLister], [SessionFinder], [SubkeyLister], [SessionDeleter],
// [SummaryLister] and [SessionClaimer]. Package claude/claudestore has implementations, and
// claudetest.TestSessionStore tests custom ones.
type SessionStore interface {
	// Append appends entries to a transcript. An entry is opaque JSON. Append must omit entries
	// with a uuid that the transcript already has, so that a batch can be retried if its
	// outcome is unknown. An empty list has no effect.
	Append(ctx context.Context, key SessionKey, entries []json.RawMessage) error
	// Load returns all entries in order, or nil for an unknown key.
	Load(ctx context.Context, key SessionKey) ([]json.RawMessage, error)
}

// SessionKey identifies one transcript in a [SessionStore]: the project, the session and, for a
// subagent, the path below it.
type SessionKey struct {
	ProjectKey string // see [ProjectKey]
	SessionID  string
	Subpath    string // of a subagent's transcript; "" means the main one
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

// SessionFinder is a [SessionStore] that finds a session without its project. With it a session
// can be resumed from any directory, and continues under its existing key.
type SessionFinder interface {
	// FindSession returns the keys of the projects that have a main transcript of this session,
	// in any order, or nil if there is no such session.
	FindSession(ctx context.Context, sessionID string) (projectKeys []string, err error)
}

// SubkeyLister is a [SessionStore] that can list the transcripts of a session's subagents.
// Without it resuming restores only the main transcript.
type SubkeyLister interface {
	// ListSubkeys returns the subpaths of a session, without the main transcript.
	ListSubkeys(ctx context.Context, key SessionKey) ([]string, error)
}

// SessionDeleter is a [SessionStore] that can delete transcripts. A store without it keeps all
// entries.
type SessionDeleter interface {
	// Delete removes a transcript; deleting a main transcript also removes those of its
	// subagents. An unknown key is not an error.
	Delete(ctx context.Context, key SessionKey) error
}

// SummaryLister is a [SessionStore] that keeps a summary of each session, so that one call
// lists many sessions.
type SummaryLister interface {
	// ListSummaries returns one summary for each session of a project, in any order. The store
	// updates it with claudestore.FoldSummary for each append to a main transcript,
	// sequentially. Its ModTime uses the same clock as ListSessions and is not earlier.
	ListSummaries(ctx context.Context, projectKey string) ([]StoredSummary, error)
}

// SessionClaimer is a [SessionStore] that distinguishes the writers of a session, so that an
// old writer that was presumed dead cannot write after its successor. A session is claimed when
// it is resumed and at its first append. An Append that fails with [ErrFenced] is not retried
// and is reported with a [message.MirrorError].
type SessionClaimer interface {
	// Claim makes the caller the writer of all transcripts of a session; it ignores the subpath
	// of the key. When the session is claimed again, Append of the returned store fails with
	// ErrFenced. Append of the original store is not fenced.
	Claim(ctx context.Context, key SessionKey) (SessionStore, error)
}

// StoreFlush selects when new entries of a transcript are passed to a [SessionStore]: in
// batches or at once.
type StoreFlush string

// The flush policies. With both, all entries are flushed before a result is delivered.
const (
	FlushBatched StoreFlush = "batched" // the default: before a result, or when a batch is large
	FlushEager   StoreFlush = "eager"   // each entry when it arrives
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

// StoredSummary is the summary of a session in a [SummaryLister]. Data is opaque to a store,
// which must keep it unchanged. Its members have the names of the official TypeScript SDK; see
// claudestore.SummaryData.
type StoredSummary struct {
	SessionID string
	ModTime   time.Time
	Data      json.RawMessage
}
