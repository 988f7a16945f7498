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

// A prompt that was edited and sent again has versions, each with the end of its branch;
// parallel tool results are not versions.
func TestVersions(t *testing.T) {
	const id = "0e0e0e0e-1111-4111-8111-111111111111"
	var b strings.Builder
	add := func(n, parent int, typ, content string) {
		up := "null"
		if parent > 0 {
			up = fmt.Sprintf("%q", uuid(parent))
		}
		fmt.Fprintf(&b, `{"type":%q,"uuid":%q,"parentUuid":%s,"sessionId":%q,"timestamp":"2026-11-15T10:00:%02dZ","cwd":"/p","message":{"role":%q,"content":%s}}`+"\n",
			typ, uuid(n), up, id, n, typ, content)
	}
	text := func(s string) string { return fmt.Sprintf(`[{"type":"text","text":%q}]`, s) }
	add(1, 0, "user", `"begin"`)
	add(2, 1, "assistant", `[{"type":"tool_use","id":"t1","name":"Read","input":{}},{"type":"tool_use","id":"t2","name":"Read","input":{}}]`)
	add(3, 2, "user", `[{"type":"tool_result","tool_use_id":"t1","content":"a"}]`)
	add(4, 2, "user", `[{"type":"tool_result","tool_use_id":"t2","content":"b"}]`)
	add(5, 4, "assistant", text("done"))
	add(6, 5, "user", `"first words"`)
	add(7, 6, "assistant", text("one"))
	add(8, 5, "user", text("better words"))
	add(9, 8, "assistant", text("two"))
	config := t.TempDir()
	dir := filepath.Join(config, "projects", "-p")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, id+".jsonl"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &claudeagent.Provider{Options: claude.Options{Env: map[string]string{"CLAUDE_CONFIG_DIR": config}, CleanEnv: true}}
	m, err := p.History().Metadata(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	want := []agent.HistoryVersion{
		{UUID: uuid(6), Parent: uuid(5), Leaf: uuid(7), Time: "2026-11-15T10:00:06Z"},
		{UUID: uuid(8), Parent: uuid(5), Leaf: uuid(9), Time: "2026-11-15T10:00:08Z"},
	}
	if fmt.Sprint(m.Versions) != fmt.Sprint(want) {
		t.Errorf("%+v\nwant %+v", m.Versions, want)
	}
}

func uuid(n int) string { return fmt.Sprintf("%08d-1111-4111-8111-111111111111", n) }
