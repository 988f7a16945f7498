package host

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// segmentSize is the size at which a new file begins. Space is freed by whole files.
const segmentSize = 1 << 20

const segmentPrefix = "spool-"

// errFull is returned when the files have reached their limit.
var errFull = errors.New("the spool is full")

// spool stores the frames of an agent's records in files, in their wire form. A position counts from the first byte ever
// stored. The caller must lock it.
type spool struct {
	disk     disk
	dir      string
	limit    int64
	piece    int64     // size of a file
	segments []segment // the oldest first; the last one is written to
	end      int64
	file     diskFile // the last file, if it is open
	torn     bool     // the last file has bytes after end
	old      *os.File // the file that was read last
	oldBegin int64
}

func newSpool(d disk, dir string, limit int64) spool {
	return spool{disk: d, dir: dir, limit: limit, piece: min(segmentSize, limit/4+1)}
}

// segment is a file of a spool.
type segment struct {
	begin int64
	last  uint64 // the highest number of a record in it
	open  bool   // it contains a part of an incomplete line
}

func (s *spool) path(begin int64) string {
	return filepath.Join(s.dir, fmt.Sprintf("%s%020d", segmentPrefix, begin))
}

// begin returns the first position that is kept.
func (s *spool) begin() int64 {
	if len(s.segments) == 0 {
		return s.end
	}
	return s.segments[0].begin
}

func (s *spool) size() int64 { return s.end - s.begin() }

// append stores frames. last is the number of the last record in or before them; open reports whether they end in an
// incomplete line. If it returns an error, no line is stored. force ignores the limit.
func (s *spool) append(frames []byte, last uint64, open, force bool) error {
	if !force && s.size() >= s.limit {
		return errFull
	}
	if err := s.ready(); err != nil {
		return err
	}
	at := s.end - s.segments[len(s.segments)-1].begin
	if s.torn { // shorter frames would leave old bytes after them, which a reader of the file would take for frames
		if err := s.file.Truncate(at); err != nil {
			return err
		}
		s.torn = false
	}
	if _, err := s.file.WriteAt(frames, at); err != nil {
		s.torn = s.file.Truncate(at) != nil
		return err
	}
	s.end += int64(len(frames))
	if !open { // the line with parts in earlier files is complete
		for i := range s.segments {
			if s.segments[i].open {
				s.segments[i].open, s.segments[i].last = false, last
			}
		}
	}
	now := &s.segments[len(s.segments)-1]
	now.last, now.open = last, open
	return nil
}

// ready makes the last segment writable.
func (s *spool) ready() error {
	if s.file != nil && s.end-s.segments[len(s.segments)-1].begin < s.piece {
		return nil
	}
	f, err := s.disk.create(s.path(s.end))
	if err != nil {
		return err
	}
	if s.file != nil {
		s.file.Close()
	}
	s.file = f
	s.segments = append(s.segments, segment{begin: s.end})
	return nil
}

// read reads complete frames from a position, as many as fit into b, and at least one if b has room for the largest.
func (s *spool) read(at int64, b []byte) (int, error) {
	i, ok := slices.BinarySearchFunc(s.segments, at, func(seg segment, at int64) int { return int(min(max(seg.begin-at, -1), 1)) })
	if !ok {
		i--
	}
	if i < 0 || at >= s.end {
		return 0, fmt.Errorf("place %d is not in the spool of %d to %d", at, s.begin(), s.end)
	}
	end := s.end
	if i+1 < len(s.segments) {
		end = s.segments[i+1].begin
	}
	f, err := s.open(i)
	if err != nil {
		return 0, err
	}
	b = b[:min(int64(len(b)), end-at)]
	if n, err := f.ReadAt(b, at-s.segments[i].begin); n < len(b) {
		return 0, err
	}
	return wholeFrames(b), nil
}

func (s *spool) open(i int) (io.ReaderAt, error) {
	begin := s.segments[i].begin
	if i == len(s.segments)-1 && s.file != nil {
		return s.file, nil
	}
	if s.old != nil && s.oldBegin == begin {
		return s.old, nil
	}
	s.closeOld()
	f, err := os.Open(s.path(begin))
	if err != nil {
		return nil, err
	}
	s.old, s.oldBegin = f, begin
	return f, nil
}

func (s *spool) closeOld() {
	if s.old != nil {
		s.old.Close()
		s.old = nil
	}
}

// trim removes the files without records after the number covered.
func (s *spool) trim(covered uint64) {
	for len(s.segments) > 0 {
		first := s.segments[0]
		if first.open || first.last > covered {
			return
		}
		if len(s.segments) == 1 {
			if s.end-first.begin < s.piece/16 { // too small to free
				return
			}
			if s.file != nil {
				s.file.Close()
				s.file, s.torn = nil, false
			}
		}
		if s.old != nil && s.oldBegin == first.begin {
			s.closeOld()
		}
		os.Remove(s.path(first.begin)) // the next server discards a remaining file, because a checkpoint covers it
		s.segments = s.segments[1:]
	}
}

// close closes the files without removing them.
func (s *spool) close() {
	s.closeOld()
	if s.file != nil {
		s.file.Close()
		s.file = nil
	}
}

// wholeFrames returns the length of the complete frames at the start of b.
func wholeFrames(b []byte) int {
	n := 0
	for {
		size, ok := frameSize(b[n:])
		if !ok {
			return n
		}
		n += size
	}
}

// segmentFiles lists the files of a spool, the oldest first.
func segmentFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries { // sorted by name, and so by position
		if strings.HasPrefix(e.Name(), segmentPrefix) {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files, nil
}
