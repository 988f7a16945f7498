package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/seed7221b0f9/parley/internal/regularfile"
)

// Workspace is a git worktree that [Manager.Create] made for a session. Its directory is in the data
// directory of its manager.
type Workspace struct {
	ID     string `json:"id"`
	Path   string `json:"path"`
	Repo   string `json:"repo"`   // the working tree that it was made from
	Base   string `json:"base"`   // the commit that it began at
	Branch string `json:"branch"` // that is checked out in it
	Setup  string `json:"setup,omitempty"`
	Owner  string `json:"owner,omitempty"`  // of whom it is, in the caller's words
	Output string `json:"output,omitempty"` // of the setup command, the end of it
}

// State of a record.
const (
	making    = "making"   // git may have made a part of it
	settingUp = "setup"    // the setup command runs
	ready     = "ready"    // it can be used
	removing  = "removing" // it is in the trash, or about to be
)

// record is what the manager knows of a worktree. It is on disk before git does anything.
type record struct {
	Workspace
	State      string `json:"state"`
	NewBranch  bool   `json:"new_branch,omitempty"`  // the branch was made for it
	CommonDir  string `json:"common_dir"`            // the repository
	KeepBranch bool   `json:"keep_branch,omitempty"` // while removing
	Tip        string `json:"tip,omitempty"`         // of the branch, while removing
	Commit     bool   `json:"commit,omitempty"`      // a commit is being made in it
}

var validID = regexp.MustCompile(`^w-[0-9a-f]{8,40}$`)

func (m *Manager) recordPath(id string) string {
	return filepath.Join(m.opts.Dir, recordsDir, id+".json")
}

// save writes a record, so that a reader sees it whole or not at all.
func (m *Manager) save(r record) error {
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	return writeSynced(m.recordPath(r.ID), data)
}

// writeSynced replaces a file of the data directory by one that is on disk.
func writeSynced(path string, data []byte) error {
	tmp := path + ".tmp"
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	return nil
}

// maxRecord is the size of a record or a journal.
const maxRecord = 16 << 20

func (m *Manager) load(id string) (record, error) {
	if !validID.MatchString(id) {
		return record{}, fmt.Errorf("%w: workspace %q", ErrNotFound, id)
	}
	data, err := regularfile.Read(m.recordPath(id), maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		return record{}, fmt.Errorf("%w: workspace %q", ErrNotFound, id)
	}
	if err != nil {
		return record{}, fmt.Errorf("workspace: %w", err)
	}
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return record{}, fmt.Errorf("workspace: the record of %s: %w", id, err)
	}
	return r, nil
}

// records lists all records.
func (m *Manager) records() ([]record, error) {
	names, err := filesIn(filepath.Join(m.opts.Dir, recordsDir), "w-", ".json")
	if err != nil {
		return nil, err
	}
	var all []record
	for _, name := range names {
		r, err := m.load(strings.TrimSuffix(filepath.Base(name), ".json"))
		if errors.Is(err, ErrNotFound) {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// Get returns the workspace with an id. The error matches [ErrNotFound] if there is none, or if it
// is still being created or removed.
func (m *Manager) Get(id string) (Workspace, error) {
	r, err := m.load(id)
	if err == nil && r.State != ready {
		err = fmt.Errorf("%w: workspace %q is %s", ErrNotFound, id, r.State)
	}
	return r.Workspace, err
}

// List returns all workspaces in the order of their ids, without those that are still being created
// or removed.
func (m *Manager) List() ([]Workspace, error) {
	all, err := m.records()
	if err != nil {
		return nil, err
	}
	list := []Workspace{}
	for _, r := range all {
		if r.State == ready {
			list = append(list, r.Workspace)
		}
	}
	return list, nil
}

// recover brings everything in order that a killed process has left.
func (m *Manager) recover(ctx context.Context) error {
	if err := m.recoverFiles(); err != nil {
		return err
	}
	scratch := filepath.Join(m.opts.Dir, scratchDir)
	if err := errors.Join(os.RemoveAll(scratch), os.Mkdir(scratch, 0o700)); err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	all, err := m.records()
	if err != nil {
		return err
	}
	for _, r := range all {
		if err := m.recoverOne(ctx, r); err != nil {
			// A repository that is gone or unmounted must not keep the others from work.
			m.opts.Logger.Warn("a workspace was left as it is", "workspace", r.ID, "state", r.State, "err", err)
		}
	}
	return nil
}

func (m *Manager) recoverOne(ctx context.Context, r record) error {
	switch r.State {
	case making: // it was not seen by anyone
		m.opts.Logger.Info("a workspace that was being made is undone", "workspace", r.ID)
		if r.NewBranch {
			if err := cleanBranch(r); err != nil {
				return err
			}
		}
		return m.undo(ctx, r)
	case settingUp:
		r.State, r.Output = ready, r.Output+"[the server ended while the setup command ran]\n"
		return m.save(r)
	case removing:
		if _, err := os.Lstat(r.Path); err == nil {
			r.State, r.KeepBranch, r.Tip = ready, false, "" // it was not moved yet
			return m.save(r)
		}
		return m.finishRemove(ctx, r)
	}
	if r.Commit {
		// The git that made the commit has ended, or this manager would not have the lock.
		admin := m.adminDir(r)
		if err := errors.Join(cleanBranch(r), removeFiles(filepath.Join(admin, "index.lock"), filepath.Join(admin, "HEAD.lock"))); err != nil {
			return err
		}
		r.Commit = false
		return m.save(r)
	}
	return nil
}

// adminDir is where git keeps what it knows of a worktree. Its name is that of the
// directory, which is unique.
func (m *Manager) adminDir(r record) string {
	return filepath.Join(r.CommonDir, "worktrees", r.ID)
}
