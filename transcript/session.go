package transcript

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"strings"

	"github.com/seed7221b0f9/parley/internal/regularfile"
)

// Session is a session on disk. It holds no open file; each method reads the file again and
// includes lines appended since. It may be used from any goroutine.
type Session struct {
	ID         string
	Path       string // of the main transcript
	ProjectKey string // the name of the directory that holds it; see claude.ProjectKey

	dir      *Dir
	modified int64
}

// File returns the session in a file that need not be in a configuration directory. Its id is the
// file's name without .jsonl; its subagents are in a directory of that name next to the file, as
// the CLI writes them.
func File(path string) *Session {
	return Open(filepath.Dir(filepath.Dir(filepath.Dir(path)))).sessionAt(path)
}

// sideDir returns the directory with the session's other files: subagents, sidecars, output.
func (s *Session) sideDir() string { return strings.TrimSuffix(s.Path, ".jsonl") }

// Entries yields the lines of the session in the order of the file. A bad line is yielded as a
// [*LineError] and the iteration continues; any other error is the last element. Only the current
// line is in memory.
func (s *Session) Entries(ctx context.Context) iter.Seq2[Entry, error] {
	return fileEntries(ctx, s.Path)
}

func fileEntries(ctx context.Context, path string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		f, err := regularfile.Open(path)
		if err != nil {
			yield(nil, fmt.Errorf("transcript: %w", err))
			return
		}
		defer f.Close()
		readEntries(ctx, path, newLineReader(contextReader{ctx, f}, 0), yield)
	}
}

// readEntries yields the entries of r to its end; it returns false if the caller stopped the iteration.
func readEntries(ctx context.Context, path string, r *lineReader, yield func(Entry, error) bool) bool {
	for {
		if err := ctx.Err(); err != nil {
			yield(nil, err)
			return false
		}
		l, err := r.next()
		if errors.Is(err, io.EOF) {
			return true
		}
		if err != nil {
			yield(nil, fmt.Errorf("transcript: %w", err))
			return false
		}
		e, err := parseEntry(string(l.text), l.pos)
		if err != nil {
			e, err = nil, lineError(path, l, err)
		}
		if !yield(e, err) {
			return false
		}
	}
}

// goodEntries reads the entries of a file and skips bad lines.
func goodEntries(w *work, path string) ([]Entry, error) {
	var entries []Entry
	var bad *LineError
	for e, err := range fileEntries(w.ctx, path) {
		if w.over() {
			return nil, w.err
		}
		switch {
		case err == nil:
			entries = append(entries, e)
		case !errors.As(err, &bad):
			return nil, err
		}
	}
	return entries, nil
}
