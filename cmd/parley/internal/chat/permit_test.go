package chat

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/claudeevent"
	"github.com/seed7221b0f9/parley/claude/message"
)

const (
	setMode = `{"type":"setMode","mode":"acceptEdits","destination":"session"}`
	addDirs = `{"type":"addDirectories","directories":["/src"],"destination":"session"}`
	addRule = `{"type":"addRules","behavior":"allow","destination":"localSettings","rules":[{"toolName":"Bash","ruleContent":"touch:*"}]}`
)

// touchZ is a request of Claude Code with suggestions.
func touchZ(t *testing.T, suggestions ...string) *event.PermissionRequest {
	t.Helper()
	request := `{"subtype":"can_use_tool","tool_name":"Bash","input":{},"permission_suggestions":[` + strings.Join(suggestions, ",") + `]}`
	r, ok := new(claudeevent.Converter).Ask("1", message.JSON(request))[0].(*event.PermissionRequest)
	if !ok {
		t.Fatal("not a request for permission")
	}
	return r
}

// Always allows the rule; everything that the agent suggests is shown, and takes a word of its own.
func TestPermissionAlways(t *testing.T) {
	r := touchZ(t, setMode, addDirs, addRule)
	text := strings.Join(permitLines(r), "\n")
	for _, want := range []string{
		"a always (allow Bash(touch:*) in localSettings) ·",
		"all, in full: always, and what else the agent suggests (permission mode acceptEdits in session; addDirectories /src in session; allow Bash(touch:*) in localSettings)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %q", want, text)
		}
	}
	rule := &agent.PermissionAnswer{Allow: true, UpdatedPermissions: json.RawMessage("[" + addRule + "]")}
	for answer, want := range map[string]*agent.PermissionAnswer{
		"y":            {Allow: true},
		"a":            rule,
		"Always":       rule,
		"all":          {Allow: true, UpdatedPermissions: json.RawMessage("[" + setMode + "," + addDirs + "," + addRule + "]")},
		"all of it":    nil,
		"s":            nil,
		"n not that":   {Message: "not that"},
		"what is this": nil,
	} {
		if diff := cmp.Diff(want, permitted(r, answer)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", answer, diff)
		}
	}
}

// Without a rule among the suggestions there is no always but the whole.
func TestPermissionAlwaysWithoutRules(t *testing.T) {
	r := touchZ(t, setMode)
	if text := strings.Join(permitLines(r), "\n"); strings.Contains(text, "a always") || !strings.Contains(text, "all, in full") {
		t.Errorf("%q", text)
	}
	if a := permitted(r, "a"); a != nil {
		t.Errorf("a is taken for %+v", a)
	}
}

// What the agent advises against takes the whole word.
func TestPermissionDefaultToNo(t *testing.T) {
	r := touchZ(t, addRule)
	r.DefaultToNo = true
	if a := permitted(r, "y"); a != nil {
		t.Errorf("y is taken for %+v", a)
	}
	if a := permitted(r, " Yes "); a == nil || !a.Allow || a.UpdatedPermissions != nil {
		t.Errorf("yes is taken for %+v", a)
	}
	if text := strings.Join(permitLines(r), "\n"); strings.Contains(text, "always") || !strings.Contains(text, "yes, in full") {
		t.Errorf("%q", text)
	}
}

// The choices that an agent offers are answered with its own ids.
func TestPermissionChoices(t *testing.T) {
	r := &event.PermissionRequest{Choices: []event.Choice{
		{ID: "once", Label: "Allow", Behavior: event.ResolvedAllow, Scope: event.ScopeOnce},
		{ID: "ses", Label: "Allow for this session", Behavior: event.ResolvedAllow, Scope: event.ScopeSession},
		{ID: "never", Label: "Never", Behavior: event.ResolvedDeny, Scope: event.ScopeAlways},
	}}
	if text := strings.Join(permitLines(r), "\n"); text != "y yes · s Allow for this session · n no, with a word why if you like" {
		t.Errorf("%q", text)
	}
	if diff := cmp.Diff(&agent.PermissionAnswer{Allow: true, Choice: "ses", Scope: event.ScopeSession}, permitted(r, "s")); diff != "" {
		t.Errorf("s (-want +got):\n%s", diff)
	}
	if a := permitted(r, "a"); a != nil {
		t.Errorf("a is taken for %+v", a)
	}
}
