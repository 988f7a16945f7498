// Package filelock locks files between processes. The system gives a lock back
// when its process ends, however it ends, so that there is no lock of a dead
// owner. Locks are advisory, and belong to an open file: two of one process
// exclude each other as well.
package filelock

import (
	"errors"
	"io/fs"
	"os"
)

// ErrLocked: somebody else has the lock.
var ErrLocked = errors.New("filelock: locked")

// File is a locked file. It may be read and written by its owner.
type File struct{ *os.File }

// Lock makes the file where it is missing and waits for its lock.
func Lock(path string) (*File, error) { return acquire(path, true) }

// TryLock makes the file where it is missing, and fails with [ErrLocked] where
// somebody else has its lock.
func TryLock(path string) (*File, error) { return acquire(path, false) }

func acquire(path string, wait bool) (*File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		if err := lock(f, wait); err != nil {
			f.Close()
			return nil, err
		}
		// Whoever had the lock may have removed the file before giving it back.
		if l := (&File{f}); l.Holds() {
			return l, nil
		}
		f.Close()
	}
}

// Holds reports whether the file is still at its path: somebody who took the
// lock away has put another one there.
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

// Steal takes a lock away: its file is removed, and a new one locked in its
// place. The old owner keeps its lock on a file that nobody finds, which Holds
// tells it. The returned file, if any, is the old one, for [File.Free].
func Steal(path string) (mine, old *File, err error) {
	if f, err := os.OpenFile(path, os.O_RDWR, 0o600); err == nil {
		old = &File{f}
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		old.close()
		return nil, nil, err
	}
	mine, err = TryLock(path)
	if err != nil {
		old.close()
		return nil, nil, err
	}
	return mine, old, nil
}

func (f *File) close() {
	if f != nil {
		f.Close()
	}
}

// Free reports whether the owner of a file that was stolen has given up its
// lock.
func (f *File) Free() bool { return lock(f.File, false) == nil }
