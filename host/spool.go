package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// segmentSize is how large a file grows before the next one begins. Room comes by whole files.
const segmentSize = 1 << 20

const segmentPrefix = "spool-"

// errFull is returned when the files have reached their limit.
var errFull = errors.New("the spool is full")

// spool keeps the frames of an agent's records in files, as they are on the wire. A place in it is counted from the first
// byte that was ever kept. Its owner locks it.
type spool struct {
	dir      string
	limit    int64
	piece    int64     // the size of a file
	segments []segment // the oldest first; the last one is written to
	end      int64
	file     *os.File // the last one, when it is open
	old      *os.File // the one that was read last
	oldBegin int64
}

func newSpool(dir string, limit int64) spool {
	return spool{dir: dir, limit: limit, piece: min(segmentSize, limit/4+1)}
}

// segment is a file of a spool.
type segment struct {
	begin int64
	last  uint64 // the highest number of which it holds a part
	open  bool   // it holds a part of a line that is not complete yet
}

func (s *spool) path(begin int64) string {
	return filepath.Join(s.dir, fmt.Sprintf("%s%020d", segmentPrefix, begin))
}

// begin is the first place that is kept.
func (s *spool) begin() int64 {
	if len(s.segments) == 0 {
		return s.end
	}
	return s.segments[0].begin
}

func (s *spool) size() int64 { return s.end - s.begin() }

// append keeps frames. last is the number of the last record in them, or before; open tells whether they end in a line
// that is not complete. If it fails nothing of them is kept. force ignores the limit.
func (s *spool) append(frames []byte, last uint64, open, force bool) error {
	if !force && s.size() >= s.limit {
		return errFull
	}
	if err := s.ready(); err != nil {
		return err
	}
	at := s.end - s.segments[len(s.segments)-1].begin
	if _, err := s.file.WriteAt(frames, at); err != nil {
		return errors.Join(err, s.file.Truncate(at))
	}
	s.end += int64(len(frames))
	if !open { // the line that earlier files have parts of is complete
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

// ready makes the last segment one that can be written to.
func (s *spool) ready() error {
	if s.file != nil && s.end-s.segments[len(s.segments)-1].begin < s.piece {
		return nil
	}
	f, err := os.OpenFile(s.path(s.end), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
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

// read reads frames from a place on, as many whole ones as b has room for, at least one if b has room for the largest.
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

func (s *spool) open(i int) (*os.File, error) {
	begin := s.segments[i].begin
	if i == len(s.segments)-1 && s.file != nil {
		return s.file, nil
	}
	if s.old != nil && s.oldBegin == begin {
		return s.old, nil
	}
	s.closeOld()
	f, err := os.Open(s.path(begin))
	if err == nil {
		s.old, s.oldBegin = f, begin
	}
	return f, err
}

func (s *spool) closeOld() {
	if s.old != nil {
		s.old.Close()
		s.old = nil
	}
}

// trim removes the files that hold nothing after the number covered.
func (s *spool) trim(covered uint64) {
	for len(s.segments) > 0 {
		first := s.segments[0]
		if first.open || first.last > covered {
			return
		}
		if len(s.segments) == 1 {
			if s.end-first.begin < s.piece/16 { // small enough to go on
				return
			}
			if s.file != nil {
				s.file.Close()
				s.file = nil
			}
		}
		if s.old != nil && s.oldBegin == first.begin {
			s.closeOld()
		}
		os.Remove(s.path(first.begin)) // one that stays is found by the next server, covered
		s.segments = s.segments[1:]
	}
}

// close closes the files and keeps them.
func (s *spool) close() {
	s.closeOld()
	if s.file != nil {
		s.file.Close()
		s.file = nil
	}
}

// wholeFrames returns the length of the frames at the beginning of b that are whole.
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
	for _, e := range entries { // sorted by name, and so by place
		if strings.HasPrefix(e.Name(), segmentPrefix) {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files, nil
}
