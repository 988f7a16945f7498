package lineedit

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed7221b0f9/parley/internal/regularfile"
)

const (
	maxEntries = 1000
	maxEntry   = 16 << 10 // bytes; a longer one is not kept
)

// History holds the lines that were typed before. It is stored in a file that only its
// owner can read, one JSON string per line.
type History struct {
	path    string
	entries []string
	at      int    // the shown entry; len(entries) is the line being typed
	draft   string // that line
}

// OpenHistory reads the history in a file; "" means no file. It returns a usable history
// even with an error.
func OpenHistory(path string) (*History, error) {
	h := &History{path: path}
	if path == "" {
		return h, nil
	}
	f, err := regularfile.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	if err != nil {
		return h, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16*maxEntry)
	read := 0
	for lines.Scan() {
		var entry string
		if json.Unmarshal(lines.Bytes(), &entry) == nil && entry != "" {
			h.entries = append(h.entries, entry)
		}
		read++
	}
	h.entries = h.entries[max(len(h.entries)-maxEntries, 0):]
	h.at = len(h.entries)
	if read > 2*maxEntries {
		return h, h.rewrite()
	}
	return h, lines.Err()
}

// Add adds a line to the history, unless it begins with a space or equals the last one.
func (h *History) Add(line string) error {
	h.at, h.draft = len(h.entries), ""
	if line == "" || strings.HasPrefix(line, " ") || len(line) > maxEntry || h.at > 0 && h.entries[h.at-1] == line {
		return nil
	}
	h.entries = append(h.entries, line)
	h.entries = h.entries[max(len(h.entries)-maxEntries, 0):]
	h.at = len(h.entries)
	if h.path == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(h.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY|regularfile.NonBlocking, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(encodeEntry(line))
	return errors.Join(err, f.Close())
}

func encodeEntry(line string) []byte {
	text, _ := json.Marshal(line) // a string always encodes
	return append(text, '\n')
}

// rewrite removes old entries from the file.
func (h *History) rewrite() error {
	f, err := os.CreateTemp(filepath.Dir(h.path), ".history-*") // 0600
	if err != nil {
		return err
	}
	for _, entry := range h.entries {
		if _, err = f.Write(encodeEntry(entry)); err != nil {
			break
		}
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), h.path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// Move moves to an older (-1) or newer (1) entry. current is the shown line; ok reports
// whether there is another.
func (h *History) Move(by int, current string) (line string, ok bool) {
	to := h.at + by
	if to < 0 || to > len(h.entries) {
		return current, false
	}
	if h.at == len(h.entries) {
		h.draft = current
	}
	h.at = to
	if to == len(h.entries) {
		return h.draft, true
	}
	return h.entries[to], true
}
