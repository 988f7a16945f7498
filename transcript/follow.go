package transcript

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"time"

	"github.com/seed7221b0f9/parley/internal/regularfile"
)

// FollowOptions configures [Session.Follow]. A nil pointer is the zero value, which starts at the
// first line.
type FollowOptions struct {
	// New skips the existing lines.
	New bool
	// From is the offset to start at, such as the end of an entry; it must be the start of a line.
	From int64
	// Interval is the polling interval; 0 is 250 ms.
	Interval time.Duration
}

// defaultInterval is short enough for a person and long enough to cost little CPU time.
const defaultInterval = 250 * time.Millisecond

// ErrTruncated is returned when the file of a followed session became shorter or was replaced.
var ErrTruncated = errors.New("transcript: the file was replaced while it was followed")

// Follow yields the entries of the session and then each appended entry until ctx ends; the error
// of ctx is the last element. It yields a line when it is complete; bad lines are [*LineError]
// values and the iteration continues. It polls the file, which works on every file system.
func (s *Session) Follow(ctx context.Context, opts *FollowOptions) iter.Seq2[Entry, error] {
	if opts == nil {
		opts = &FollowOptions{}
	}
	return func(yield func(Entry, error) bool) {
		f := &follower{path: s.Path, offset: opts.From, interval: opts.Interval}
		if f.interval <= 0 {
			f.interval = defaultInterval
		}
		if err := f.run(ctx, opts.New, yield); err != nil {
			yield(nil, err)
		}
	}
}

// follower reads the lines appended to a file.
type follower struct {
	path     string
	offset   int64 // of the first byte not yet yielded
	number   int   // of the last yielded line, negative if unknown
	interval time.Duration
	first    os.FileInfo
	size     int64 // of the file at the last read
}

// run follows the file; the error is nil only if the caller stopped the iteration.
func (f *follower) run(ctx context.Context, onlyNew bool, yield func(Entry, error) bool) error {
	file, err := regularfile.Open(f.path)
	if err != nil {
		return fmt.Errorf("transcript: %w", err)
	}
	defer file.Close()
	if f.first, err = file.Stat(); err != nil {
		return fmt.Errorf("transcript: %w", err)
	}
	if onlyNew {
		if f.offset, err = lastLineStart(file, f.first.Size()); err != nil {
			return err
		}
	}
	if f.offset > 0 {
		f.number = -1
	}
	tick := time.NewTicker(f.interval)
	defer tick.Stop()
	for {
		// An incomplete line is read again when the file has grown.
		if now, err := file.Stat(); err != nil || now.Size() != f.size {
			if err == nil {
				f.size = now.Size()
			}
			if goOn, err := f.readOn(ctx, file, yield); !goOn || err != nil {
				return err
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		now, err := os.Stat(f.path)
		if err != nil {
			return fmt.Errorf("transcript: %w", err)
		}
		if !os.SameFile(f.first, now) || now.Size() < f.offset {
			return ErrTruncated
		}
	}
}

// readOn yields the complete lines after the offset; it returns false if the caller stopped the iteration.
func (f *follower) readOn(ctx context.Context, file *os.File, yield func(Entry, error) bool) (bool, error) {
	r := newLineReader(contextReader{ctx, io.NewSectionReader(file, f.offset, 1<<62)}, f.offset)
	r.number = f.number
	for {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		l, err := r.next()
		if errors.Is(err, io.EOF) || err == nil && l.torn {
			return true, nil // the rest of the line follows later
		}
		if err != nil {
			return false, fmt.Errorf("transcript: %w", err)
		}
		f.offset, f.number = r.offset, r.number
		e, err := parseEntry(string(l.text), l.pos)
		if err != nil {
			e, err = nil, lineError(f.path, l, err)
		}
		if !yield(e, err) {
			return false, nil
		}
	}
}

// lastLineStart returns the offset of the incomplete last line, or the size of the file if the last
// line is complete.
func lastLineStart(file *os.File, size int64) (int64, error) {
	buf := make([]byte, endSize)
	for end := size; end > 0; {
		start := max(0, end-endSize)
		n, err := file.ReadAt(buf[:end-start], start)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, fmt.Errorf("transcript: %w", err)
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			return start + int64(i) + 1, nil
		}
		end = start
	}
	return 0, nil
}
