package claudeagent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudeagent"
)

// Blocks are named by their start hour, and pauses between them have no row.
func TestUsage_blocks(t *testing.T) {
	const id = "0e0e0e0e-2222-4222-8222-222222222222"
	var b strings.Builder
	for i, ts := range []string{"2026-11-14T06:20:00Z", "2026-11-14T09:00:00Z", "2026-11-15T03:10:00Z"} {
		fmt.Fprintf(&b, `{"type":"assistant","uuid":%q,"parentUuid":null,"sessionId":%q,"timestamp":%q,"cwd":"/p","requestId":"req_%d",`+
			`"message":{"id":"msg_%d","role":"assistant","model":"claude-sonnet-4-5","content":[],"usage":{"input_tokens":1000,"output_tokens":100}}}`+"\n", uuid(i), id, ts, i, i)
	}
	config := t.TempDir()
	dir := filepath.Join(config, "projects", "-p")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, id+".jsonl"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &claudeagent.Provider{Options: claude.Options{Env: map[string]string{"CLAUDE_CONFIG_DIR": config}, CleanEnv: true}}
	rows, err := p.Usage(t.Context(), agent.UsageQuery{GroupBy: "block"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rows {
		got = append(got, fmt.Sprintf("%s %d $%.4f", r.Group, r.InputTokens, *r.CostUSD))
	}
	want := "2026-11-14T06:00:00Z 2000 $0.0090, 2026-11-15T03:00:00Z 1000 $0.0045"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("blocks: %s\nwant    %s", s, want)
	}
}
