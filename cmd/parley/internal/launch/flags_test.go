package launch

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/spf13/cobra"
)

func parse(t *testing.T, args ...string) (*claude.Options, error) {
	t.Helper()
	f, cmd := &Flags{}, &cobra.Command{}
	f.Register(cmd)
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	return f.build()
}

func TestFlags(t *testing.T) {
	servers := filepath.Join(t.TempDir(), "m.json")
	if err := os.WriteFile(servers, []byte(`{"mcpServers":{"x":{"command":"y"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	abs := func(name string) string {
		path, err := filepath.Abs(name)
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	preset := &claude.PromptPreset{}
	base := claude.Options{SystemPrompt: preset, IncludePartialMessages: true}
	with := func(change func(*claude.Options)) claude.Options {
		o := base
		change(&o)
		return o
	}
	tests := []struct {
		args []string
		want claude.Options
	}{
		{nil, base},
		{[]string{"-m", "opus", "--fallback-model", "haiku", "--effort", "max", "--max-turns", "3"}, with(func(o *claude.Options) {
			o.Model, o.FallbackModel, o.Effort, o.MaxTurns = "opus", "haiku", "max", 3
		})},
		{[]string{"--system-prompt", ""}, with(func(o *claude.Options) { o.SystemPrompt = claude.PromptText("") })},
		{[]string{"--append-system-prompt", "x"}, with(func(o *claude.Options) { o.SystemPrompt = &claude.PromptPreset{Append: "x"} })},
		{[]string{"--tools", "", "--setting-sources", ""}, with(func(o *claude.Options) { o.Tools, o.SettingSources = []string{}, []string{} })},
		{[]string{"--tools", "Read, Bash", "--setting-sources=user,local"}, with(func(o *claude.Options) {
			o.Tools, o.SettingSources = []string{"Read", "Bash"}, []string{"user", "local"}
		})},
		{[]string{"--allowed-tools", "Bash(a, b)", "--allowed-tools", "Read", "--disallowed-tools", "Write"}, with(func(o *claude.Options) {
			o.AllowedTools, o.DisallowedTools = []string{"Bash(a, b)", "Read"}, []string{"Write"}
		})},
		{[]string{"--max-budget-usd", "0.5", "--permission-mode", "plan"}, with(func(o *claude.Options) {
			o.MaxBudgetUSD, o.PermissionMode = new(0.5), message.ModePlan
		})},
		{[]string{"--cwd", "d", "--add-dir", "e", "--settings", "s.json", "--mcp-config", servers}, with(func(o *claude.Options) {
			o.Dir, o.AdditionalDirectories, o.Settings = abs("d"), []string{abs("e")}, abs("s.json")
			o.ExtraArgs = map[string]*string{"mcp-config": new(servers)}
		})},
		{[]string{"--settings", "{}", "--mcp-config", ` {"mcpServers":{}}`, "--json-schema", "{}"}, with(func(o *claude.Options) {
			o.Settings, o.JSONSchema = "{}", "{}"
			o.ExtraArgs = map[string]*string{"mcp-config": new(` {"mcpServers":{}}`)}
		})},
		{[]string{"--resume", "x", "--fork-session", "--session-id", "y", "--cli", "/c", "--output", "json"}, with(func(o *claude.Options) {
			o.Resume, o.ForkSession, o.SessionID, o.CLIPath, o.IncludePartialMessages = "x", true, "y", "/c", false
		})},
		{[]string{"--extra-arg", "a", "--extra-arg", "--b=c=d"}, with(func(o *claude.Options) {
			o.ExtraArgs = map[string]*string{"a": nil, "b": new("c=d")}
		})},
	}
	for _, tt := range tests {
		got, err := parse(t, tt.args...)
		if err != nil {
			t.Errorf("%q: %v", tt.args, err)
			continue
		}
		if diff := cmp.Diff(&tt.want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(claude.Options{}, "Logger")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.args, diff)
		}
	}
}
