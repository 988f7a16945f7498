// Package filelock locks files between processes. The system releases a lock when its process
// ends for any reason, so a dead owner never holds a lock. Locks are advisory and belong to an
// open file: two open files of one process also exclude each other.
package filelock

import (
	"errors"
	"io/fs"
	"os"

	"github.com/seed7221b0f9/parley/internal/regularfile"
)

// ErrLocked is returned when another process, or another open file of this process, holds the
// lock.
var ErrLocked = errors.New("filelock: locked")

// File is a locked file. Its owner may read and write it.
type File struct{ *os.File }

// Lock creates the file if it does not exist and waits for its lock.
func Lock(path string) (*File, error) { return acquire(path, true) }

// TryLock creates the file if it does not exist. It fails with [ErrLocked] if the lock is held.
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
		// The last holder may have removed the file before it released the lock.
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

// stolen returns the path of a lock file while the lock is being stolen.
func stolen(path string) string { return path + ".stolen" }

// stolenLives reports whether the owner of a stolen lock still holds it, because the thief gave
// up or was killed before the owner released it.
func stolenLives(path string) bool {
	f, err := regularfile.OpenFile(stolen(path), os.O_RDWR, 0o600)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(lock(f, false), ErrLocked)
}

// Holds reports whether the file is still at its path: a process that stole the lock has put
// another file there.
func (f *File) Holds() bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(f.Name())
	return err == nil && os.SameFile(mine, there)
}

// Unlock releases the lock and keeps the file.
func (f *File) Unlock() error { return f.Close() }

// Remove releases the lock and deletes the file, unless another process has stolen the lock.
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

// Steal takes over a lock: it moves the lock file aside and locks a new one in its place. The old
// owner keeps its lock on the moved file and learns of the steal from Holds. The caller must finish
// the returned old lock, which may be nil, with [Stolen.End] when its owner has released it, else
// with [Stolen.PutBack]. Until then no other process gets the lock, even if this one is killed. The
// error is [ErrLocked] while another steal is in progress.
func Steal(path string) (mine *File, old *Stolen, err error) {
	// The second of two concurrent steals would move the first one's new file over that of the
	// owner.
	turn, err := TryLock(path + ".stealing")
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = turn.Remove() }() // the lock is released even if the file remains
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

// Stolen is a lock that was taken over from its owner.
type Stolen struct {
	path string
	file *os.File
}

// Free reports whether the owner has released its lock.
func (s *Stolen) Free() bool { return lock(s.file, false) == nil }

// End discards the lock of an owner that has released it.
func (s *Stolen) End() error {
	return errors.Join(os.Remove(stolen(s.path)), s.file.Close())
}

// PutBack returns the lock to its owner and removes the new one.
func (s *Stolen) PutBack(mine *File) error {
	err := errors.Join(os.Rename(stolen(s.path), s.path), s.file.Close())
	if mine != nil {
		err = errors.Join(err, mine.Unlock())
	}
	return err
}
