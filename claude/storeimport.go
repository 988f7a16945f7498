package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed7221b0f9/parley/internal/ndjson"
)

// ImportOptions say where [ImportSession] finds a session. Nil is the defaults.
type ImportOptions struct {
	// ConfigDir is the CLI's configuration directory; "" is that of this process.
	ConfigDir string
	// Dir is the directory that the session belongs to; "" looks for it in all.
	Dir string
	// MainOnly leaves the subagents' transcripts out.
	MainOnly bool
	// Skipped is told of each line that is no JSON, which is not imported. Empty
	// lines are not counted.
	Skipped func(file string, line int)
}

// ErrNoSession: there is no such session in the CLI's configuration directory.
var ErrNoSession = errors.New("claude: no such session")

// ImportSession appends a session of the CLI's own to a store, where it can be
// resumed from then on, and returns its key. The project of the key is the
// directory that the CLI keeps the session in. A session that was imported
// before is completed: what a store has it leaves out by its uuid.
func ImportSession(ctx context.Context, store SessionStore, sessionID string, opts *ImportOptions) (SessionKey, error) {
	if opts == nil {
		opts = &ImportOptions{}
	}
	key := SessionKey{SessionID: sessionID}
	if !validUUID(sessionID) {
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

func (o *ImportOptions) find(id string) (string, error) {
	dir := o.ConfigDir
	if dir == "" {
		dir = configDir(os.Environ())
	}
	project := "*"
	if o.Dir != "" {
		project = ProjectKey(o.Dir)
	}
	found, err := filepath.Glob(filepath.Join(dir, "projects", project, id+".jsonl"))
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "", fmt.Errorf("%w: %s", ErrNoSession, id)
	}
	return found[0], nil
}

type importer struct {
	store   SessionStore
	skipped func(file string, line int)
}

// transcript appends a file batch by batch.
func (im *importer) transcript(ctx context.Context, file string, key SessionKey) error {
	f, err := os.Open(file)
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
		if size += len(text); len(batch) >= mirrorEntries || size >= mirrorBytes {
			if err := im.append(ctx, key, batch); err != nil {
				return err
			}
			batch, size = nil, 0
		}
	}
}

func (im *importer) append(ctx context.Context, key SessionKey, batch []json.RawMessage) error {
	if len(batch) == 0 {
		return nil
	}
	return im.store.Append(ctx, key, batch)
}

// subagents appends the transcripts below a session, each with its metadata
// behind it.
func (im *importer) subagents(ctx context.Context, session string, key SessionKey) error {
	root := filepath.Join(session, "subagents")
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && path == root:
			return nil
		case err != nil:
			return err
		case !d.Type().IsRegular() || filepath.Ext(path) != ".jsonl":
			return nil
		}
		path = strings.TrimSuffix(path, ".jsonl")
		rel, err := filepath.Rel(session, path)
		if err != nil {
			return err
		}
		sub := key
		sub.Subpath = filepath.ToSlash(rel)
		if err := im.transcript(ctx, path+".jsonl", sub); err != nil {
			return err
		}
		return im.metadata(ctx, path+".meta.json", sub)
	})
}

func (im *importer) metadata(ctx context.Context, file string, key SessionKey) error {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var meta map[string]json.RawMessage
	if json.Unmarshal(text, &meta) != nil || meta == nil {
		if im.skipped != nil {
			im.skipped(file, 1)
		}
		return nil
	}
	meta["type"] = json.RawMessage(`"agent_metadata"`)
	entry, err := json.Marshal(meta)
	if err != nil {
		return err
	}
	return im.append(ctx, key, []json.RawMessage{entry})
}
