package claudestore

import (
	"context"
	"encoding/json"

	"github.com/seed7221b0f9/parley/claude"
)

// Files keeps copies of files that consist of lines of JSON, such as those of another agent, in a store. The files belong
// to sessions. If the store is a [claude.SessionClaimer], the machine that has claimed a session last is its writer. Files
// is safe for concurrent use, but the calls for one session must not overlap.
type Files struct {
	Store MirrorStore
	// Project is the project of the sessions in the store. It must not be empty.
	Project string

	claims claims
}

func (f *Files) key(session, file string) (claude.SessionKey, error) {
	key := claude.SessionKey{ProjectKey: f.Project, SessionID: session, Subpath: file}
	return key, Check(key)
}

// Files returns the names of a session's files, sorted.
func (f *Files) Files(ctx context.Context, session string) ([]string, error) {
	key, err := f.key(session, "")
	if err != nil {
		return nil, err
	}
	return f.Store.ListSubkeys(ctx, key)
}

// Load returns the lines of a file.
func (f *Files) Load(ctx context.Context, session, file string) ([]json.RawMessage, error) {
	key, err := f.key(session, file)
	if err != nil {
		return nil, err
	}
	return f.Store.Load(ctx, key)
}

// Append adds lines to a file. It fails with [claude.ErrFenced] if another machine has claimed the session since; the next
// call claims it.
func (f *Files) Append(ctx context.Context, session, file string, lines []json.RawMessage) error {
	key, err := f.key(session, file)
	if err != nil {
		return err
	}
	return f.claims.append(ctx, f.Store, key, lines)
}

// Claim makes this machine the writer of a session.
func (f *Files) Claim(ctx context.Context, session string) error {
	key, err := f.key(session, "")
	if err != nil {
		return err
	}
	return f.claims.claim(ctx, f.Store, key)
}

// Delete removes the files of a session.
func (f *Files) Delete(ctx context.Context, session string) error {
	key, err := f.key(session, "")
	if err != nil {
		return err
	}
	f.claims.forget(session)
	return f.Store.Delete(ctx, key)
}
