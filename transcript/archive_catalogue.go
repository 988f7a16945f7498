package transcript

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/internal/random"
)

// saveNote lists the new and changed files of one save. Notes never change; the catalogue is the
// merge of all notes.
type saveNote struct {
	Version int          `json:"v"`
	SavedAt time.Time    `json:"savedAt"`
	Files   []*notedFile `json:"files"`
}

type notedFile struct {
	Path string `json:"path"`
	FileVersion
	// Replaces is the SHA-256 of an earlier version that this one begins with.
	Replaces string `json:"replaces,omitempty"`
}

// noteLimit is the size limit of a note in bytes. A note of a million files is smaller.
const noteLimit = 1 << 30

func (a *Archive) notesDir() string { return filepath.Join(a.dir, "saves") }

// writeNote writes a note, which makes the save part of the archive.
func (a *Archive) writeNote(note *saveNote) error {
	text, err := encode(note)
	if err != nil {
		return err
	}
	packed, err := pack(text)
	if err != nil {
		return err
	}
	if err := a.files.MkdirAll(a.notesDir(), 0o700); err != nil {
		return fmt.Errorf("transcript: %w", err)
	}
	name := note.SavedAt.Format("20060102T150405.000000000Z") + "-" + random.UUID()[:8] + ".json.gz"
	return replace(a.files, filepath.Join(a.notesDir(), name), packed)
}

// catalogue reads the notes and returns the files by path, and the damage of notes that cannot be read. The other notes count.
func (a *Archive) catalogue() (known map[string]*ArchivedFile, damaged []error, err error) {
	known = map[string]*ArchivedFile{}
	list, err := os.ReadDir(a.notesDir()) // sorted, so the oldest is first
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("transcript: %w", err)
	}
	for _, e := range list {
		if !strings.HasSuffix(e.Name(), ".json.gz") {
			continue
		}
		path := filepath.Join(a.notesDir(), e.Name())
		note := &saveNote{}
		text, err := unpackFile(path, noteLimit)
		if err == nil {
			err = json.Unmarshal(text, note)
		}
		if err != nil {
			damaged = append(damaged, &DamageError{path, err})
			continue
		}
		if note.Version != 1 {
			return nil, nil, fmt.Errorf("transcript: %s was written by a newer program", path)
		}
		for _, f := range note.Files {
			f.mergeInto(known)
		}
	}
	return known, damaged, nil
}

// mergeInto adds a file of a note to the known files.
func (f *notedFile) mergeInto(known map[string]*ArchivedFile) {
	file := known[f.Path]
	if file == nil {
		file = &ArchivedFile{Path: f.Path}
		known[f.Path] = file
	}
	v := f.FileVersion
	file.Versions = slices.DeleteFunc(file.Versions, func(old *FileVersion) bool {
		return f.Replaces != "" && old.SHA256 == f.Replaces || old.SHA256 == v.SHA256
	})
	file.Versions = append(file.Versions, &v)
}

// Files returns the files of the archive sorted by path, including files that were deleted from their
// configuration directory. It omits files that only damaged notes list; [Archive.Verify] reports those.
func (a *Archive) Files() ([]*ArchivedFile, error) {
	files, _, err := a.list()
	return files, err
}

// list returns the files of the archive sorted by path, and the damage of notes.
func (a *Archive) list() (files []*ArchivedFile, damaged []error, err error) {
	known, damaged, err := a.catalogue()
	for _, path := range slices.Sorted(maps.Keys(known)) {
		files = append(files, known[path])
	}
	return files, damaged, err
}

// Verify reads the whole archive and checks every version of every file. It returns the damage
// found; progress, if not nil, is called for every file.
func (a *Archive) Verify(ctx context.Context, progress func(done, total int)) (damaged []error, err error) {
	files, damaged, err := a.list()
	if err != nil {
		return nil, err
	}
	for i, f := range files {
		for _, v := range f.Versions {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if err := a.contents(ctx, v, func([]byte) error { return nil }); err != nil {
				damaged = append(damaged, fmt.Errorf("%s: %w", f.Path, err))
			}
		}
		if progress != nil {
			progress(i+1, len(files))
		}
	}
	return damaged, nil
}
