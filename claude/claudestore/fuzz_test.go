package claudestore_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudestore"
)

// FuzzDir puts arbitrary text in the files of a store: Load returns it or an error,
// and appended entries can be loaded afterwards.
func FuzzDir(f *testing.F) {
	f.Add([]byte("{\"uuid\":\"a\"}\n{\"uuid\":\"a\"}\ntorn"))
	f.Add([]byte("1\n"))
	f.Add([]byte(`{"sessionId":"s","mtime":1,"data":{}}`))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := claudestore.NewDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		key := claude.SessionKey{ProjectKey: "-p", SessionID: "s"}
		for _, ext := range []string{".jsonl", ".summary", ".claim"} {
			path := filepath.Join(dir, "-p", "s"+ext)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		before, err := d.Load(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = d.ListSummaries(t.Context(), "-p")
		_, _ = d.Claim(t.Context(), key)
		if d.Append(t.Context(), key, []json.RawMessage{json.RawMessage(`{"n":1}`)}) != nil {
			return // the text is not a transcript
		}
		after, err := d.Load(t.Context(), key)
		if err != nil || len(after) < len(before) || string(after[len(after)-1]) != `{"n":1}` {
			t.Errorf("%d entries become %d: %v", len(before), len(after), err)
		}
	})
}
