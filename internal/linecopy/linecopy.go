// Package linecopy copies files that grow by lines of JSON, such as the transcripts of agents, to a store that several
// machines share, and back.
package linecopy

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sync"

	"github.com/seed7221b0f9/parley/internal/regularfile"
)

// ErrDiverged is returned by Save, and by Fetch with Keep, if the store has other lines than the file.
var ErrDiverged = errors.New("the copy of the file has other lines than the file")

// ErrNoCopy is returned by Fetch if the store has no lines of the file.
var ErrNoCopy = errors.New("the file has no copy")

// Replaced is appended to the name of a file that Fetch has replaced, because the copy has other lines.
const Replaced = ".replaced"

// The limits of a line and of the lines that are passed to Append together, in bytes.
const (
	maxLine  = 64 << 20
	maxBatch = 1 << 20
)

// Store has the copy of one file.
type Store interface {
	// Load returns all lines of the copy.
	Load(ctx context.Context) ([]json.RawMessage, error)
	// Append appends lines. It may omit a line with an ID that the copy has.
	Append(ctx context.Context, lines []json.RawMessage) error
}

// File is a file with a copy. It remembers how much of the file the store has. Its calls must not overlap.
type File struct {
	Path string
	// ID returns the ID of a line, if any. The copy has only the first of several lines with an ID. Nil means that no
	// line has an ID.
	ID func(line json.RawMessage) string
	// Keep makes Fetch fail with ErrDiverged where it would replace a file with other lines.
	Keep bool
	// Replacing is held while Fetch compares and replaces the file, which is necessary if another File has the same path.
	// Nil means that none has.
	Replacing sync.Locker

	saved int64 // the size of what the store has
	known bool  // saved is valid
}

// Save appends the lines that the copy lacks. It omits an incomplete last line and lines that are not JSON. A file
// that is missing or has fewer lines than its copy has no line to save.
func (f *File) Save(ctx context.Context, s Store) error {
	file, size, err := open(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	if !f.known || size < f.saved {
		if err := f.find(ctx, file, s); err != nil || !f.known {
			return err
		}
	}
	return f.append(ctx, file, s)
}

// find compares the file with its copy, and sets saved unless the copy has more lines.
func (f *File) find(ctx context.Context, file *os.File, s Store) error {
	f.known = false
	stored, err := s.Load(ctx)
	if err != nil {
		return err
	}
	end, ahead, err := f.compare(file, stored)
	if err == nil && !ahead {
		f.saved, f.known = end, true
	}
	return err
}

// append appends the lines after those that the store has.
func (f *File) append(ctx context.Context, file *os.File, s Store) error {
	var batch []json.RawMessage
	size, end := 0, f.saved
	flush := func() error {
		if len(batch) > 0 {
			if err := s.Append(ctx, batch); err != nil {
				f.known = false // the store may have them
				return err
			}
		}
		batch, size, f.saved = nil, 0, end
		return nil
	}
	for l, err := range lines(file, f.saved) {
		if err != nil {
			return err
		}
		if l.json != nil {
			batch = append(batch, bytes.Clone(l.json))
			size += len(l.json)
		}
		if end = l.end; size >= maxBatch {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// Fetch writes the file from its copy, unless the file has all lines of the copy. Unless Keep is set, it keeps a file
// with other lines under a name that ends with [Replaced]. It reports whether it has written the file.
func (f *File) Fetch(ctx context.Context, s Store) (written bool, err error) {
	f.known = false
	stored, err := s.Load(ctx)
	if err != nil {
		return false, err
	}
	if len(stored) == 0 {
		return false, ErrNoCopy
	}
	if f.Replacing != nil {
		f.Replacing.Lock()
		defer f.Replacing.Unlock()
	}
	return f.replace(stored)
}

// replace writes the file from its copy if it lacks lines or has others.
func (f *File) replace(stored []json.RawMessage) (written bool, err error) {
	file, _, err := open(f.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return false, err
	default:
		end, ahead, err := f.compare(file, stored)
		if err := errors.Join(ignore(err, ErrDiverged), file.Close()); err != nil {
			return false, err
		}
		if err != nil {
			if f.Keep {
				return false, err
			}
			if err := os.Rename(f.Path, f.Path+Replaced); err != nil {
				return false, err
			}
		} else if !ahead {
			f.saved, f.known = end, true
			return false, nil
		}
	}
	return true, f.write(stored)
}

func ignore(err, target error) error {
	if errors.Is(err, target) {
		return nil
	}
	return err
}

// write replaces the file by the lines of the copy.
func (f *File) write(stored []json.RawMessage) error {
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
		return err
	}
	var b bytes.Buffer
	for _, line := range stored {
		if err := json.Compact(&b, line); err != nil {
			return fmt.Errorf("a line of the copy: %w", err)
		}
		b.WriteByte('\n')
	}
	tmp, err := os.CreateTemp(filepath.Dir(f.Path), ".fetched-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = tmp.Write(b.Bytes())
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), f.Path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	f.saved, f.known = int64(b.Len()), true
	return nil
}

// compare returns the end of the last stored line in a file. ahead reports that the store has lines that the file does
// not have yet. The error is ErrDiverged if a line differs.
func (f *File) compare(file *os.File, stored []json.RawMessage) (end int64, ahead bool, err error) {
	seen := map[string]bool{}
	at := 0
	for l, err := range lines(file, 0) {
		if err != nil {
			return 0, false, err
		}
		if l.json != nil && !f.repeats(seen, l.json) {
			if at == len(stored) {
				return end, false, nil
			}
			if !equal(l.json, stored[at]) {
				return 0, false, fmt.Errorf("%w: line %d of %s", ErrDiverged, at+1, filepath.Base(f.Path))
			}
			at++
		}
		end = l.end
	}
	return end, at < len(stored), nil
}

// repeats reports whether a line has the ID of an earlier one.
func (f *File) repeats(seen map[string]bool, line json.RawMessage) bool {
	if f.ID == nil {
		return false
	}
	id := f.ID(line)
	if id == "" {
		return false
	}
	repeated := seen[id]
	seen[id] = true
	return repeated
}

func equal(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	return bytes.Equal(a, b) || json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

func open(path string) (*os.File, int64, error) {
	file, err := regularfile.Open(path)
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, info.Size(), nil
}

// line is a line of a file: its JSON, if any, valid until the next line, and the offset after it.
type line struct {
	json json.RawMessage
	end  int64
}

// lines yields the complete lines of a file from an offset.
func lines(file *os.File, from int64) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		sc := bufio.NewScanner(io.NewSectionReader(file, from, 1<<62-from))
		sc.Buffer(nil, maxLine)
		end := from
		sc.Split(func(data []byte, atEOF bool) (int, []byte, error) {
			if i := bytes.IndexByte(data, '\n'); i >= 0 {
				end += int64(i) + 1
				return i + 1, data[:i], nil
			}
			return 0, nil, nil
		})
		for sc.Scan() {
			text := json.RawMessage(bytes.TrimSpace(sc.Bytes()))
			if !json.Valid(text) {
				text = nil
			}
			if !yield(line{text, end}, nil) {
				return
			}
		}
		if err := sc.Err(); err != nil {
			yield(line{}, err)
		}
	}
}
