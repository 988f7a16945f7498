package transcript

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/internal/regularfile"
)

// sidecarLimit is the size in bytes from which small files of a session are not read: all that the
// CLI writes are far smaller.
const sidecarLimit = 1 << 20

// openRegular opens a session file for reading. It does not follow links, and returns an error for
// anything but a regular file: a pipe would block.
func openRegular(path string) (*os.File, error) { return regularfile.OpenNoFollow(path) }

// ErrLinked is returned when a change would follow a symbolic link below the configuration
// directory, the archive or the cache. Links are followed for reading only.
var ErrLinked = errors.New("transcript: a symbolic link is not followed for writing")

// fileSystem is the set of operations of this package that change files. Every change is one call,
// so that a test can simulate a kill before, during and after every step.
type fileSystem interface {
	// Append opens an existing file for writing at its end.
	Append(path string) (writeFile, error)
	// CreateTemp creates a file with mode 0600 in a directory; its name cannot be mistaken for a
	// session.
	CreateTemp(dir string) (writeFile, error)
	// Rename moves a file or directory and replaces the target.
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

// osFiles is the operating system's file system below one directory. It changes no file outside of
// the directory and follows no link: a path with one is [ErrLinked]. A link that appears between
// the check and the change cannot escape either, because the change is made through an os.Root.
type osFiles struct{ root string }

// in opens the root for a change to path, and returns the path relative to it.
func (o osFiles) in(path string) (*os.Root, string, error) {
	rel, err := filepath.Rel(o.root, path)
	if err != nil {
		return nil, "", err
	}
	if !filepath.IsLocal(rel) {
		return nil, "", fmt.Errorf("%s is outside of %s: %w", path, o.root, fs.ErrInvalid)
	}
	root, err := os.OpenRoot(o.root)
	if err != nil {
		return nil, "", err
	}
	if err := noLinks(root, filepath.Dir(rel)); err != nil {
		root.Close()
		return nil, "", err
	}
	return root, rel, nil
}

// noLinks checks that no directory on the path is a link. A missing directory is not a link.
func noLinks(root *os.Root, dir string) error {
	if dir == "." {
		return nil
	}
	parts := strings.Split(dir, string(filepath.Separator))
	for i := range parts {
		part := filepath.Join(parts[:i+1]...)
		info, err := root.Lstat(part)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%w: %s", ErrLinked, filepath.Join(root.Name(), part))
		}
	}
	return nil
}

func (o osFiles) Append(path string) (writeFile, error) {
	root, rel, err := o.in(path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	was, err := root.Lstat(rel)
	if err != nil {
		return nil, err
	}
	if was.Mode()&fs.ModeSymlink != 0 {
		return nil, fmt.Errorf("%w: %s", ErrLinked, path)
	}
	if !was.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "append", Path: path, Err: regularfile.ErrNotRegular}
	}
	// Without O_CREATE: a deleted session must not reappear with one line.
	f, err := root.OpenFile(rel, os.O_WRONLY|os.O_APPEND|regularfile.NonBlocking, 0)
	if err != nil {
		return nil, err
	}
	is, err := f.Stat()
	if err == nil && !os.SameFile(was, is) {
		err = fmt.Errorf("%s was replaced meanwhile: %w", path, fs.ErrInvalid)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (o osFiles) CreateTemp(dir string) (writeFile, error) {
	name := filepath.Join(dir, ".parley-"+random.UUID()+".tmp")
	root, rel, err := o.in(name)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.OpenFile(rel, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &tempFile{f, name}, nil
}

// tempFile is a file that has its full path as name.
type tempFile struct {
	*os.File
	path string
}

// Name returns the full path of the file.
func (f *tempFile) Name() string { return f.path }

func (o osFiles) Rename(from, to string) error {
	root, old, err := o.in(from)
	if err != nil {
		return err
	}
	defer root.Close()
	other, now, err := o.in(to)
	if err != nil {
		return err
	}
	defer other.Close()
	return root.Rename(old, now)
}

func (o osFiles) MkdirAll(path string, mode fs.FileMode) error {
	if err := os.MkdirAll(o.root, mode); err != nil {
		return err
	}
	root, rel, err := o.in(filepath.Join(path, "x"))
	if err != nil {
		return err
	}
	defer root.Close()
	return root.MkdirAll(filepath.Dir(rel), mode)
}

func (o osFiles) Remove(path string) error {
	root, rel, err := o.in(path)
	if err != nil {
		return err
	}
	defer root.Close()
	return root.Remove(rel)
}

func (o osFiles) RemoveAll(path string) error {
	root, rel, err := o.in(path)
	if err != nil {
		return err
	}
	defer root.Close()
	return root.RemoveAll(rel)
}
