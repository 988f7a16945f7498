package claudestore

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/internal/regularfile"
)

// dirSummary is the content of a summary file, in the form of the official TypeScript SDK.
type dirSummary struct {
	SessionID string          `json:"sessionId"`
	MTime     int64           `json:"mtime"` // milliseconds since 1970, rounded up
	Data      json.RawMessage `json:"data"`
}

// summarize adds entries that were just written to the session's summary.
func (d *Dir) summarize(key claude.SessionKey, entries []json.RawMessage) error {
	at, err := d.modTime(key)
	if err != nil {
		return err
	}
	path := d.session(key, ".summary")
	prev, err := readSummary(path)
	if err != nil {
		// It is missing or invalid: rebuild it from the transcript.
		if entries, err = d.Load(context.Background(), key); err != nil {
			return err
		}
		prev = nil
	}
	sum, err := FoldSummary(prev, key, entries, at)
	if err != nil {
		return err
	}
	ms := at.Add(time.Millisecond - 1).UnixMilli()
	text, err := json.Marshal(dirSummary{SessionID: sum.SessionID, MTime: ms, Data: sum.Data})
	if err != nil {
		return err
	}
	return replace(path, text)
}

// summaryLimit is the maximum size of a summary or a claim file that is read; this package
// writes far smaller ones.
const summaryLimit = 16 << 20

func readSummary(path string) (*claude.StoredSummary, error) {
	text, err := regularfile.ReadNoFollow(path, summaryLimit)
	if err != nil {
		return nil, err
	}
	var s dirSummary
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, err
	}
	return &claude.StoredSummary{SessionID: s.SessionID, ModTime: time.UnixMilli(s.MTime), Data: s.Data}, nil
}

// replace writes a file atomically: a reader sees the old content or the new one.
func replace(path string, text []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".tmp-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = tmp.Write(text)
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		os.Remove(tmp.Name())
	}
	return err
}

// ListSummaries returns the summaries of all sessions of a project, which are stored next to
// their transcripts.
func (d *Dir) ListSummaries(ctx context.Context, projectKey string) ([]claude.StoredSummary, error) {
	sessions, err := d.ListSessions(ctx, projectKey)
	if err != nil {
		return nil, err
	}
	var list []claude.StoredSummary
	for _, s := range sessions {
		key := claude.SessionKey{ProjectKey: projectKey, SessionID: s.SessionID}
		sum, err := readSummary(d.session(key, ".summary"))
		if errors.Is(err, fs.ErrNotExist) {
			continue // a transcript that was not written by this store
		}
		if err != nil {
			return nil, err
		}
		list = append(list, *sum)
	}
	return list, nil
}

// Claim makes the caller the only writer of a session. An earlier writer fails with
// [claude.ErrFenced] from then on.
func (d *Dir) Claim(_ context.Context, key claude.SessionKey) (claude.SessionStore, error) {
	key.Subpath = ""
	w := &dirWriter{Dir: d, key: sessionOf(key)}
	err := d.locked(key, func() (err error) {
		if w.claim, err = d.claim(key); err != nil {
			return err
		}
		w.claim++
		return replace(d.session(key, ".claim"), []byte(strconv.FormatUint(w.claim, 10)+"\n"))
	})
	return w, err
}

// claim returns the number of the last claim, or 0.
func (d *Dir) claim(key claude.SessionKey) (uint64, error) {
	text, err := regularfile.ReadNoFollow(d.session(key, ".claim"), summaryLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
}

// dirWriter is a Dir with fenced appends to one session.
type dirWriter struct {
	*Dir
	key   sessionKey
	claim uint64
}

// Append adds entries unless another writer has claimed the session.
func (w *dirWriter) Append(_ context.Context, key claude.SessionKey, entries []json.RawMessage) error {
	if len(entries) == 0 {
		return nil
	}
	return w.locked(key, func() error {
		if sessionOf(key) == w.key {
			switch now, err := w.Dir.claim(key); {
			case err != nil:
				return err
			case now != w.claim:
				return claude.ErrFenced
			}
		}
		return w.append(key, entries)
	})
}
