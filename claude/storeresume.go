package claude

import (
	"github.com/seed7221b0f9/parley/internal/regularfile"

	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/internal/claudedir"
	"github.com/seed7221b0f9/parley/internal/deadline"
)

// restore writes a session of the store into a temporary configuration directory, with which
// the CLI then runs. If Resume names a session that the store does not have, the error is
// ErrNoSession; Continue without a session starts a new one. The returned function removes the
// directory.
func (l *launch) restore(ctx context.Context, guard *sessionGuard) (cleanup func(), err error) {
	nothing := func() {}
	if err := guard.begin(ctx); err != nil {
		return nil, err
	}
	if l.SessionStore == nil || l.Resume == "" && !l.Continue || l.Resume != "" && !claudedir.ValidID(l.Resume) {
		return nothing, nil
	}
	env := claudedir.Environ(l.environ())
	r := &restorer{launch: l, project: claudedir.Project(env, l.Dir), config: claudedir.Config(env)}
	r.stored = r.project
	id, entries, err := r.find(ctx)
	if err != nil {
		return nil, fmt.Errorf("claude: resuming from the session store: %w", err)
	}
	l.resumes(id)
	if id == "" {
		return nothing, nil
	}
	if err := guard.begin(ctx); err != nil {
		return nil, err
	}
	if entries, err = r.claim(ctx, id, entries); err != nil {
		return nil, fmt.Errorf("claude: resuming from the session store: %w", err)
	}
	tmp, err := r.write(ctx, id, entries)
	if err != nil {
		return nil, fmt.Errorf("claude: resuming from the session store: %w", err)
	}
	if !l.ForkSession {
		l.setStoreKey(r.key(id, ""))
	}
	l.useConfigDir(tmp)
	return func() { removeAll(tmp) }, nil
}

type restorer struct {
	launch  *launch
	project string // of the CLI's working directory
	stored  string // the project of the session in the store
	config  string // the user's configuration directory
}

func (r *restorer) key(id, subpath string) SessionKey {
	return SessionKey{ProjectKey: r.stored, SessionID: id, Subpath: subpath}
}

func (r *restorer) load(ctx context.Context, key SessionKey) ([]json.RawMessage, error) {
	limit := deadline.Or(r.launch.LoadTimeout, storeTimeout)
	ctx, cancel := deadline.With(ctx, limit, &StalledError{Phase: "loading a session", Since: limit})
	defer cancel()
	return r.launch.SessionStore.Load(ctx, key)
}

// find returns the session to resume: the named one, or the newest one with entries that are not a
// subagent's. The id is "" if it finds no session.
func (r *restorer) find(ctx context.Context) (id string, entries []json.RawMessage, err error) {
	if id := r.launch.Resume; id != "" {
		entries, err := r.named(ctx, id)
		return id, entries, err
	}
	sessions, err := r.launch.SessionStore.(SessionLister).ListSessions(ctx, r.project)
	if err != nil {
		return "", nil, err
	}
	slices.SortFunc(sessions, func(a, b StoredSession) int { return b.ModTime.Compare(a.ModTime) })
	for _, s := range sessions {
		entries, err := r.load(ctx, r.key(s.SessionID, ""))
		if err != nil {
			return "", nil, err
		}
		if len(entries) > 0 && claudedir.ValidID(s.SessionID) && !sidechain(entries[0]) {
			return s.SessionID, entries, nil
		}
	}
	return "", nil, nil
}

// named returns the session that Resume names: in the project of the directory, else in the only
// project that contains it.
func (r *restorer) named(ctx context.Context, id string) ([]json.RawMessage, error) {
	entries, err := r.load(ctx, r.key(id, ""))
	if err != nil || len(entries) > 0 {
		return entries, err
	}
	var projects []string
	if f, ok := r.launch.SessionStore.(SessionFinder); ok {
		if projects, err = f.FindSession(ctx, id); err != nil {
			return nil, err
		}
	}
	switch len(projects) {
	case 0:
		return nil, fmt.Errorf("%w: %s", ErrNoSession, id)
	case 1:
	default:
		return nil, fmt.Errorf("the session %s is in %d projects, but not in one of this directory", id, len(projects))
	}
	r.stored = projects[0]
	if entries, err = r.load(ctx, r.key(id, "")); err == nil && len(entries) == 0 {
		err = fmt.Errorf("%w: %s", ErrNoSession, id)
	}
	return entries, err
}

// claim fences off the current writer of the session and reloads the entries written meanwhile.
// A fork needs no claim, because it writes another session.
func (r *restorer) claim(ctx context.Context, id string, entries []json.RawMessage) ([]json.RawMessage, error) {
	c, ok := r.launch.SessionStore.(SessionClaimer)
	if !ok || r.launch.ForkSession {
		return entries, nil
	}
	key := r.key(id, "")
	if _, err := c.Claim(ctx, key); err != nil {
		return nil, err
	}
	return r.load(ctx, key)
}

func sidechain(entry json.RawMessage) bool {
	var e struct {
		IsSidechain bool `json:"isSidechain"`
	}
	return json.Unmarshal(entry, &e) == nil && e.IsSidechain
}

