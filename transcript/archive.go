package transcript

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/internal/claudedir"
)

// Archive is a copy of the sessions of configuration directories that survives the CLI's cleanup.
// It stores file contents in compressed pieces named by their SHA-256, so that equal content is
// stored once, and one note per [Archive.Save] that lists the files it found. Pieces and notes are
// never changed or deleted: a save that is killed leaves unreferenced pieces, and concurrent saves
// do not disturb each other. An Archive holds no open file and may be used from any goroutine.
type Archive struct {
	dir   string
	files fileSystem
}

// OpenArchive returns the archive in a directory, which need not exist yet. It does not read or
// write the directory.
func OpenArchive(dir string) *Archive { return &Archive{dir: dir, files: osFiles{dir}} }

// Path returns the directory of the archive as it was passed to [OpenArchive].
func (a *Archive) Path() string { return a.dir }

// ArchivedFile is a file in an archive with all its versions, oldest first.
type ArchivedFile struct {
	Path     string // below projects, with slashes: key/session.jsonl, key/session/…
	Versions []*FileVersion
}

// FileVersion is one content of a file. A file that only grew has a single version, the longest; a
// file that was rewritten keeps its earlier versions.
type FileVersion struct {
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
	SHA256   string    `json:"sha256"`
	Pieces   []string  `json:"pieces"` // names of the pieces, in order
	SavedAt  time.Time `json:"savedAt"`
}

// Latest returns the version that was saved last. [Archive.Restore] writes this version.
func (f *ArchivedFile) Latest() *FileVersion { return f.Versions[len(f.Versions)-1] }

// SessionID returns the session that the file belongs to, or "".
func (f *ArchivedFile) SessionID() string {
	parts := strings.SplitN(f.Path, "/", 3)
	if len(parts) < 2 {
		return ""
	}
	id := strings.TrimSuffix(parts[1], ".jsonl")
	if !claudedir.ValidID(id) || len(parts) == 2 && id == parts[1] {
		return ""
	}
	return id
}

// IsTranscript reports whether the file is the transcript of its session rather than one of its
// other files.
func (f *ArchivedFile) IsTranscript() bool {
	return f.SessionID() != "" && strings.Count(f.Path, "/") == 1
}

// SaveOptions configures [Archive.Save]. A nil pointer is the zero value.
type SaveOptions struct {
	// Progress, if set, is called for every file in order, on the goroutine that called Save.
	Progress func(done, total int)
}

// SaveReport reports the files that [Archive.Save] examined, wrote and could not read.
type SaveReport struct {
	Files    int           `json:"files"`    // files examined
	Changed  int           `json:"changed"`  // files new or changed since the last save
	Pieces   int           `json:"pieces"`   // pieces written
	Bytes    int64         `json:"bytes"`    // size of the changed files
	Written  int64         `json:"written"`  // compressed bytes written to the archive
	Unread   []string      `json:"unread"`   // files that could not be read, and why
	Duration time.Duration `json:"duration"` // in nanoseconds
}

// Save copies the files below the projects of a configuration directory that the archive does not
// have yet. It does not read files with the size and time of the last save. It reports a file that
// cannot be read and continues; files that only a damaged note of the archive lists are saved again.
func (a *Archive) Save(ctx context.Context, d *Dir, opts *SaveOptions) (*SaveReport, error) {
	if opts == nil {
		opts = &SaveOptions{}
	}
	begin := time.Now()
	known, damaged, err := a.catalogue()
	if err != nil {
		return nil, err
	}
	found, err := regularFiles(ctx, d.projects())
	if err != nil {
		return nil, err
	}
	report := &SaveReport{Files: len(found), Unread: []string{}}
	for _, err := range damaged {
		report.Unread = append(report.Unread, err.Error())
	}
	note := &saveNote{Version: 1, SavedAt: begin.UTC()}
	done := 0
	for s := range ordered(ctx, found, func(f foundFile) *savedFile { return a.saveFile(ctx, f, known[f.rel]) }) {
		report.add(s)
		if s.err == nil && s.version != nil {
			s.version.SavedAt = note.SavedAt
			note.Files = append(note.Files, &notedFile{Path: s.rel, FileVersion: *s.version, Replaces: s.replaces})
		}
		if s.fatal != nil {
			return nil, s.fatal
		}
		if done++; opts.Progress != nil {
			opts.Progress(done, len(found))
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(note.Files) > 0 {
		if err := a.writeNote(note); err != nil {
			return nil, err
		}
	}
	report.Duration = time.Since(begin)
	return report, nil
}

// savedFile is the outcome of saving one file.
type savedFile struct {
	foundFile
	version  *FileVersion // nil if it has not changed
	replaces string       // SHA-256 of the version that this one extends
	pieces   int
	written  int64
	err      error // it could not be read
	fatal    error // the archive could not be written
}

func (r *SaveReport) add(s *savedFile) {
	r.Pieces += s.pieces
	r.Written += s.written
	if s.err != nil {
		r.Unread = append(r.Unread, s.err.Error())
	}
	if s.version != nil {
		r.Changed++
		r.Bytes += s.version.Size
	}
}

// foundFile is a file below projects.
type foundFile struct {
	path     string
	rel      string // below projects, with slashes
	size     int64
	modified time.Time
}

// regularFiles lists the files below a directory. It skips files that it cannot stat.
func regularFiles(ctx context.Context, root string) ([]foundFile, error) {
	var found []foundFile
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || !d.Type().IsRegular() || isTemp(d.Name()) {
			return nil // removed, not readable, or being written
		}
		info, err := d.Info()
		if err != nil {
			return nil // removed
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return fmt.Errorf("transcript: %w", err)
		}
		found = append(found, foundFile{path: path, rel: filepath.ToSlash(rel), size: info.Size(), modified: info.ModTime()})
		return nil
	})
	slices.SortFunc(found, func(a, b foundFile) int { return strings.Compare(a.rel, b.rel) })
	return found, err
}

// isTemp reports whether a name belongs to a temporary file of this package.
func isTemp(name string) bool {
	return strings.HasPrefix(name, ".parley-") && strings.HasSuffix(name, ".tmp")
}
