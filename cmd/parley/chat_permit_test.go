package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
)

// touchZ is what the CLI suggests for touch z: more than a rule.
func touchZ() *claude.PermissionRequest {
	return &claude.PermissionRequest{ToolName: "Bash", Suggestions: []message.PermissionUpdate{
		{Type: message.UpdateSetMode, Mode: message.ModeAcceptEdits, Destination: message.DestinationSession},
		{Type: message.UpdateAddDirectories, Directories: []string{"/src"}, Destination: message.DestinationSession},
		{
			Type: message.UpdateAddRules, Behavior: message.BehaviorAllow, Destination: message.DestinationLocalSettings,
			Rules: []message.PermissionRule{{ToolName: "Bash", RuleContent: "touch:*"}},
		},
	}}
}

// Always allows the rule; everything that the CLI suggests is shown, and takes a
// word of its own.
func TestPermissionAlways(t *testing.T) {
	p := touchZ()
	a := newAlways(p)
	text := strings.Join(permitLines(p, a), "\n")
	for _, want := range []string{
		"a always (allow Bash(touch:*) in localSettings) ·",
		"all, in full: always, and what else the agent suggests (permission mode acceptEdits in session; addDirectories /src in session; allow Bash(touch:*) in localSettings)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %q", want, text)
		}
	}
	ignore := cmpopts.IgnoreUnexported(message.PermissionUpdate{}, claude.Allow{})
	for answer, want := range map[string]claude.PermissionResult{
		"y":            &claude.Allow{Classification: claude.ClassifiedTemporary},
		"a":            &claude.Allow{UpdatedPermissions: p.Suggestions[2:], Classification: claude.ClassifiedPermanent},
		"Always":       &claude.Allow{UpdatedPermissions: p.Suggestions[2:], Classification: claude.ClassifiedPermanent},
		"all":          &claude.Allow{UpdatedPermissions: p.Suggestions, Classification: claude.ClassifiedPermanent},
		"all of it":    nil,
		"n not that":   &claude.Deny{Message: "not that", Classification: claude.ClassifiedReject},
		"what is this": nil,
	} {
		if diff := cmp.Diff(want, permission(p, answer, a), ignore); diff != "" {
			t.Errorf("%s (-want +got):\n%s", answer, diff)
		}
	}
}

// Without a rule among the suggestions there is no always but the whole.
func TestPermissionAlwaysWithoutRules(t *testing.T) {
	p := touchZ()
	p.Suggestions = p.Suggestions[:1]
	a := newAlways(p)
	if text := strings.Join(permitLines(p, a), "\n"); strings.Contains(text, "a always") || !strings.Contains(text, "all, in full") {
		t.Errorf("%q", text)
	}
	if r := permission(p, "a", a); r != nil {
		t.Errorf("a is taken for %+v", r)
	}
	p.SuppressAlwaysAllowRule = true
	if a := newAlways(p); a.all != nil || a.rules != nil {
		t.Errorf("%+v", a)
	}
}
