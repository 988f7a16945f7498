package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/seed7221b0f9/parley/internal/sealed"
	"github.com/seed7221b0f9/parley/server/session"
)

// revoke ends a token and its cookies.
func (t *tokens) revoke(id string) error {
	n, err := t.remove(func(old token) bool { return old.ID == id || old.Parent == id })
	if err == nil && n == 0 {
		return session.Conflict("token %q not found", id)
	}
	return err
}

// forget ends the links to a session and the tokens of its agent.
func (t *tokens) forget(session string) error {
	_, err := t.remove(func(old token) bool { return old.Session == session || old.AgentOf == session })
	return err
}

// endRetry is the interval of the attempts to store that tokens have ended.
const endRetry = 10 * time.Second

// remove ends tokens and returns their number. They end at once, even if that cannot be stored: then they are in
// ending, and a later attempt, the next change or the next call for one of them stores it.
func (t *tokens) remove(end func(token) bool) (int, error) {
	t.changing.Lock()
	t.mu.Lock()
	var kept, ended []token
	for _, tk := range t.all {
		if end(tk) {
			ended = append(ended, tk)
		} else {
			kept = append(kept, tk)
		}
	}
	n := len(ended)
	if n > 0 {
		t.set(kept)
	}
	for _, tk := range t.ending {
		if end(tk) {
			n++
		}
	}
	t.ending = append(t.ending, ended...)
	var err error
	if n > 0 {
		if err = t.storeEnd(); err != nil {
			t.again()
		}
	}
	t.mu.Unlock()
	t.changing.Unlock()
	if len(ended) > 0 {
		t.ended()
	}
	return n, err
}

// storeEnd stores that the tokens in ending have ended. In a cluster it releases mu meanwhile. The caller holds changing and mu.
func (t *tokens) storeEnd() error {
	if t.shared != nil {
		if err := t.shareEnd(); err != nil {
			return fmt.Errorf("%w: %w", session.Fail(session.InternalError, "the token has ended on this server, but not on the others"), err)
		}
	} else if err := t.shrink(); err != nil {
		return fmt.Errorf("%w: %w", session.Fail(session.InternalError, "the token has ended, but is valid again after a restart"), err)
	}
	t.ending = nil
	return nil
}

// again stores the tokens in ending after a while, until it succeeds. The caller holds mu.
func (t *tokens) again() {
	if t.retry != nil || t.closed {
		return
	}
	t.retry = time.AfterFunc(endRetry, func() {
		t.changing.Lock()
		defer t.changing.Unlock()
		t.mu.Lock()
		defer t.mu.Unlock()
		t.retry = nil
		if len(t.ending) > 0 && !t.closed && t.storeEnd() != nil {
			t.again()
		}
	})
}

// shrink stores the tokens after some have ended, also on a full disk: it has no room for a new file, but the old one has
// room for fewer tokens.
func (t *tokens) shrink() error {
	data, err := json.Marshal(t.all)
	if err != nil {
		return err
	}
	if err = saveState(t.path, data); err == nil {
		return nil
	}
	if over := overwrite(t.path, sealed.Seal(data)); over != nil {
		return errors.Join(err, over)
	}
	return nil
}

// overwrite replaces the content of a file with content that is not longer, which needs no room on the disk. If the computer crashes
// meanwhile, the file is damaged.
func overwrite(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Size() < int64(len(data)) {
		return errors.Join(err, errors.New("the old file is shorter"))
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	return errors.Join(f.Truncate(int64(len(data))), f.Sync())
}

// close stores what could not be stored.
func (t *tokens) close() error {
	t.changing.Lock()
	defer t.changing.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	if t.retry != nil {
		t.retry.Stop()
	}
	if len(t.ending) == 0 {
		return nil
	}
	return t.storeEnd()
}

// endPrinted ends the printed tokens and their cookies.
func (t *tokens) endPrinted() error {
	_, err := t.remove(func(old token) bool { return old.Port != "" && old.Node == t.shared.self() })
	return err
}
