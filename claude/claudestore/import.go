package claudestore

import (
	"github.com/seed7221b0f9/parley/internal/regularfile"

	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/internal/claudedir"
	"github.com/seed7221b0f9/parley/internal/ndjson"
)

// The limits of an imported batch, in entries and bytes.
const (
	batchEntries = 500
	batchBytes   = 1 << 20
)

// ImportOptions configures where [ImportSession] searches a session. A nil pointer means the
// CLI's defaults.
type ImportOptions struct {
	// ConfigDir is the CLI's configuration directory; "" means that of this process.
	ConfigDir string
	// Dir is the directory of the session; "" searches all directories.
	Dir string
	// MainOnly omits the subagents' transcripts.
	MainOnly bool
	// Skipped is called for each line that is not JSON and not empty. Such lines are not
	// imported.
	Skipped func(file string, line int)
}

// ImportSession copies a session from the CLI's disk to a store, from which it can then be
// resumed, and returns its key. The project of the key is the CLI's directory of the session.
// A repeated import adds only new entries, because stores omit entries with a known uuid.
func ImportSession(ctx context.Context, store claude.SessionStore, sessionID string, opts *ImportOptions) (claude.SessionKey, error) {
	if opts == nil {
		opts = &ImportOptions{}
	}
	key := claude.SessionKey{SessionID: sessionID}
	if !claudedir.ValidID(sessionID) {
		return key, fmt.Errorf("claude: importing: %q is not a UUID", sessionID)
	}
	file, err := opts.find(sessionID)
	if err != nil {
		return key, err
	}
	key.ProjectKey = filepath.Base(filepath.Dir(file))
	im := &importer{store: store, skipped: opts.Skipped}
	if err := im.transcript(ctx, file, key); err != nil {
		return key, fmt.Errorf("claude: importing: %w", err)
	}
	if opts.MainOnly {
		return key, nil
	}
	if err := im.subagents(ctx, strings.TrimSuffix(file, ".jsonl"), key); err != nil {
		return key, fmt.Errorf("claude: importing: %w", err)
	}
	return key, nil
}

// find returns the file of a session. A directory may have two projects: the fixed one that
// the environment sets for all directories, which applies only to this process's configuration
// directory, and the one of its key.
func (o *ImportOptions) find(id string) (string, error) {
	projects, names := claudedir.Projects(o.ConfigDir), []string{claudedir.ProjectKey(o.Dir)}
	if o.ConfigDir == "" {
		projects = claudedir.Projects(claudedir.Config(os.Getenv))
		names = append([]string{claudedir.Project(os.Getenv, o.Dir)}, names...)
	}
	if o.Dir == "" {
		all, err := os.ReadDir(projects)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
		names = nil
		for _, e := range all {
			names = append(names, e.Name())
		}
	}
	for _, name := range names {
		file := filepath.Join(projects, name, id+".jsonl")
		if _, err := os.Stat(file); err == nil {
			return file, nil
		}
	}
	return "", fmt.Errorf("%w: %s", claude.ErrNoSession, id)
}

type importer struct {
	store   claude.SessionStore
	skipped func(file string, line int)
}

// transcript appends a file in batches.
func (im *importer) transcript(ctx context.Context, file string, key claude.SessionKey) error {
	f, err := regularfile.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	r := ndjson.NewReader(f, 0)
	var batch []json.RawMessage
	size := 0
	for n := 1; ; n++ {
		line, err := r.Next()
		if errors.Is(err, io.EOF) {
			return im.append(ctx, key, batch)
		}
		if err != nil {
			return err
		}
		text := strings.TrimSpace(line.Text)
		switch {
		case text == "":
			continue
		case line.TooLong || !json.Valid([]byte(text)):
			if im.skipped != nil {
				im.skipped(file, n)
			}
			continue
		}
		batch = append(batch, json.RawMessage(text))
		if size += len(text); len(batch) >= batchEntries || size >= batchBytes {
			if err := im.append(ctx, key, batch); err != nil {
				return err
			}
			batch, size = nil, 0
		}
	}
}

func (im *importer) append(ctx context.Context, key claude.SessionKey, batch []json.RawMessage) error {
	if len(batch) == 0 {
		return nil
	}
	return im.store.Append(ctx, key, batch)
}

// subagents appends the transcripts below a session, each followed by its metadata.
func (im *importer) subagents(ctx context.Context, session string, key claude.SessionKey) error {
	subpaths, err := subagentsIn(session)
	if err != nil {
		return err
	}
	for _, key.Subpath = range subpaths {
		path := filepath.Join(session, filepath.FromSlash(key.Subpath))
		if err := im.transcript(ctx, path+".jsonl", key); err != nil {
			return err
		}
		if err := im.metadata(ctx, path+".meta.json", key); err != nil {
			return err
		}
	}
	return nil
}

// maxMetadata limits the size of a metadata file of a transcript.
const maxMetadata = 16 << 20

func (im *importer) metadata(ctx context.Context, file string, key claude.SessionKey) error {
	entry, err := readMetadata(file)
	if err != nil {
		return err
	}
	if entry == nil {
		if _, err := os.Stat(file); err == nil && im.skipped != nil {
			im.skipped(file, 1)
		}
		return nil
	}
	return im.append(ctx, key, []json.RawMessage{entry})
}
