package session

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"

	"github.com/seed7221b0f9/parley/internal/regularfile"
)

// shown is the file of deltas that viewers may have seen and that no event in the log includes yet.
// A delta is passed to the operating system before viewers get it, so that it survives a kill of
// the server. The file is not synced: a power failure may cut it. It belongs to the loop.
type shown struct {
	path   string
	file   *os.File // nil before the first delta
	buf    []byte   // not yet in the file
	size   int      // of the file
	failed bool     // whether the last write failed

	found []shownDelta // read, but not yet replayed
	any   bool         // read has found deltas
}

// shownDelta is a delta with the event of the log that it follows.
type shownDelta struct {
	seq   uint64
	owner uint64 // the epoch of the owner in the log when it was written; 0 without a cluster
	data  []byte
}

// maxShown is the size limit of a file in bytes.
const maxShown = 1 << 30

// add adds a delta in the form that flush writes.
func (f *shown) add(seq, owner uint64, data []byte) {
	f.buf = append(strconv.AppendUint(f.buf, seq, 10), ' ')
	f.buf = strconv.AppendInt(f.buf, int64(len(data)), 10)
	if owner > 0 {
		f.buf = strconv.AppendUint(append(f.buf, ' '), owner, 10)
	}
	f.buf = append(f.buf, '\n')
	f.buf = append(append(f.buf, data...), '\n')
}

// flush writes the deltas to the operating system. In a series of errors it returns only the first.
func (f *shown) flush() error {
	if len(f.buf) == 0 {
		return nil
	}
	err := f.write()
	f.buf = f.buf[:0]
	first := err != nil && !f.failed
	if f.failed = err != nil; first {
		return err
	}
	return nil
}

func (f *shown) write() (err error) {
	if f.file == nil {
		if f.file, err = os.OpenFile(f.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600); err != nil {
			f.file = nil
			return err
		}
	}
	if _, err := f.file.Write(f.buf); err != nil {
		_ = f.file.Truncate(int64(f.size)) // a partial delta would hide later ones
		return err
	}
	f.size += len(f.buf)
	return nil
}

// clear drops the deltas, because the log includes them.
func (f *shown) clear() error {
	f.buf = f.buf[:0]
	if f.size == 0 {
		return nil
	}
	f.size = 0
	if f.file != nil {
		return f.file.Truncate(0)
	}
	return os.Truncate(f.path, 0)
}

// close removes an empty file, and keeps another for the next load.
func (f *shown) close() {
	if f.file == nil {
		return
	}
	_ = f.file.Close() // no buffered data
	f.file = nil
	if f.size == 0 {
		_ = os.Remove(f.path) // an empty file is ignored
	}
}

// read reads the deltas of the file. It drops incomplete ones at the end after a power failure.
func (f *shown) read() error {
	data, err := regularfile.Read(f.path, maxShown)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	f.size = len(data)
	for len(data) > 0 {
		head, rest, ok := bytes.Cut(data, []byte("\n"))
		var d shownDelta
		var n int
		read, _ := fmt.Sscanf(string(head), "%d %d %d", &d.seq, &n, &d.owner)
		if !ok || read < 2 || n < 0 || n >= len(rest) || rest[n] != '\n' {
			break
		}
		d.data, data = rest[:n], rest[n+1:]
		f.found, f.any = append(f.found, d), true
	}
	return err
}

// owned drops the deltas from before this epoch became the owner in the log, because another server
// has since continued the log from its own deltas.
func (f *shown) owned(epoch uint64) {
	f.found = slices.DeleteFunc(f.found, func(d shownDelta) bool { return d.owner < epoch })
	f.any = len(f.found) > 0
}

// forget removes the file after a load, because the log includes its content.
func (f *shown) forget() {
	f.found = nil
	if f.size > 0 {
		f.size = 0
		_ = os.Remove(f.path) // otherwise the next load adds it again
	}
}
