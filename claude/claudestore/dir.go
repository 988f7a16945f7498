package claudestore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/internal/filelock"
	"github.com/seed7221b0f9/parley/internal/regularfile"
)

// Dir is a session store in a directory, on a disk or a volume that several machines share if
// that has locks (flock). Its files have the layout of the CLI's directory projects:
// <project>/<session>.jsonl, and <subpath>.jsonl below <project>/<session> for subagents. Each
// session also has a summary, a lock and a file with the number of the last claim. Directories
// have mode 0700, files 0600.
type Dir struct {
	root string

	mu   sync.Mutex
	read map[claude.SessionKey]*readFile
}

// readFile caches the uuids of a transcript up to an offset.
type readFile struct {
	info  fs.FileInfo
	end   int64
	uuids map[string]bool
}

// maxReadFiles limits the number of transcripts with cached uuids.
const maxReadFiles = 256

// NewDir returns the store in a directory. It creates the directory with access for this user
// only if it does not exist.
func NewDir(root string) (*Dir, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		return nil, err
	}
	return &Dir{root: root}, nil
}

func (d *Dir) session(key claude.SessionKey, ext string) string {
	return filepath.Join(d.root, key.ProjectKey, key.SessionID+ext)
}

func (d *Dir) transcript(key claude.SessionKey) string {
	if key.Subpath == "" {
		return d.session(key, ".jsonl")
	}
	return filepath.Join(d.session(key, ""), filepath.FromSlash(key.Subpath)+".jsonl")
}

// locked runs f while it holds the lock of the session against this and other processes.
func (d *Dir) locked(key claude.SessionKey, f func() error) error {
	if err := Check(key); err != nil {
		return err
	}
	if err := d.noLinks(key); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(d.root, key.ProjectKey), 0o700); err != nil {
		return err
	}
	lock, err := filelock.Lock(d.session(key, ".lock"))
	if err != nil {
		return err
	}
	defer lock.Unlock()
	return f()
}

// noLinks checks that no directory between the root and a transcript is a symbolic link, which
// could redirect writes. The root itself may be a link.
func (d *Dir) noLinks(key claude.SessionKey) error {
	rel, err := filepath.Rel(d.root, d.transcript(key))
	if err != nil {
		return err
	}
	path := d.root
	for part := range strings.SplitSeq(filepath.Dir(rel), string(filepath.Separator)) {
		path = filepath.Join(path, part)
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return fmt.Errorf("claudestore: %s is not a directory and is not followed for writing", path)
		}
	}
	return nil
}

// Append appends entries to a transcript. It omits entries with a uuid that the transcript
// already has.
func (d *Dir) Append(_ context.Context, key claude.SessionKey, entries []json.RawMessage) error {
	if len(entries) == 0 {
		return nil
	}
	return d.locked(key, func() error { return d.append(key, entries) })
}

func (d *Dir) append(key claude.SessionKey, entries []json.RawMessage) error {
	path := d.transcript(key)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := regularfile.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	known, err := d.catchUp(key, f)
	if err != nil {
		return err
	}
	added := fresh(known.uuids, entries)
	text, err := lines(added)
	if err == nil {
		err = write(f, text, known.end)
	}
	if err != nil {
		d.forget(key) // it has uuids that were not written
		return err
	}
	// Hold mu as well, so that the next writer of this process sees the changes made under the
	// file lock.
	d.mu.Lock()
	known.end += int64(len(text))
	d.mu.Unlock()
	if key.Subpath != "" {
		return nil
	}
	return d.summarize(key, added)
}

func write(f *os.File, text []byte, at int64) error {
	// Overwrite the rest of an interrupted append.
	if err := f.Truncate(at); err != nil {
		return err
	}
	if _, err := f.WriteAt(text, at); err != nil {
		return err
	}
	return f.Sync()
}

// catchUp reads the part of a transcript that was written since the last look. The session is
// locked.
func (d *Dir) catchUp(key claude.SessionKey, f *os.File) (*readFile, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	known := d.read[key]
	d.mu.Unlock()
	if known == nil || !os.SameFile(known.info, info) || info.Size() < known.end {
		known = &readFile{info: info, uuids: map[string]bool{}}
	}
	there, n, err := whole(io.NewSectionReader(f, known.end, info.Size()-known.end))
	if err != nil {
		return nil, err
	}
	fresh(known.uuids, there)
	known.end += n
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.read == nil || len(d.read) >= maxReadFiles {
		d.read = map[claude.SessionKey]*readFile{}
	}
	d.read[key] = known
	return known, nil
}

