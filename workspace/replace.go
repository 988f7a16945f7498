package workspace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/internal/regularfile"
)

// replacement is the new content of a file of a tree.
type replacement struct {
	path string
	mode string // git's mode; empty deletes the file
	data []byte // or the target of a link
}

// journal names a temporary file in a user's directory that a killed process may leave there.
type journal struct {
	Dir string `json:"dir"`
	Tmp string `json:"tmp"`
}

// replace replaces a file with one rename, so that a reader sees the old one or the new one. An
// existing file or link is replaced and never written through. guard is called right before.
func (t *Tree) replace(r replacement, guard func() error) error {
	if err := checkPath(r.path); err != nil {
		return err
	}
	root, err := os.OpenRoot(t.dir)
	if err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	defer root.Close()
	if err := noLinks(root, r.path); err != nil {
		return err
	}
	old, err := root.Lstat(filepath.FromSlash(r.path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		old = nil
	case err != nil:
		return fmt.Errorf("workspace: %w", err)
	case !old.Mode().IsRegular() && old.Mode()&fs.ModeSymlink == 0:
		return fmt.Errorf("%w: %s is neither a file nor a link", ErrUnsafe, r.path)
	}
	if r.mode == "" {
		if err := guard(); err != nil || old == nil {
			return err
		}
		if err := root.Remove(filepath.FromSlash(r.path)); err != nil {
			return fmt.Errorf("workspace: %w", err)
		}
		return nil
	}
	return t.rename(root, r, old, guard)
}

// rename writes the new file to a temporary name and renames it. A journal records the name until
// then.
func (t *Tree) rename(root *os.Root, r replacement, old fs.FileInfo, guard func() error) (err error) {
	name := filepath.FromSlash(r.path)
	if err := root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	id := random.Hex(8)
	tmp := filepath.FromSlash(path.Join(path.Dir(r.path), ".parley-"+id+".tmp"))
	note := filepath.Join(t.m.opts.Dir, recordsDir, "f-"+id+".json")
	data, err := json.Marshal(journal{Dir: t.dir, Tmp: tmp})
	if err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	if err := writeSynced(note, data); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = root.Remove(tmp) // it may have been renamed, or not created
		}
		err = errors.Join(err, os.Remove(note))
	}()
	step("file noted")
	if err := writeNew(root, tmp, r, old); err != nil {
		return err
	}
	step("file written")
	if err := guard(); err != nil {
		return err
	}
	if err := root.Rename(tmp, name); err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	step("file replaced")
	return nil
}

// writeNew writes the replacement of a file under a temporary name. It keeps the permissions of the old file, except the execute
// permission.
func writeNew(root *os.Root, tmp string, r replacement, old fs.FileInfo) error {
	if r.mode == modeLink {
		if err := root.Symlink(string(r.data), tmp); err != nil {
			return fmt.Errorf("workspace: %w", err)
		}
		return nil
	}
	perm := fs.FileMode(0o666)
	if r.mode == modeExec {
		perm = 0o777
	}
	f, err := root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	_, err = f.Write(r.data)
	if err == nil && old != nil && old.Mode().IsRegular() {
		perm = old.Mode().Perm() &^ 0o111
		if r.mode == modeExec {
			perm |= perm & 0o444 >> 2
		}
		err = f.Chmod(perm)
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	return nil
}

// recoverFiles removes temporary files of a killed process.
func (m *Manager) recoverFiles() error {
	notes, err := filesIn(filepath.Join(m.opts.Dir, recordsDir), "f-", ".json")
	if err != nil {
		return err
	}
	for _, note := range notes {
		data, err := regularfile.Read(note, maxRecord)
		if err != nil {
			return fmt.Errorf("workspace: %w", err)
		}
		var j journal
		base := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(note), "f-"), ".json")
		if json.Unmarshal(data, &j) == nil && filepath.Base(j.Tmp) == ".parley-"+base+".tmp" {
			if root, err := os.OpenRoot(j.Dir); err == nil { // otherwise the directory does not exist
				_ = root.Remove(j.Tmp) // it may not have been created
				_ = root.Close()
			}
		}
		if err := os.Remove(note); err != nil {
			return fmt.Errorf("workspace: %w", err)
		}
	}
	return nil
}
