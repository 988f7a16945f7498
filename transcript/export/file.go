package export

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed7221b0f9/parley/transcript"
)

// File writes a session to a file atomically: the file appears when it is complete. The error is
// fs.ErrExist if the file exists and may not be replaced.
func File(ctx context.Context, path string, s *transcript.Session, format Format, opts *Options, mayReplace bool) error {
	if _, err := os.Lstat(path); err == nil && !mayReplace {
		return fmt.Errorf("export: %s: %w", path, fs.ErrExist)
	}
	return writeWhole(osDisk{}, path, mayReplace, func(w io.Writer) error { return Write(ctx, w, s, format, opts) })
}

// disk is the set of file operations that writeWhole uses. Tests replace it to stop at every step.
type disk interface {
	CreateTemp(dir, pattern string) (tempFile, error)
	// Link creates a hard link; it fails if the new name exists.
	Link(from, to string) error
	Rename(from, to string) error
	Remove(path string) error
}

type tempFile interface {
	io.WriteCloser
	Name() string
	Sync() error
}

type osDisk struct{}

func (osDisk) CreateTemp(dir, pattern string) (tempFile, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (osDisk) Link(from, to string) error   { return os.Link(from, to) }
func (osDisk) Rename(from, to string) error { return os.Rename(from, to) }
func (osDisk) Remove(path string) error     { return os.Remove(path) }

// writeWhole writes and syncs a temporary file in the same directory and then renames it.
func writeWhole(d disk, path string, mayReplace bool, write func(io.Writer) error) error {
	tmp, err := d.CreateTemp(filepath.Dir(path), ".parley-*.tmp")
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	b := bufio.NewWriterSize(tmp, 64<<10)
	err = write(b)
	if err == nil {
		err = b.Flush()
	}
	if err == nil {
		err = tmp.Sync()
	}
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = place(d, tmp.Name(), path, mayReplace)
	}
	if err != nil {
		return errors.Join(err, d.Remove(tmp.Name()))
	}
	return nil
}

func place(d disk, tmp, path string, mayReplace bool) error {
	if !mayReplace {
		// Link fails if the name exists; a rename would replace the file.
		switch err := d.Link(tmp, path); {
		case err == nil:
			return d.Remove(tmp)
		case errors.Is(err, fs.ErrExist):
			return fmt.Errorf("export: %s: %w", path, fs.ErrExist)
		}
		if _, err := os.Lstat(path); err == nil { // a file system without links
			return fmt.Errorf("export: %s: %w", path, fs.ErrExist)
		}
	}
	if err := d.Rename(tmp, path); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}
