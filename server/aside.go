package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed7221b0f9/parley/internal/regularfile"
	"github.com/seed7221b0f9/parley/internal/sealed"
	"github.com/seed7221b0f9/parley/server/webpush"
	"github.com/seed7221b0f9/parley/workspace"
)

// damagedMark is part of the names of damaged files that were moved aside.
const damagedMark = ".damaged-"

// DamagedFiles returns the files in the directory of a server ([Options].Dir) that it has moved aside because they were damaged. They can
// be deleted.
func DamagedFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	var found []string
	for _, e := range entries {
		if ok, _ := filepath.Match("*"+damagedMark+"*", e.Name()); ok {
			found = append(found, e.Name())
		}
	}
	records, err := workspace.DamagedRecords(filepath.Join(dir, workspacesDir))
	for _, name := range records {
		found = append(found, filepath.Join(workspacesDir, name))
	}
	return found, err
}

// UnreadableFiles returns the files in the directory of a server ([Options].Dir), which need not run, whose content was damaged, except
// the file of the tokens: see [ReadTokens]. The next start moves them aside; a session starts without its damaged secrets.
func UnreadableFiles(dir string) ([]string, error) {
	names := []string{webhooksName, pushKeyName, marksName}
	entries, err := os.ReadDir(filepath.Join(dir, secretDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("server: %w", err)
	}
	for _, e := range entries {
		names = append(names, filepath.Join(secretDir, e.Name()))
	}
	var found []string
	for _, name := range names {
		data, err := regularfile.Read(filepath.Join(dir, name), maxState)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("server: %w", err)
		}
		if !readable(name, data) {
			found = append(found, name)
		}
	}
	records, err := workspace.UnreadableRecords(filepath.Join(dir, workspacesDir))
	for _, name := range records {
		found = append(found, filepath.Join(workspacesDir, name))
	}
	return found, err
}

// readable reports whether the server can read the content of a file of its state.
func readable(name string, data []byte) bool {
	content, err := sealed.Open(data)
	switch {
	case err != nil:
		return false
	case name == marksName:
		return len(content) == marksSize
	case name == pushKeyName:
		_, err = webpush.ParseKey(strings.TrimSpace(string(content)))
		return err == nil
	}
	return json.Valid(content)
}

// readState reads a file of the server's state with read. A damaged file is moved aside, and the server starts without it. An unreadable
// file is an error.
func (s *Server) readState(name string, read func(data []byte) error) error {
	path := filepath.Join(s.opts.Dir, name)
	data, err := regularfile.Read(path, maxState)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("server: %w", err)
	}
	content, err := sealed.Open(data)
	if err == nil {
		err = read(content)
	}
	if err == nil {
		return nil
	}
	aside := fmt.Sprintf("%s%s%d", path, damagedMark, s.opts.now().UnixNano())
	if moved := os.Rename(path, aside); moved != nil {
		return fmt.Errorf("server: %s is damaged (%w) and cannot be put aside: %w", path, err, moved)
	}
	s.logger.Error("a file of the server is damaged; it was put aside, and the server begins without it", "file", path, "copy", aside, "err", err)
	return nil
}

// saveState replaces a file of the server's state with sealed data, which [Server.readState] reads.
func saveState(path string, data []byte) error { return replaceFile(path, sealed.Seal(data)) }
