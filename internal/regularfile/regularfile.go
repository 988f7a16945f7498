// Package regularfile opens only regular files: a pipe, a device, a socket or a directory
// in place of a file is an error, and opening never blocks until another process opens the
// other end.
package regularfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ErrNotRegular is wrapped by the error for a file that is not a regular file.
var ErrNotRegular = errors.New("not a regular file")

// ErrTooLarge is wrapped by the error for a file that exceeds its limit.
var ErrTooLarge = errors.New("the file is too large")

// Open opens a regular file for reading. It follows symbolic links.
func Open(path string) (*os.File, error) { return open(path, os.O_RDONLY|NonBlocking) }

// OpenNoFollow opens a regular file for reading. A symbolic link is an error.
func OpenNoFollow(path string) (*os.File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if err := check(path, info); err != nil {
		return nil, err
	}
	return open(path, os.O_RDONLY|NonBlocking|noFollow)
}

// OpenFile is os.OpenFile for a regular file, which is created depending on the flags. A
// symbolic link is an error.
func OpenFile(path string, flags int, mode fs.FileMode) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil {
		if err := check(path, info); err != nil {
			return nil, err
		}
	}
	f, err := os.OpenFile(path, flags|NonBlocking|noFollow, mode)
	if err != nil {
		return nil, err
	}
	return checked(f, path)
}

func open(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags, 0)
	if err != nil {
		return nil, err
	}
	return checked(f, path)
}

func checked(f *os.File, path string) (*os.File, error) {
	info, err := f.Stat()
	if err == nil {
		err = check(path, info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func check(path string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	return nil
}

// Read reads all of a regular file of at most limit bytes. It follows symbolic links.
func Read(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	return readAll(f, err, path, limit)
}

// ReadNoFollow is like [Read], but a symbolic link is an error.
func ReadNoFollow(path string, limit int64) ([]byte, error) {
	f, err := OpenNoFollow(path)
	return readAll(f, err, path, limit)
}

// readAll reads and closes a file, or returns the error of opening it.
func readAll(f *os.File, err error, path string, limit int64) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(text)) > limit {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)}
	}
	return text, err
}