func (d *Dir) forget(key claude.SessionKey) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.read, key)
}

func lines(entries []json.RawMessage) ([]byte, error) {
	var b bytes.Buffer
	for _, e := range entries {
		if err := json.Compact(&b, e); err != nil {
			return nil, fmt.Errorf("claudestore: an entry: %w", err)
		}
		b.WriteByte('\n')
	}
	return b.Bytes(), nil
}

// whole returns the complete lines of a transcript, and the offset of their end.
func whole(r io.Reader) (entries []json.RawMessage, end int64, err error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, 0, err
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			entries = append(entries, line)
		}
	}
	return entries, int64(len(text)), nil
}

// FindSession returns the projects that have a main transcript of the session, or nil if there is
// no such session.
func (d *Dir) FindSession(_ context.Context, sessionID string) (projects []string, err error) {
	if err := Check(claude.SessionKey{ProjectKey: "any", SessionID: sessionID}); err != nil {
		return nil, err
	}
	dirs, err := os.ReadDir(d.root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, dir := range dirs {
		info, err := os.Lstat(filepath.Join(d.root, dir.Name(), sessionID+".jsonl"))
		if dir.IsDir() && err == nil && info.Mode().IsRegular() {
			projects = append(projects, dir.Name())
		}
	}
	return projects, nil
}

// Load returns all entries of a transcript in their order, or nil if the store has no such
// transcript.
func (d *Dir) Load(_ context.Context, key claude.SessionKey) ([]json.RawMessage, error) {
	if err := Check(key); err != nil {
		return nil, err
	}
	f, err := regularfile.OpenNoFollow(d.transcript(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, _, err := whole(f)
	return entries, err
}

// ListSessions returns the sessions of a project that have a main transcript, in the order of
// their names.
func (d *Dir) ListSessions(_ context.Context, projectKey string) ([]claude.StoredSession, error) {
	if err := Check(claude.SessionKey{ProjectKey: projectKey, SessionID: "any"}); err != nil {
		return nil, err
	}
	files, err := os.ReadDir(filepath.Join(d.root, projectKey))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var list []claude.StoredSession
	for _, f := range files {
		id, ok := strings.CutSuffix(f.Name(), ".jsonl")
		if !ok || !f.Type().IsRegular() {
			continue
		}
		info, err := f.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted meanwhile
		}
		if err != nil {
			return nil, err
		}
		list = append(list, claude.StoredSession{SessionID: id, ModTime: info.ModTime()})
	}
	return list, nil
}

// ListSubkeys returns the subpaths of a session's subagents, sorted. They do not include the main
// transcript.
func (d *Dir) ListSubkeys(_ context.Context, key claude.SessionKey) ([]string, error) {
	key.Subpath = ""
	if err := Check(key); err != nil {
		return nil, err
	}
	root := d.session(key, "")
	var list []string
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !e.Type().IsRegular() || filepath.Ext(path) != ".jsonl" {
			return err
		}
		rel, err := filepath.Rel(root, path)
		list = append(list, strings.TrimSuffix(filepath.ToSlash(rel), ".jsonl"))
		return err
	})
	slices.Sort(list)
	return list, err
}

// Delete removes a transcript. Deleting the main transcript of a session removes those of its
// subagents as well.
func (d *Dir) Delete(_ context.Context, key claude.SessionKey) error {
	return d.locked(key, func() error {
		d.forget(key) // the inode may be reused
		err := os.Remove(d.transcript(key))
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		if key.Subpath != "" {
			return err
		}
		sum := os.Remove(d.session(key, ".summary"))
		if errors.Is(sum, fs.ErrNotExist) {
			sum = nil
		}
		d.forgetSession(key)
		return errors.Join(err, sum, os.RemoveAll(d.session(key, "")))
	})
}

func (d *Dir) forgetSession(key claude.SessionKey) {
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.read, func(k claude.SessionKey, _ *readFile) bool { return sessionOf(k) == sessionOf(key) })
}

// modTime returns the time of the last write to a main transcript.
func (d *Dir) modTime(key claude.SessionKey) (time.Time, error) {
	info, err := os.Stat(d.transcript(key))
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}
