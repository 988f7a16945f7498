package blob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed7221b0f9/parley/internal/regularfile"
)

// Dir is a [Store] in a directory, with a file for each name. The directory need not exist. Files and directories are only accessible to
// their owner.
type Dir string

// maxFile is the size limit of a file in bytes.
const maxFile = 64 << 20

// path returns the file of a name.
func (d Dir) path(name string) (string, error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	return filepath.Join(string(d), filepath.FromSlash(name)), nil
}

// Read returns the content of the file of a name.
func (d Dir) Read(_ context.Context, name string) ([]byte, error) {
	path, err := d.path(name)
	if err != nil {
		return nil, err
	}
	data, err := regularfile.ReadNoFollow(path, maxFile)
	if err != nil {
		return nil, fmt.Errorf("blob: %w", err)
	}
	return data, nil
}

// Write replaces the file of a name.
func (d Dir) Write(_ context.Context, name string, data []byte) (err error) {
	path, err := d.path(name)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("blob: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // with mode 0600
	if err != nil {
		return fmt.Errorf("blob: %w", err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("blob: %w", err)
	}
	return nil
}

// Names returns the names of all files, sorted. It skips files with invalid names.
func (d Dir) Names(ctx context.Context) (names []string, err error) {
	err = filepath.WalkDir(string(d), func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path == string(d) {
			return fs.SkipAll
		}
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(string(d), path)
		if name = filepath.ToSlash(name); err == nil && CheckName(name) == nil {
			names = append(names, name)
		}
		return errors.Join(err, ctx.Err())
	})
	if err != nil {
		return nil, fmt.Errorf("blob: %w", err)
	}
	slices.Sort(names)
	return names, nil
}

// Remove deletes the file or the directory of a name.
func (d Dir) Remove(_ context.Context, name string) error {
	path, err := d.path(name)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("blob: %w", err)
	}
	return nil
}