// write writes the configuration directory.
func (r *restorer) write(ctx context.Context, id string, entries []json.RawMessage) (_ string, err error) {
	dir, err := os.MkdirTemp(r.launch.tempDir(), "claude-resume-") // mode 0700
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			removeAll(dir)
		}
	}()
	base := filepath.Join(claudedir.Projects(dir), r.project)
	if err := writeTranscript(filepath.Join(base, id+".jsonl"), entries); err != nil {
		return "", err
	}
	if err := r.writeSubagents(ctx, filepath.Join(base, id), id); err != nil {
		return "", err
	}
	return dir, r.copyConfig(dir)
}

func (r *restorer) writeSubagents(ctx context.Context, dir, id string) error {
	lister, ok := r.launch.SessionStore.(SubkeyLister)
	if !ok {
		return nil
	}
	subpaths, err := lister.ListSubkeys(ctx, r.key(id, ""))
	if err != nil {
		return err
	}
	for _, sub := range subpaths {
		if !safeSubpath(sub) {
			return fmt.Errorf("the store has a subagent %q, which is not a path below its session", sub)
		}
		entries, err := r.load(ctx, r.key(id, sub))
		if err != nil {
			return err
		}
		if err := writeSubagent(filepath.Join(dir, filepath.FromSlash(sub)), entries); err != nil {
			return err
		}
	}
	return nil
}

// safeSubpath reports whether a subpath of a store is inside of the session's directory.
func safeSubpath(sub string) bool {
	if sub == "" || strings.ContainsAny(sub, "\\:\x00") || !filepath.IsLocal(filepath.FromSlash(sub)) {
		return false
	}
	for part := range strings.SplitSeq(sub, "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return true
}

// writeSubagent writes a subagent's transcript, and its metadata, which is one of the store's
// entries, into a file next to it.
func writeSubagent(path string, entries []json.RawMessage) error {
	var meta map[string]json.RawMessage
	rest := slices.DeleteFunc(slices.Clone(entries), func(e json.RawMessage) bool {
		var m map[string]json.RawMessage
		if json.Unmarshal(e, &m) != nil || string(m["type"]) != `"agent_metadata"` {
			return false
		}
		delete(m, "type")
		meta = m
		return true
	})
	if err := writeTranscript(path+".jsonl", rest); err != nil || meta == nil {
		return err
	}
	text, err := json.Marshal(meta)
	if err != nil {
		return err
	}
	return os.WriteFile(path+".meta.json", text, 0o600)
}

func writeTranscript(path string, entries []json.RawMessage) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	var b bytes.Buffer
	for _, e := range entries {
		if err := json.Compact(&b, e); err != nil {
			return fmt.Errorf("an entry of the store: %w", err)
		}
		b.WriteByte('\n')
	}
	return os.WriteFile(path, b.Bytes(), 0o600)
}

// copyConfig copies the files that the CLI needs to log in and to apply the user's settings,
// except for values that the CLI would write back: a refresh token used in two places becomes
// invalid in one of them.
func (r *restorer) copyConfig(dir string) error {
	from := r.config
	files := []struct {
		src, name string
		edit      func(map[string]any)
	}{
		{filepath.Join(from, ".credentials.json"), ".credentials.json", dropRefreshToken},
		{filepath.Join(from, ".claude.json"), ".claude.json", nil},
		{filepath.Join(filepath.Dir(from), ".claude.json"), ".claude.json", nil},
		{filepath.Join(from, "settings.json"), "settings.json", dropPlugins},
		{filepath.Join(from, "cowork_settings.json"), "cowork_settings.json", dropPlugins},
	}
	for _, f := range files {
		if err := copyJSON(f.src, filepath.Join(dir, f.name), f.edit); err != nil {
			return err
		}
	}
	return nil
}

// maxConfig is the maximum size of a copied configuration file.
const maxConfig = 64 << 20

// copyJSON copies a JSON file, changed by edit; it skips a missing source or an existing
// target, and copies a file that is not JSON unchanged.
func copyJSON(src, dst string, edit func(map[string]any)) error {
	if _, err := os.Stat(dst); err == nil {
		return nil
	}
	data, err := regularfile.Read(src, maxConfig)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var v map[string]any
	if edit != nil && json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &v) == nil {
		edit(v)
		if data, err = json.Marshal(v); err != nil {
			return err
		}
	}
	return os.WriteFile(dst, data, 0o600)
}

func dropRefreshToken(v map[string]any) {
	if oauth, ok := v["claudeAiOauth"].(map[string]any); ok {
		delete(oauth, "refreshToken")
	}
}

func dropPlugins(v map[string]any) {
	for _, k := range []string{"enabledPlugins", "extraKnownMarketplaces", "additionalMarketplaces"} {
		delete(v, k)
	}
	if env, ok := v["env"].(map[string]any); ok {
		delete(env, "CLAUDE_CONFIG_DIR")
	}
}

// removeAll removes a directory. It retries, because a process that has just ended may still
// hold a file.
func removeAll(dir string) {
	for i := range 4 {
		if os.RemoveAll(dir) == nil {
			return
		}
		<-time.After(time.Duration(i+1) * 50 * time.Millisecond)
	}
}
