package e2e_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/message"
)

// The CLI suggests more than a rule for touch. After "always" with only the rules,
// similar calls run without asking, and Write and rm still ask.
func TestAlwaysAllowsOnlyTheRule(t *testing.T) {
	t.Parallel()
	for name, narrow := range map[string]bool{"rules": true, "bundle": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bash := func(command string) claudetest.Reply {
				return claudetest.Use("Bash", map[string]any{"command": command, "description": "x"})
			}
			write := claudetest.Use("Write", map[string]any{"file_path": "w", "content": "x"})
			w := newWorld(t, bash("touch z"), bash("touch z"), bash("rm z"), write, claudetest.Say("done"))
			var asked []string
			var suggested []message.PermissionUpdate
			w.opts.CanUseTool = func(_ context.Context, p *claude.PermissionRequest) (claude.PermissionResult, error) {
				what := p.ToolName
				if p.ToolName == "Bash" {
					what, _, _ = strings.Cut(p.Input.Value().(map[string]any)["command"].(string), " ")
				}
				if asked = append(asked, what); len(asked) > 1 {
					return &claude.Deny{Message: "no"}, nil
				}
				suggested = p.Suggestions
				updates := p.Suggestions
				if narrow {
					updates = claude.RulesOnly(updates)
				}
				return &claude.Allow{UpdatedPermissions: updates}, nil
			}
			collect(claude.Query(t.Context(), "Go on.", w.opts)).one(t)
			wider := func(u message.PermissionUpdate) bool { return u.Type != message.UpdateAddRules }
			if !slices.ContainsFunc(suggested, wider) || len(claude.RulesOnly(suggested)) == 0 {
				t.Fatalf("the CLI suggests %+v: the test shows nothing", suggested)
			}
			want := []string{"touch", "rm", "Write"}
			if !narrow { // the effect of the helper
				want = []string{"touch"}
			}
			if !slices.Equal(asked, want) {
				t.Errorf("asked about %v, want %v", asked, want)
			}
		})
	}
}
