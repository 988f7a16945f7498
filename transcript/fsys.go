package transcript

import (
	"io"
	"io/fs"
	"os"
)

// fileSystem is everything that this package does to files other than read them.
// Whatever changes something goes through it, one call a step, so that a test can
// stop the process, as it were, before, in and after every step.
type fileSystem interface {
	// Append opens a file that exists for writing at its end.
	Append(path string) (writeFile, error)
	// CreateTemp makes a new file with mode 0600 in a directory; its name is none
	// that anybody takes for a session.
	CreateTemp(dir, pattern string) (writeFile, error)
	// Rename moves a file or directory; what has the new name is replaced.
	Rename(from, to string) error
	MkdirAll(path string, mode fs.FileMode) error
	Remove(path string) error
	RemoveAll(path string) error
}

// writeFile is a file that is being written.
type writeFile interface {
	io.WriteCloser
	Name() string
	Stat() (fs.FileInfo, error)
	Sync() error
}

// osFiles is the file system of the system.
type osFiles struct{}

func (osFiles) Append(path string) (writeFile, error) {
	// Without O_CREATE: a session that is gone must not come back as one line.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (osFiles) CreateTemp(dir, pattern string) (writeFile, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (osFiles) Rename(from, to string) error                 { return os.Rename(from, to) }
func (osFiles) MkdirAll(path string, mode fs.FileMode) error { return os.MkdirAll(path, mode) }
func (osFiles) Remove(path string) error                     { return os.Remove(path) }
func (osFiles) RemoveAll(path string) error                  { return os.RemoveAll(path) }
