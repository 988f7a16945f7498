package transcript

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed7221b0f9/parley/internal/claudedir"
	"github.com/seed7221b0f9/parley/internal/regularfile"
)

// DeleteOptions configures [Dir.Delete]. A nil pointer is the zero value, which moves the session
// to the trash.
type DeleteOptions struct {
	ChangeOptions
	// Permanently deletes the files, as the official SDK does, instead of moving them to the trash.
	Permanently bool
}

// Trashed is a deleted session in the trash. [Dir.Restore] moves it back to its project.
type Trashed struct {
	SessionID  string    `json:"sessionId"`
	ProjectKey string    `json:"projectKey"` // the directory that held it
	DeletedAt  time.Time `json:"deletedAt"`

	dir string // in the trash
}

// trash returns the directory of deleted sessions. It is in the configuration directory, so that
// moving a session there is a rename.
func (d *Dir) trash() string { return filepath.Join(d.config, "parley-trash") }

const trashNote = "deleted.json"

// Delete moves a session to the trash: its file and the directory with its subagents, sidecars and
// output of tools. [Dir.Restore] moves them back.
func (d *Dir) Delete(ctx context.Context, id string, opts *DeleteOptions) error {
	if opts == nil {
		opts = &DeleteOptions{}
	}
	s, err := d.find(ctx, id, &opts.ChangeOptions)
	if err != nil {
		return err
	}
	if opts.Permanently {
		if err := d.files.Remove(s.Path); err != nil {
			return fmt.Errorf("transcript: %w", err)
		}
		if err := d.files.RemoveAll(s.sideDir()); err != nil {
			return fmt.Errorf("transcript: %w", err)
		}
		return nil
	}
	return d.moveToTrash(s)
}

func (d *Dir) moveToTrash(s *Session) error {
	now := time.Now()
	t := &Trashed{SessionID: s.ID, ProjectKey: s.ProjectKey, DeletedAt: now, dir: filepath.Join(d.trash(), s.ID+"-"+fmt.Sprint(now.UnixNano()))}
	note, err := encode(t)
	if err != nil {
		return err
	}
	if err := d.files.MkdirAll(t.dir, 0o700); err != nil {
		return fmt.Errorf("transcript: %w", err)
	}
	if err := replace(d.files, filepath.Join(t.dir, trashNote), note); err != nil {
		return err
	}
	// The file first: from then on the session is deleted. Restore expects a remaining directory at
	// its original place.
	for _, path := range []string{s.Path, s.sideDir()} {
		err := d.files.Rename(path, filepath.Join(t.dir, filepath.Base(path)))
		if err != nil && !(path == s.sideDir() && errors.Is(err, fs.ErrNotExist)) {
			return fmt.Errorf("transcript: %w", err)
		}
	}
	return nil
}

// Trash lists the deleted sessions that can be restored, most recently deleted first.
func (d *Dir) Trash() ([]*Trashed, error) {
	list, err := os.ReadDir(d.trash())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("transcript: %w", err)
	}
	var found []*Trashed
	for _, e := range list {
		t := &Trashed{dir: filepath.Join(d.trash(), e.Name())}
		text, err := regularfile.ReadNoFollow(filepath.Join(t.dir, trashNote), sidecarLimit)
		if err != nil || json.Unmarshal(text, t) != nil || !claudedir.ValidID(t.SessionID) || !isName(t.ProjectKey) {
			continue
		}
		if _, err := os.Stat(filepath.Join(t.dir, t.SessionID+".jsonl")); err == nil {
			found = append(found, t)
		}
	}
	slices.SortFunc(found, func(a, b *Trashed) int { return b.DeletedAt.Compare(a.DeletedAt) })
	return found, nil
}

// isName reports whether a key from a note is a plain directory name that cannot lead elsewhere.
func isName(key string) bool {
	return key != "." && filepath.IsLocal(key) && filepath.Base(key) == key
}

// Restore moves a deleted session back. If it was deleted several times, it restores the most
// recent one. The error is [ErrNoSession] if the trash does not have it, and fs.ErrExist if a
// session of that id exists at its place.
func (d *Dir) Restore(id string) error {
	list, err := d.Trash()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, func(t *Trashed) bool { return t.SessionID == id })
	if i < 0 {
		return fmt.Errorf("%w in the trash: %s", ErrNoSession, id)
	}
	t := list[i]
	project := filepath.Join(d.projects(), t.ProjectKey)
	if err := d.files.MkdirAll(project, 0o700); err != nil {
		return fmt.Errorf("transcript: %w", err)
	}
	// The directory first, so that the session reappears complete. The trash lacks the directory if
	// the session had no directory or the deletion was interrupted.
	for _, name := range []string{id, id + ".jsonl"} {
		from, to := filepath.Join(t.dir, name), filepath.Join(project, name)
		if _, err := os.Lstat(from); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if _, err := os.Lstat(to); err == nil {
			return fmt.Errorf("transcript: %s: %w", to, fs.ErrExist)
		}
		if err := d.files.Rename(from, to); err != nil {
			return fmt.Errorf("transcript: %w", err)
		}
	}
	if err := d.files.RemoveAll(t.dir); err != nil {
		return fmt.Errorf("transcript: %w", err)
	}
	return nil
}

// EmptyTrash deletes the sessions in the trash that were deleted before a given time. They
// cannot be restored any more.
func (d *Dir) EmptyTrash(before time.Time) error {
	list, err := d.Trash()
	if err != nil {
		return err
	}
	for _, t := range list {
		if t.DeletedAt.Before(before) {
			if err := d.files.RemoveAll(t.dir); err != nil {
				return fmt.Errorf("transcript: %w", err)
			}
		}
	}
	return nil
}
