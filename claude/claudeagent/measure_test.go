package claudeagent_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudeagent"
	"github.com/seed7221b0f9/parley/transcript"
)

// TestProvider_Measure checks the size of a transcript, and that only complete lines of JSON count as readable.
func TestProvider_Measure(t *testing.T) {
	const id = "0a0a0a0a-0000-4000-8000-00000000beef"
	config := t.TempDir()
	p := &claudeagent.Provider{Options: claude.Options{Env: map[string]string{"CLAUDE_CONFIG_DIR": config}}}
	if _, err := p.Measure(t.Context(), id, false); !errors.Is(err, agent.ErrNotFound) {
		t.Errorf("without a transcript the error is %v, want %v", err, agent.ErrNotFound)
	}
	file := filepath.Join(config, "projects", "-work", id+".jsonl")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	line := `{"type":"user","text":"` + strings.Repeat("x", 100_000) + `"}` + "\n"
	for name, tt := range map[string]struct {
		text string
		want int
	}{
		"whole":            {line + line, 2 * len(line)},
		"cut":              {line + line[:50], len(line)},
		"zeroed":           {line + strings.Repeat("\x00", 50) + "\n" + line, 2 * len(line)},
		"a very long line": {strings.Repeat("x", transcript.DefaultMaxLine) + "\n" + line, transcript.DefaultMaxLine + 1 + len(line)},
		"without the end":  {strings.TrimSuffix(line, "\n"), 0},
	} {
		if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		size, err := p.Measure(t.Context(), id, false)
		readable, failed := p.Measure(t.Context(), id, true)
		if err != nil || failed != nil || size != int64(len(tt.text)) || readable != int64(tt.want) {
			t.Errorf("%s: %d and %d readable bytes (%v, %v), want %d and %d", name, size, readable, err, failed, len(tt.text), tt.want)
		}
	}
}
