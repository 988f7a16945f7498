package usage

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/history"
	"github.com/seed7221b0f9/parley/transcript/usage"
)

// With --live, new answers of Codex are added once.
func TestTotals_update(t *testing.T) {
	home := t.TempDir()
	name := filepath.Join(home, "sessions", "rollout-2026-01-01T00-00-00-01a1de9a-3164-7f42-a449-0a13e079865e.jsonl")
	if err := os.Mkdir(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	text := `{"type":"session_meta","payload":{"id":"01a1de9a-3164-7f42-a449-0a13e079865e","cwd":"/p"}}` + "\n"
	const count = `{"timestamp":"2026-01-01T00:00:00Z","type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":7,"total_tokens":7}}}}` + "\n"
	write := func(more string) {
		text += more
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(count)
	f := &reportFlags{whose: history.Whose{Agent: history.Codex, CodexHome: home, Changed: func(string) bool { return false }}, now: time.Now}
	b, err := f.scan(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	check := func(tokens int64, changed bool, before int64) {
		t.Helper()
		if got := b.Report(usage.ByDay, usage.View{}).Total.Total(); got != tokens || changed != (b.bytes() != before) {
			t.Errorf("%d tokens, want %d; %d bytes read after %d", got, tokens, b.bytes(), before)
		}
	}
	check(7, true, 0)
	before := b.bytes()
	if err := b.update(t.Context()); err != nil {
		t.Fatal(err)
	}
	check(7, false, before)
	write(count + "not JSON\n" + count)
	if err := b.update(t.Context()); err != nil {
		t.Fatal(err)
	}
	check(21, true, before)
	if err := os.WriteFile(filepath.Join(filepath.Dir(name), "rollout-2026-01-01T00-00-01-02a1de9a-3164-7f42-a449-0a13e079865e.jsonl"), []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // each time
		if err := b.update(t.Context()); err != nil || len(b.notes()) != 1 {
			t.Errorf("a file that is not a rollout: %q, %v", b.notes(), err)
		}
	}
}
