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
	"time"

	"github.com/seed7221b0f9/parley/internal/regularfile"
	"github.com/seed7221b0f9/parley/internal/sealed"
)

// Workspace is a git worktree that [Manager.Create] created for a session. Its directory is in the
// data directory of its manager.
type Workspace struct {
	ID     string `json:"id"`
	Path   string `json:"path"`
	Repo   string `json:"repo"`             // the working tree from which it was created
	Base   string `json:"base"`             // the commit at which it started
	Branch string `json:"branch"`           // the checked out branch
	Target string `json:"target,omitempty"` // the branch at which it started, if any
	Setup  string `json:"setup,omitempty"`
	Owner  string `json:"owner,omitempty"`  // the owner, as passed by the caller
	Output string `json:"output,omitempty"` // the end of the setup command's output
}

// The states of a record.
const (
	making    = "making"   // git may have created a part of it
	settingUp = "setup"    // the setup command runs
	ready     = "ready"    // it can be used
	removing  = "removing" // in the trash, or about to be moved there
)

// record is the manager's data of a worktree. It is on disk before git runs.
type record struct {
	Workspace
	State      string `json:"state"`
	NewBranch  bool   `json:"new_branch,omitempty"`  // the branch was created for it
	CommonDir  string `json:"common_dir"`            // the repository
	KeepBranch bool   `json:"keep_branch,omitempty"` // set while removing
	Tip        string `json:"tip,omitempty"`         // of the branch, set while removing
	Commit     bool   `json:"commit,omitempty"`      // a commit is being made
}

var validID = regexp.MustCompile(`^w-[0-9a-f]{8,40}$`)

func (m *Manager) recordPath(id string) string {
	return filepath.Join(m.opts.Dir, recordsDir, id+".json")
}

// save writes a record atomically.
func (m *Manager) save(r record) error {
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	return writeSynced(m.recordPath(r.ID), sealed.Seal(data))
}

// writeSynced replaces a file of the data directory and syncs it.
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

// maxRecord is the size limit of a record or a journal in bytes.
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
	r, err := parseRecord(id, data)
	if err != nil {
		return record{}, m.putAside(id, err)
	}
	return r, nil
}

// parseRecord reads the content of the record of a worktree.
func parseRecord(id string, data []byte) (r record, err error) {
	if data, err = sealed.Open(data); err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err == nil && r.ID != id {
		err = fmt.Errorf("it is of %q", r.ID)
	}
	return r, err
}

// damagedMark is part of the names of damaged records that were moved aside.
const damagedMark = ".damaged-"

// putAside moves a damaged record aside, so that the others can be used. Its worktree stays, and the workspace is unknown: with a wrong path
// its removal would remove something else.
func (m *Manager) putAside(id string, why error) error {
	path := m.recordPath(id)
	aside := fmt.Sprintf("%s%s%d", path, damagedMark, time.Now().UnixNano())
	if err := os.Rename(path, aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("workspace: the record of %s is damaged (%w) and cannot be put aside: %w", id, why, err)
	}
	m.opts.Logger.Error("the record of a workspace is damaged; it was put aside, and its worktree stays", "workspace", id, "copy", aside, "err", why)
	return fmt.Errorf("%w: workspace %q, whose record was damaged", ErrNotFound, id)
}

// DamagedRecords returns the records in the data directory of a manager that it has moved aside because they were damaged. They can be
// deleted.
func DamagedRecords(dir string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(dir, recordsDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("workspace: %w", err)
	}
	var found []string
	for _, e := range entries {
		if strings.Contains(e.Name(), damagedMark) {
			found = append(found, filepath.Join(recordsDir, e.Name()))
		}
	}
	return found, nil
}

// UnreadableRecords returns the records in the data directory of a manager, which need not run, that are damaged: a manager moves them
// aside when it reads them.
func UnreadableRecords(dir string) ([]string, error) {
	paths, err := filesIn(filepath.Join(dir, recordsDir), "w-", ".json")
	if err != nil {
		return nil, err
	}
	var found []string
	for _, path := range paths {
		data, err := regularfile.Read(path, maxRecord)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("workspace: %w", err)
		}
		if _, err := parseRecord(strings.TrimSuffix(filepath.Base(path), ".json"), data); err != nil {
			found = append(found, filepath.Join(recordsDir, filepath.Base(path)))
		}
	}
	return found, nil
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

// Get returns the workspace with an id. The error matches [ErrNotFound] if it does not exist, or is
// still being created or removed.
func (m *Manager) Get(id string) (Workspace, error) {
	r, err := m.load(id)
	if err == nil && r.State != ready {
		err = fmt.Errorf("%w: workspace %q is %s", ErrNotFound, id, r.State)
	}
	return r.Workspace, err
}

// List returns all workspaces sorted by id, without those that are still being created or removed.
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

// recover finishes or undoes the incomplete changes of a killed process.
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
			// A missing or unmounted repository must not block the others.
			m.opts.Logger.Warn("a workspace was not changed", "workspace", r.ID, "state", r.State, "err", err)
		}
	}
	return nil
}

func (m *Manager) recoverOne(ctx context.Context, r record) error {
	switch r.State {
	case making: // no caller has seen it
		m.opts.Logger.Info("an incomplete workspace was removed", "workspace", r.ID)
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
			return m.keepWorktree(r)
		}
		return m.finishRemove(ctx, r)
	}
	if r.Commit {
		// The git that made the commit has ended, or this manager would not have the lock.
		admin := m.adminDir(r)
		next, err := filesIn(admin, "next-index-", ".lock") // of a commit of some files; the name has the process id
		if err != nil {
			return err
		}
		if err := errors.Join(cleanBranch(r), removeFiles(append(next, filepath.Join(admin, "index.lock"), filepath.Join(admin, "HEAD.lock"))...)); err != nil {
			return err
		}
		r.Commit = false
		return m.save(r)
	}
	return nil
}

// adminDir returns git's metadata directory of a worktree. Its name is that of the worktree's
// directory, which is unique.
func (m *Manager) adminDir(r record) string {
	return filepath.Join(r.CommonDir, "worktrees", r.ID)
}
