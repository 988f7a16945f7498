package transcript

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/internal/claudedir"
)

// TranscriptFile is a file of JSON lines below the projects: a session or a subagent.
type TranscriptFile struct {
	Path       string
	ProjectKey string
	SessionID  string
	AgentID    string // "" for the session
	Size       int64
	ModTime    time.Time
}

// Entries returns an iterator over the lines of the file, with the errors of [Session.Entries].
func (f *TranscriptFile) Entries(ctx context.Context) iter.Seq2[Entry, error] {
	return fileEntries(ctx, f.Path)
}

// Files yields all files of JSON lines of all sessions and subagents, sorted by path, including
// files that lists omit and subagents without a session. It skips unreadable files; an error is the
// last element.
func (d *Dir) Files(ctx context.Context) iter.Seq2[*TranscriptFile, error] {
	return func(yield func(*TranscriptFile, error) bool) {
		projects, err := d.projectDirs()
		if err != nil {
			yield(nil, err)
			return
		}
		more := true
		for _, project := range projects {
			err := filepath.WalkDir(project, func(path string, e fs.DirEntry, err error) error {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				if err != nil {
					return nil
				}
				if f := transcriptFile(project, path, e); f != nil {
					more = yield(f, nil)
				}
				if !more {
					return fs.SkipAll
				}
				return nil
			})
			if err != nil {
				yield(nil, fmt.Errorf("transcript: %w", err))
				return
			}
			if !more {
				return
			}
		}
	}
}

// transcriptFile returns the file of JSON lines at a path of a project directory, or nil if it is
// another file.
func transcriptFile(project, path string, e fs.DirEntry) *TranscriptFile {
	name, ok := strings.CutSuffix(e.Name(), ".jsonl")
	if !ok || !e.Type().IsRegular() {
		return nil
	}
	f := &TranscriptFile{Path: path, ProjectKey: filepath.Base(project), SessionID: name}
	if dir := filepath.Dir(path); dir != project {
		below, err := filepath.Rel(project, dir)
		if err != nil {
			return nil
		}
		id, isAgent := strings.CutPrefix(name, "agent-")
		session, rest, _ := strings.Cut(filepath.ToSlash(below), "/")
		if !isAgent || rest != "subagents" && !strings.HasPrefix(rest, "subagents/") {
			return nil
		}
		f.SessionID, f.AgentID = session, id
	}
	if !claudedir.ValidID(f.SessionID) {
		return nil
	}
	info, err := e.Info()
	if err != nil {
		return nil
	}
	f.Size, f.ModTime = info.Size(), info.ModTime()
	return f
}
