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

// RestoreOptions selects the files that [Archive.Restore] writes. A nil pointer is the zero value,
// which restores everything.
type RestoreOptions struct {
	// Sessions are the ids of the sessions to restore; empty restores all.
	Sessions []string
	// KeepTimes restores the modification times. Without it the files get the current time: the CLI
	// deletes by age, and would delete them again.
	KeepTimes bool
	// DryRun reports what would be restored without writing.
	DryRun bool
	// Progress, if set, is called for every file.
	Progress func(done, total int)
}

// RestoreReport reports the result for each file. Paths are relative to the projects directory.
type RestoreReport struct {
	Restored []string `json:"restored"`
	Same     []string `json:"same"`    // exist with the same content or a longer form of it
	Differ   []string `json:"differ"`  // exist with another content, which is kept
	Damaged  []string `json:"damaged"` // damaged in the archive, with the damage
}

// Restore writes the latest version of the archived files to a configuration directory and checks
// each SHA-256 before the file gets its name. It never changes an existing file. A transcript is
// written after the other files of its session, so that a session is visible only when it is
// complete. The error is [ErrNoSession] if the archive does not have a requested session.
func (a *Archive) Restore(ctx context.Context, to *Dir, opts *RestoreOptions) (*RestoreReport, error) {
	if opts == nil {
		opts = &RestoreOptions{}
	}
	files, damaged, err := a.wanted(opts.Sessions)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(files, func(x, y *ArchivedFile) int { return strings.Count(y.Path, "/") - strings.Count(x.Path, "/") })
	report := &RestoreReport{Restored: []string{}, Same: []string{}, Differ: []string{}, Damaged: []string{}}
	for _, err := range damaged {
		report.Damaged = append(report.Damaged, err.Error())
	}
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

// wanted returns the files of the sessions, or all files if sessions is empty, and the damage of notes.
func (a *Archive) wanted(sessions []string) (files []*ArchivedFile, damaged []error, err error) {
	files, damaged, err = a.list()
	if err != nil || len(sessions) == 0 {
		return files, damaged, err
	}
	asked, there := map[string]bool{}, map[string]bool{}
	for _, f := range files {
		there[f.SessionID()] = true
	}
	for _, id := range sessions {
		if asked[id] = true; !there[id] || id == "" {
			return nil, nil, errors.Join(append([]error{fmt.Errorf("%w in the archive: %s", ErrNoSession, id)}, damaged...)...)
		}
	}
	return slices.DeleteFunc(files, func(f *ArchivedFile) bool { return f.SessionID() == "" || !asked[f.SessionID()] }), damaged, nil
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

// begins reports whether the file begins with the content of a version.
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

// unpack writes a version to a temporary file and renames it when the checksum matches.
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

// contents calls use with each piece of a version. The error is a [*DamageError] if the content
// differs from the saved one.
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
		return &DamageError{a.dir, errors.New("the pieces of a file are correct, but the file is not")}
	}
	return nil
}
