package e2e_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
)

// A repository above the temporary directory, with its own settings, is neither read nor
// written: its rule does not allow the tool, and a rule that the user adds is not written
// there.
func TestHermeticOptionsUnderARepository(t *testing.T) {
	t.Parallel()
	e2e.CLI(t)
	repo := t.TempDir()
	settings := filepath.Join(repo, ".claude", "settings.local.json")
	const planted = `{"permissions":{"allow":["Bash(touch a)"]}}`
	for _, dir := range []string{filepath.Join(repo, ".git"), filepath.Dir(settings), filepath.Join(repo, "tmp")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range map[string]string{
		settings: planted, filepath.Join(repo, ".git", "HEAD"): "ref: refs/heads/planted\n", filepath.Join(repo, "CLAUDE.md"): "planted memory\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	api := claudetest.StartFakeAPI(t, claudetest.Replies(
		claudetest.Use("Bash", map[string]any{"command": "touch a", "description": "touch"}), claudetest.Say("done"),
	))
	opts, err := claudetest.HermeticOptions(filepath.Join(repo, "tmp"), api.URL())
	if err != nil {
		t.Fatal(err)
	}
	opts.SettingSources = []string{"user", "project", "local"}
	asked := 0
	opts.CanUseTool = func(_ context.Context, p *claude.PermissionRequest) (claude.PermissionResult, error) {
		asked++
		return &claude.Allow{UpdatedPermissions: []message.PermissionUpdate{{
			Type: message.UpdateAddRules, Behavior: message.BehaviorAllow, Destination: message.DestinationLocalSettings,
			Rules: []message.PermissionRule{{ToolName: "Bash", RuleContent: "touch b"}},
		}}}, nil
	}
	got := collect(claude.Query(t.Context(), "Touch it.", opts))
	if r := got.one(t); r.IsError || asked != 1 {
		t.Errorf("asked %d times, result %s", asked, r.Text())
	}
	if text, err := os.ReadFile(settings); err != nil || string(text) != planted {
		t.Errorf("the repository's settings are now %s, %v", text, err)
	}
	own, err := os.ReadFile(filepath.Join(opts.Dir, ".claude", "settings.local.json"))
	if err != nil || !strings.Contains(string(own), "touch b") {
		t.Errorf("the project's own settings are %s, %v", own, err)
	}
	for _, r := range api.Requests() {
		if strings.Contains(string(r.Body), "refs/heads/planted") || strings.Contains(string(r.Body), "Current branch: planted") {
			t.Errorf("the model was told of the repository above")
		}
	}
}
