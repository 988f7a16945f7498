package claude

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// heldStore is a store with preset entries.
type heldStore struct {
	entries map[string][]json.RawMessage // by subpath
	loadErr error
	claims  int
}

func (s *heldStore) Append(context.Context, SessionKey, []json.RawMessage) error { return nil }

func (s *heldStore) Load(_ context.Context, key SessionKey) ([]json.RawMessage, error) {
	return s.entries[key.Subpath], s.loadErr
}

func (s *heldStore) ListSubkeys(context.Context, SessionKey) (list []string, err error) {
	for sub := range s.entries {
		if sub != "" {
			list = append(list, sub)
		}
	}
	return list, nil
}

func (s *heldStore) Claim(context.Context, SessionKey) (SessionStore, error) {
	s.claims++
	return s, nil
}

const heldID = "11111111-1111-4111-8111-111111111111"

// resumeWorld returns options for a user with a login and settings, and a directory for
// temporary files.
func resumeWorld(t *testing.T, store SessionStore) (opts *Options, tmp string) {
	t.Helper()
	home, tmp := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", tmp)
	for name, text := range map[string]string{
		".claude/.credentials.json": `{"claudeAiOauth":{"accessToken":"a","refreshToken":"r"},"other":1}`,
		".claude/settings.json":     "\ufeff" + `{"model":"m","enabledPlugins":{},"extraKnownMarketplaces":{},"additionalMarketplaces":{},"env":{"A":"1","CLAUDE_CONFIG_DIR":"/x"}}`,
		".claude.json":              `{"theme":"dark"}`,
	} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return &Options{SessionStore: store, Resume: heldID, Dir: t.TempDir(), CleanEnv: true, Env: map[string]string{"HOME": home},
		CLIPath: filepath.Join(home, "no-such-cli")}, tmp
}

func TestRestore(t *testing.T) {
	store := &heldStore{entries: map[string][]json.RawMessage{
		"":                  {json.RawMessage(`{"n": 1}`), json.RawMessage(`{"n": 2}`)},
		"subagents/agent-1": {json.RawMessage(`{"type":"agent_metadata","agentType":"old"}`), json.RawMessage(`{"n": 3}`), json.RawMessage(`{"type":"agent_metadata","agentType":"x"}`)},
	}}
	opts, tmp := resumeWorld(t, store)
	l := unchecked(opts)
	guard := newSessionGuard(l)
	cleanup, err := l.restore(t.Context(), guard)
	if err != nil {
		t.Fatal(err)
	}
	dir := l.Env["CLAUDE_CONFIG_DIR"]
	project := filepath.Join("projects", ProjectKey(opts.Dir), heldID)
	for name, want := range map[string]string{
		project + ".jsonl":                       "{\"n\":1}\n{\"n\":2}\n",
		project + "/subagents/agent-1.jsonl":     "{\"n\":3}\n",
		project + "/subagents/agent-1.meta.json": `{"agentType":"x"}`,
		".credentials.json":                      `{"claudeAiOauth":{"accessToken":"a"},"other":1}`,
		".claude.json":                           `{"theme":"dark"}`,
		"settings.json":                          `{"env":{"A":"1"},"model":"m"}`,
	} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(text) != want {
			t.Errorf("%s: %s, %v; want err == nil and string(text) == want", name, text, err)
		}
	}
	err = filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Dir(dir) != tmp || !strings.HasPrefix(filepath.Base(dir), "claude-resume-") || opts.Resume != heldID || store.claims != 1 {
		t.Errorf("%s, resumed %s, claimed %d times", dir, opts.Resume, store.claims)
	}
	cleanup()
	guard.release()
	wantEmpty(t, tmp)
}

func wantEmpty(t *testing.T, dir string) {
	t.Helper()
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// After any failure no file is left over or written outside the directory.
func TestRestoreFails(t *testing.T) {
	failed := errors.New("no network")
	entry := []json.RawMessage{json.RawMessage(`{}`)}
	for name, store := range map[string]*heldStore{
		"load":        {loadErr: failed},
		"no JSON":     {entries: map[string][]json.RawMessage{"": {json.RawMessage(`{`)}}},
		"no CLI":      {entries: map[string][]json.RawMessage{"": entry}},
		"parent":      {entries: map[string][]json.RawMessage{"": entry, "../../x": entry}},
		"absolute":    {entries: map[string][]json.RawMessage{"": entry, "/x": entry}},
		"dot":         {entries: map[string][]json.RawMessage{"": entry, "a/./b": entry}},
		"drive":       {entries: map[string][]json.RawMessage{"": entry, "C:x": entry}},
		"backslashes": {entries: map[string][]json.RawMessage{"": entry, `..\x`: entry}},
		"NUL":         {entries: map[string][]json.RawMessage{"": entry, "a\x00b": entry}},
	} {
		t.Run(name, func(t *testing.T) {
			opts, tmp := resumeWorld(t, store)
			_, err := Connect(t.Context(), opts)
			if err == nil || name == "load" && !errors.Is(err, failed) || name == "no CLI" && !errors.Is(err, ErrNotFound) {
				t.Errorf("%v; want err != nil and not (name == \"load\" && !errors.Is(err, failed)) and not (name == \"no CLI\" && !errors.Is(err, ErrNotFound))", err)
			}
			wantEmpty(t, tmp)
			if locks, _ := filepath.Glob(filepath.Join(opts.Env["HOME"], ".claude/parley/locks/*")); len(locks) > 0 {
				t.Errorf("left behind: %v", locks)
			}
		})
	}
}

// A named session that the store does not have is an error, never a new conversation.
func TestResumeUnknownSession(t *testing.T) {
	opts, tmp := resumeWorld(t, &heldStore{})
	_, err := Connect(t.Context(), opts)
	if !errors.Is(err, ErrNoSession) || !strings.Contains(err.Error(), opts.Resume) {
		t.Errorf("%v; want errors.Is(err, ErrNoSession) and strings.Contains(err.Error(), opts.Resume)", err)
	}
	wantEmpty(t, tmp)
}
