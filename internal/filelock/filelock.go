// Package filelock locks files between processes. The system gives a lock back
// when its process ends, however it ends, so that there is no lock of a dead
// owner. Locks are advisory, and belong to an open file: two of one process
// exclude each other as well.
package filelock

import (
	"errors"
	"io/fs"
	"os"

	"github.com/seed7221b0f9/parley/internal/regularfile"
)

// ErrLocked is returned when another process, or another open file of this one, has the lock.
var ErrLocked = errors.New("filelock: locked")

// File is a locked file. It may be read and written by its owner.
type File struct{ *os.File }

// Lock makes the file where it is missing and waits for its lock.
func Lock(path string) (*File, error) { return acquire(path, true) }

// TryLock makes the file where it is missing, and fails with [ErrLocked] where its lock is
// taken.
func TryLock(path string) (*File, error) { return acquire(path, false) }

func acquire(path string, wait bool) (*File, error) {
	for {
		f, err := regularfile.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		if err := lock(f, wait); err != nil {
			f.Close()
			return nil, err
		}
		// The last holder may have removed the file before giving the lock back.
		if l := (&File{f}); l.Holds() {
			if !wait && stolenLives(path) {
				f.Close()
				return nil, ErrLocked
			}
			return l, nil
		}
		f.Close()
	}
}

// stolen is where the file of a lock is while it is taken away from its owner.
func stolen(path string) string { return path + ".stolen" }

// stolenLives reports whether the owner of a lock that was taken away still has it: who
// took it has given up, or was killed, before the owner did.
func stolenLives(path string) bool {
	f, err := regularfile.OpenFile(stolen(path), os.O_RDWR, 0o600)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(lock(f, false), ErrLocked)
}

// Holds reports whether the file is still at its path: a process that took the lock away has
// put another one there.
func (f *File) Holds() bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(f.Name())
	return err == nil && os.SameFile(mine, there)
}

// Unlock gives the lock back and leaves the file.
func (f *File) Unlock() error { return f.Close() }

// Remove gives the lock back and removes the file, unless it is another's by
// now.
func (f *File) Remove() error {
	if !f.Holds() {
		return f.Close()
	}
	err := os.Remove(f.Name())
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, f.Close())
}

// Steal takes a lock away: its file is moved aside, and a new one locked in its
// place. The old owner keeps its lock on the file that was moved, which Holds tells
// it. The returned old one, nil if there was none, must be ended: with [Stolen.End]
// when its owner has given up its lock, else with [Stolen.PutBack]. Until then no other process
// gets the lock, even if this one is killed meanwhile. The error is [ErrLocked] while another
// steal is under way.
func Steal(path string) (mine *File, old *Stolen, err error) {
	// Of two at once, the second would move the first one's new file over that of the owner.
	turn, err := TryLock(path + ".stealing")
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = turn.Remove() }() // the lock is given back even if the file stays
	if stolenLives(path) {
		return nil, nil, ErrLocked
	}
	if err := os.Rename(path, stolen(path)); err == nil {
		f, err := regularfile.OpenFile(stolen(path), os.O_RDWR, 0o600)
		if err != nil {
			return nil, nil, err
		}
		old = &Stolen{path: path, file: f}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	f, err := regularfile.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		if err = lock(f, false); err == nil {
			return &File{f}, old, nil
		}
		f.Close()
	}
	if old != nil {
		err = errors.Join(err, old.PutBack(nil))
	}
	return nil, nil, err
}

// Stolen is a lock that was taken away from its owner.
type Stolen struct {
	path string
	file *os.File
}

// Free reports whether the owner has given up its lock.
func (s *Stolen) Free() bool { return lock(s.file, false) == nil }

// End forgets the lock of an owner that has given it up.
func (s *Stolen) End() error {
	return errors.Join(os.Remove(stolen(s.path)), s.file.Close())
}

// PutBack gives the lock back to its owner, in place of the one that was taken.
func (s *Stolen) PutBack(mine *File) error {
	err := errors.Join(os.Rename(stolen(s.path), s.path), s.file.Close())
	if mine != nil {
		err = errors.Join(err, mine.Unlock())
	}
	return err
}
