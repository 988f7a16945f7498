package claudestore

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/internal/linecopy"
)

// claims has the sessions that this machine has claimed.
type claims struct {
	writers linecopy.Recent[claude.SessionStore] // by session
}

// claim makes this machine the writer of a session, if the store has claims.
func (c *claims) claim(ctx context.Context, store MirrorStore, key claude.SessionKey) error {
	claimer, ok := store.(claude.SessionClaimer)
	if !ok {
		return nil
	}
	key.Subpath = ""
	w, err := claimer.Claim(ctx, key)
	if err == nil {
		c.writers.Put(key.SessionID, w)
	}
	return err
}

// append appends entries as the writer of a session. After a claim of another machine the next call claims again: the
// caller knows whose the session is.
func (c *claims) append(ctx context.Context, store MirrorStore, key claude.SessionKey, entries []json.RawMessage) error {
	w, ok := c.writers.Get(key.SessionID)
	if !ok {
		if err := c.claim(ctx, store, key); err != nil {
			return err
		}
		if w, ok = c.writers.Get(key.SessionID); !ok {
			w = store
		}
	}
	err := w.Append(ctx, key, entries)
	if errors.Is(err, claude.ErrFenced) {
		c.forget(key.SessionID)
	}
	return err
}

func (c *claims) forget(sessionID string) {
	c.writers.Forget(func(id string) bool { return id == sessionID })
}
