package claudestore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/internal/claudedir"
	"github.com/seed7221b0f9/parley/internal/linecopy"
	"github.com/seed7221b0f9/parley/internal/regularfile"
)

// MirrorStore is a store that can find, list and delete the transcripts of a session.
type MirrorStore interface {
	claude.SessionStore
	claude.SessionFinder
	claude.SubkeyLister
	claude.SessionDeleter
}

// Mirror copies sessions between the CLI's disk and a store, so that the CLI of another machine can continue them there.
// Unlike claude.Options.SessionStore it leaves the CLI's files in their place. It copies the transcripts of a session and
// of its subagents, not the files that their tools have stored. If the store is a [claude.SessionClaimer], the machine
// that has fetched a session last is its writer. A Mirror is safe for concurrent use, but the calls for one session must
// not overlap.
type Mirror struct {
	Store MirrorStore

	files  linecopy.Recent[*mirrored] // by path
	claims claims
}

// mirrored is a transcript with a copy.
type mirrored struct {
	linecopy.File
	meta []byte // the metadata in the store
}

// Place is the location of a session on the CLI's disk.
type Place struct {
	ConfigDir string // the CLI's configuration directory
	Project   string // the directory of the session's project below it, see [claude.ProjectKey]
	SessionID string
}

// file returns the main transcript: where it exists, or where the CLI looks for it.
func (p Place) file() (string, error) {
	if !claudedir.ValidID(p.SessionID) {
		return "", fmt.Errorf("claudestore: %q is not a UUID", p.SessionID)
	}
	at := filepath.Join(claudedir.Projects(p.ConfigDir), p.Project, p.SessionID+".jsonl")
	if _, err := os.Stat(at); err == nil {
		return at, nil
	}
	found, err := (&ImportOptions{ConfigDir: p.ConfigDir}).find(p.SessionID)
	if errors.Is(err, claude.ErrNoSession) {
		return at, nil
	}
	return found, err
}

// Save copies the lines that a session's files have gained since the last Save to the store. It fails if the store has
// other entries, or if another machine has fetched the session since. A session without files has no lines to save.
func (m *Mirror) Save(ctx context.Context, p Place) error {
	file, err := p.file()
	if err != nil {
		return err
	}
	key := claude.SessionKey{ProjectKey: filepath.Base(filepath.Dir(file)), SessionID: p.SessionID}
	if err := m.save(ctx, file, key); err != nil {
		return fmt.Errorf("claude: copying a session: %w", err)
	}
	root := strings.TrimSuffix(file, ".jsonl")
	subpaths, err := subagentsIn(root)
	for _, sub := range subpaths {
		if err == nil {
			key.Subpath = sub
			err = m.save(ctx, filepath.Join(root, filepath.FromSlash(sub)+".jsonl"), key)
		}
	}
	if err != nil {
		return fmt.Errorf("claude: copying a session: %w", err)
	}
	return nil
}

// save saves a transcript and the metadata next to it.
func (m *Mirror) save(ctx context.Context, path string, key claude.SessionKey) error {
	f, s := m.file(path), m.copyOf(key)
	if err := f.Save(ctx, s); err != nil {
		return err
	}
	if key.Subpath == "" {
		return nil
	}
	if s.meta != nil {
		f.meta = s.meta
	}
	meta, err := readMetadata(strings.TrimSuffix(path, ".jsonl") + ".meta.json")
	if err != nil || meta == nil || bytes.Equal(meta, f.meta) {
		return err
	}
	if err := s.Append(ctx, []json.RawMessage{meta}); err != nil {
		return err
	}
	f.meta = meta
	return nil
}

// Fetch writes the files of a session from the store, unless the disk has all its entries. A transcript with other entries
// is kept under another name. The error is [claude.ErrNoSession] if the store does not have the session.
func (m *Mirror) Fetch(ctx context.Context, p Place) error {
	file, err := p.file()
	if err != nil {
		return err
	}
	projects, err := m.Store.FindSession(ctx, p.SessionID)
	if err != nil {
		return err
	}
	if len(projects) == 0 {
		return fmt.Errorf("%w: %s", claude.ErrNoSession, p.SessionID)
	}
	key := claude.SessionKey{ProjectKey: projects[0], SessionID: p.SessionID}
	if i := slices.Index(projects, filepath.Base(filepath.Dir(file))); i >= 0 {
		key.ProjectKey = projects[i]
	}
	if err := m.claims.claim(ctx, m.Store, key); err != nil {
		return err
	}
	subpaths, err := m.Store.ListSubkeys(ctx, key)
	for _, sub := range subpaths {
		if err == nil {
			key.Subpath = sub
			err = m.fetch(ctx, filepath.Join(strings.TrimSuffix(file, ".jsonl"), filepath.FromSlash(sub)+".jsonl"), key)
		}
	}
	if err == nil { // the main transcript last: it makes the session complete
		key.Subpath = ""
		err = m.fetch(ctx, file, key)
	}
	if err != nil {
		return fmt.Errorf("claude: fetching a session: %w", err)
	}
	return nil
}

