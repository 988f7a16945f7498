package transcript

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/internal/regularfile"
)

// RestoreOptions selects what is restored, and how. A nil pointer stands for the zero value,
// which restores everything.
type RestoreOptions struct {
	// Sessions are the ids of the sessions that are restored; none is everything.
	Sessions []string
	// KeepTimes gives the files the times that they had. Without it they are as old
	// as their restoring: the CLI deletes by age, and would delete them again.
	KeepTimes bool
	// DryRun only says what would be done.
	DryRun bool
	// Progress, if set, is called for every file.
	Progress func(done, total int)
}

// RestoreReport reports what [Archive.Restore] did, or would do, with each file. Paths are
// below the directory projects.
type RestoreReport struct {
	Restored []string `json:"restored"`
	Same     []string `json:"same"`    // were there already, or a longer form of them
	Differ   []string `json:"differ"`  // are there with another content, which was left
	Damaged  []string `json:"damaged"` // are damaged in the archive, and how
}

// Restore puts files of the archive back into a configuration directory, the latest
// version of each, checked against its SHA-256 before it gets its name. A file that
// exists is never touched. What is beside a session comes before its transcript, so
// that there is a session only when it is whole. The error is [ErrNoSession] if a
// session that was asked for is not in the archive.
func (a *Archive) Restore(ctx context.Context, to *Dir, opts *RestoreOptions) (*RestoreReport, error) {
	if opts == nil {
		opts = &RestoreOptions{}
	}
	files, err := a.wanted(opts.Sessions)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(files, func(x, y *ArchivedFile) int { return strings.Count(y.Path, "/") - strings.Count(x.Path, "/") })
	report := &RestoreReport{Restored: []string{}, Same: []string{}, Differ: []string{}, Damaged: []string{}}
	for i, f := range files {
		if err := ctx.Err(); err != nil {
			return report, err
		}
		if err := a.restoreFile(ctx, to, f, opts, report); err != nil {
			return report, err
		}
		if opts.Progress != nil {
			opts.Progress(i+1, len(files))
		}
	}
	return report, nil
}

// wanted are the files of these sessions, of all if none is named.
func (a *Archive) wanted(sessions []string) ([]*ArchivedFile, error) {
	files, err := a.Files()
	if err != nil || len(sessions) == 0 {
		return files, err
	}
	asked, there := map[string]bool{}, map[string]bool{}
	for _, f := range files {
		there[f.SessionID()] = true
	}
	for _, id := range sessions {
		if asked[id] = true; !there[id] || id == "" {
			return nil, fmt.Errorf("%w in the archive: %s", ErrNoSession, id)
		}
	}
	return slices.DeleteFunc(files, func(f *ArchivedFile) bool { return f.SessionID() == "" || !asked[f.SessionID()] }), nil
}

func (a *Archive) restoreFile(ctx context.Context, to *Dir, f *ArchivedFile, opts *RestoreOptions, report *RestoreReport) error {
	rel := filepath.FromSlash(f.Path)
	if !filepath.IsLocal(rel) {
		report.Damaged = append(report.Damaged, fmt.Sprintf("%s: it is outside of the directory", f.Path))
		return nil
	}
	path, v := filepath.Join(to.projects(), rel), f.Latest()
	switch same, err := begins(path, v); {
	case errors.Is(err, fs.ErrNotExist):
	case errors.Is(err, regularfile.ErrNotRegular):
		report.Differ = append(report.Differ, f.Path) // a link, for example
		return nil
	case err != nil:
		return fmt.Errorf("transcript: %w", err)
	case same:
		report.Same = append(report.Same, f.Path)
		return nil
	default:
		report.Differ = append(report.Differ, f.Path)
		return nil
	}
	if !opts.DryRun {
		err := a.unpack(ctx, to, v, path)
		if damage, ok := errors.AsType[*DamageError](err); ok {
			report.Damaged = append(report.Damaged, fmt.Sprintf("%s: %v", f.Path, damage))
			return nil
		}
		if err != nil {
			return err
		}
		if opts.KeepTimes {
			if err := os.Chtimes(path, v.Modified, v.Modified); err != nil {
				return fmt.Errorf("transcript: %w", err)
			}
		}
	}
	report.Restored = append(report.Restored, f.Path)
	return nil
}

// begins reports whether the file begins with a version.
func begins(path string, v *FileVersion) (bool, error) {
	f, err := openRegular(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, io.LimitReader(f, v.Size))
	return n == v.Size && hex.EncodeToString(sum.Sum(nil)) == v.SHA256, err
}

// unpack writes a version to a new file, and gives it its name when all of it is
// there and right.
func (a *Archive) unpack(ctx context.Context, to *Dir, v *FileVersion, path string) error {
	if err := to.files.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("transcript: %w", err)
	}
	tmp, err := to.files.CreateTemp(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("transcript: %w", err)
	}
	err = a.contents(ctx, v, func(b []byte) error {
		if _, err := tmp.Write(b); err != nil {
			return fmt.Errorf("transcript: %w", err)
		}
		return nil
	})
	if err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return errors.Join(err, to.files.Remove(tmp.Name()))
	}
	if _, err := os.Lstat(path); err == nil {
		return errors.Join(fmt.Errorf("transcript: %s: %w", path, fs.ErrExist), to.files.Remove(tmp.Name()))
	}
	if err := to.files.Rename(tmp.Name(), path); err != nil {
		return errors.Join(fmt.Errorf("transcript: %w", err), to.files.Remove(tmp.Name()))
	}
	return nil
}

// contents gives the content of a version piece by piece; the error is a
// [*DamageError] if it is not what was saved.
func (a *Archive) contents(ctx context.Context, v *FileVersion, use func([]byte) error) error {
	sum := sha256.New()
	for _, name := range v.Pieces {
		if err := ctx.Err(); err != nil {
			return err
		}
		content, err := a.piece(name)
		if err != nil {
			return err
		}
		sum.Write(content)
		if err := use(content); err != nil {
			return err
		}
	}
	if hex.EncodeToString(sum.Sum(nil)) != v.SHA256 {
		return &DamageError{a.dir, errors.New("the pieces of a file are right and the file is not")}
	}
	return nil
}
