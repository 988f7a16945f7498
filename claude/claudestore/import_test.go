package claudestore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudestore"
)

const importedID = "11111111-1111-4111-8111-111111111111"

// batchStore records the batches of each transcript.
type batchStore map[string][][]json.RawMessage

func (s batchStore) Append(_ context.Context, key claude.SessionKey, entries []json.RawMessage) error {
	name := key.ProjectKey + "/" + key.SessionID[:4] + "/" + key.Subpath
	s[name] = append(s[name], entries)
	return nil
}

func (s batchStore) Load(context.Context, claude.SessionKey) ([]json.RawMessage, error) {
	return nil, nil
}

func TestImportSession(t *testing.T) {
	config := t.TempDir()
	var text strings.Builder
	for i := range 1201 {
		fmt.Fprintf(&text, "{\"n\":%d}\n", i)
	}
	text.WriteString("no JSON\n\n{\"big\":\"" + strings.Repeat("x", 1<<20) + "\"}\n{\"last\":1}\n{\"last\":2}\n{\"torn")
	base := filepath.Join(config, "projects", "-some-where", importedID)
	for name, content := range map[string]string{
		".jsonl": text.String(), "/subagents/agent-1.jsonl": "{\"s\":1}\n", "/subagents/agent-1.meta.json": `{"agentType":"x"}`,
		"/subagents/deep/agent-2.jsonl": "{\"s\":2}\n", "/tool-results/x.txt": "no transcript",
	} {
		if err := os.MkdirAll(filepath.Dir(base+name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(base+name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	store := batchStore{}
	var skipped []int
	key, err := claudestore.ImportSession(t.Context(), store, importedID, &claudestore.ImportOptions{ConfigDir: config,
		Skipped: func(_ string, line int) { skipped = append(skipped, line) }})
	if err != nil || key != (claude.SessionKey{ProjectKey: "-some-where", SessionID: importedID}) {
		t.Fatalf("%v, %v; want err == nil and key == (claude.SessionKey{ProjectKey: \"-some-where\", SessionID: importedID})", key, err)
	}
	var sizes []int
	for _, b := range store["-some-where/1111/"] {
		sizes = append(sizes, len(b))
	}
	// Line 1202 is not JSON, and the last line is cut off.
	if fmt.Sprint(sizes) != "[500 500 202 2]" || fmt.Sprint(skipped) != "[1202 1206]" {
		t.Errorf("batches of %v, skipped %v", sizes, skipped)
	}
	if got := fmt.Sprintf("%s", store["-some-where/1111/subagents/agent-1"]); got != `[[{"s":1}] [{"agentType":"x","type":"agent_metadata"}]]` {
		t.Errorf("the subagent's: %s", got)
	}
	if len(store) != 3 || store["-some-where/1111/subagents/deep/agent-2"] == nil {
		t.Errorf("%d transcripts", len(store))
	}
	_, err = claudestore.ImportSession(t.Context(), store, importedID, &claudestore.ImportOptions{ConfigDir: config, Dir: t.TempDir()})
	if !errors.Is(err, claude.ErrNoSession) {
		t.Errorf("of another directory: %v", err)
	}
}