// fetch writes a transcript and the metadata next to it.
func (m *Mirror) fetch(ctx context.Context, path string, key claude.SessionKey) error {
	if err := Check(key); err != nil {
		return err
	}
	f, s := m.file(path), m.copyOf(key)
	written, err := f.Fetch(ctx, s)
	if errors.Is(err, linecopy.ErrNoCopy) && s.meta != nil {
		err = nil
	}
	if f.meta = s.meta; err != nil || !written || s.meta == nil {
		return err
	}
	var meta map[string]json.RawMessage
	if err := json.Unmarshal(s.meta, &meta); err != nil {
		return err
	}
	delete(meta, "type")
	text, err := json.Marshal(meta)
	if err != nil {
		return err
	}
	return os.WriteFile(strings.TrimSuffix(path, ".jsonl")+".meta.json", text, 0o600)
}

// Delete removes a session from the store.
func (m *Mirror) Delete(ctx context.Context, sessionID string) error {
	projects, err := m.Store.FindSession(ctx, sessionID)
	for _, p := range projects {
		err = errors.Join(err, m.Store.Delete(ctx, claude.SessionKey{ProjectKey: p, SessionID: sessionID}))
	}
	m.claims.forget(sessionID)
	m.files.Forget(func(path string) bool { return strings.Contains(path, sessionID) })
	return err
}

// file returns the state of a transcript.
func (m *Mirror) file(path string) *mirrored {
	f, ok := m.files.Get(path)
	if !ok {
		f = &mirrored{File: linecopy.File{Path: path, ID: UUID}}
		m.files.Put(path, f)
	}
	return f
}

func (m *Mirror) copyOf(key claude.SessionKey) *transcriptCopy {
	return &transcriptCopy{m: m, key: key}
}

// transcriptCopy is the copy of a transcript. Load separates the metadata of a subagent from its entries.
type transcriptCopy struct {
	m    *Mirror
	key  claude.SessionKey
	meta []byte
}

func (c *transcriptCopy) Load(ctx context.Context) ([]json.RawMessage, error) {
	entries, err := c.m.Store.Load(ctx, c.key)
	if err != nil || c.key.Subpath == "" {
		return entries, err
	}
	return slices.DeleteFunc(slices.Clone(entries), func(e json.RawMessage) bool {
		var m map[string]json.RawMessage
		if json.Unmarshal(e, &m) != nil || string(m["type"]) != metadataType {
			return false
		}
		if meta, err := json.Marshal(m); err == nil {
			c.meta = meta
		}
		return true
	}), nil
}

func (c *transcriptCopy) Append(ctx context.Context, lines []json.RawMessage) error {
	return c.m.claims.append(ctx, c.m.Store, c.key, lines)
}

// metadataType is the type of the entry with a subagent's metadata.
const metadataType = `"agent_metadata"`

// readMetadata returns the entry for a metadata file, nil if the file is missing or not a JSON
// object.
func readMetadata(file string) (json.RawMessage, error) {
	text, err := regularfile.Read(file, maxMetadata)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var meta map[string]json.RawMessage
	if json.Unmarshal(text, &meta) != nil || meta == nil {
		return nil, nil
	}
	meta["type"] = json.RawMessage(metadataType)
	return json.Marshal(meta)
}

// subagentsIn returns the subpaths of the transcripts below the directory of a session.
func subagentsIn(session string) (subpaths []string, err error) {
	root := filepath.Join(session, "subagents")
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && path == root:
			return nil
		case err != nil:
			return err
		case !d.Type().IsRegular() || filepath.Ext(path) != ".jsonl":
			return nil
		}
		rel, err := filepath.Rel(session, strings.TrimSuffix(path, ".jsonl"))
		subpaths = append(subpaths, filepath.ToSlash(rel))
		return err
	})
	return subpaths, err
}
