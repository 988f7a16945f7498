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

// touchZ returns a request of Claude Code with suggestions.
func touchZ(t *testing.T, suggestions ...string) *event.PermissionRequest {
	t.Helper()
	request := `{"subtype":"can_use_tool","tool_name":"Bash","input":{},"permission_suggestions":[` + strings.Join(suggestions, ",") + `]}`
	r, ok := new(claudeevent.Converter).Ask("1", message.JSON(request))[0].(*event.PermissionRequest)
	if !ok {
		t.Fatal("not a request for permission")
	}
	return r
}

// "Always" allows the rule; all suggestions of the agent are shown, and need a separate word.
func TestPermissionAlways(t *testing.T) {
	r := touchZ(t, setMode, addDirs, addRule)
	text := strings.Join(permitLines(r), "\n")
	for _, want := range []string{
		"a always (allow Bash(touch:*) in .claude/settings.local.json) ·",
		"all: always, and the agent's other suggestions (permission mode acceptEdits for this session; access to /src for this session; allow Bash(touch:*) in .claude/settings.local.json)",
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

// Without a rule among the suggestions only "all" allows always.
func TestPermissionAlwaysWithoutRules(t *testing.T) {
	r := touchZ(t, setMode)
	if text := strings.Join(permitLines(r), "\n"); strings.Contains(text, "a always") || !strings.Contains(text, "all: always") {
		t.Errorf("%q; want not strings.Contains(text, \"a always\") and strings.Contains(text, \"all: always\")", text)
	}
	if a := permitted(r, "a"); a != nil {
		t.Errorf("a is taken for %+v", a)
	}
}

// An answer against the agent's advice needs the whole word.
func TestPermissionDefaultToNo(t *testing.T) {
	r := touchZ(t, addRule)
	r.DefaultToNo = true
	if a := permitted(r, "y"); a != nil {
		t.Errorf("y is taken for %+v", a)
	}
	if a := permitted(r, " Yes "); a == nil || !a.Allow || a.UpdatedPermissions != nil {
		t.Errorf("yes is taken for %+v", a)
	}
	if text := strings.Join(permitLines(r), "\n"); strings.Contains(text, "always") || !strings.Contains(text, "yes, as the whole word") {
		t.Errorf("%q; want not strings.Contains(text, \"always\") and strings.Contains(text, \"yes, as the whole word\")", text)
	}
}

// The choices of an agent are answered with its ids.
func TestPermissionChoices(t *testing.T) {
	r := &event.PermissionRequest{Choices: []event.Choice{
		{ID: "once", Label: "Allow", Behavior: event.ResolvedAllow, Scope: event.ScopeOnce},
		{ID: "ses", Label: "Allow for this session", Behavior: event.ResolvedAllow, Scope: event.ScopeSession},
		{ID: "never", Label: "Never", Behavior: event.ResolvedDeny, Scope: event.ScopeAlways},
	}}
	if text := strings.Join(permitLines(r), "\n"); text != "y yes · s Allow for this session · n no, optionally with a reason" {
		t.Errorf("%q; want text == \"y yes · s Allow for this session · n no, optionally with a reason\"", text)
	}
	if diff := cmp.Diff(&agent.PermissionAnswer{Allow: true, Choice: "ses", Scope: event.ScopeSession}, permitted(r, "s")); diff != "" {
		t.Errorf("s (-want +got):\n%s", diff)
	}
	if a := permitted(r, "a"); a != nil {
		t.Errorf("a is taken for %+v", a)
	}
}

// The request is shown with code points for invisible characters, in the command, other arguments,
// suggested rules and texts. The request that is answered is unchanged.
func TestReveal(t *testing.T) {
	const input = "{\"command\":\"rm \\u202e-rf x\",\"n\u200bote\":[\"a\U000e0041b\"]}"
	r := &event.PermissionRequest{RequestID: "1", ToolName: "Bash", Description: "look\u2066s fine", BlockedPath: "/a\u200b", Input: event.JSON(input),
		Suggestions: []event.Suggestion{{Kind: event.SuggestRules, Behavior: "allow", Rules: []string{"Bash(l\u200bs)"}, Update: `{"type":"addRules"}`}}}
	shown := revealed(r)
	text := strings.Join(append(permitLines(shown), string(shown.Input)), "\n")
	for _, want := range []string{"rm U+202E-rf", "nU+200Bote", "aU+E0041b", "lookU+2066s fine", "/aU+200B", "Bash(lU+200Bs)"} {
		if !strings.Contains(text, want) {
			t.Errorf("the request shows no %q:\n%s", want, text)
		}
	}
	if string(r.Input) != input || r.Suggestions[0].Rules[0] != "Bash(l\u200bs)" || r.Description != "look\u2066s fine" {
		t.Errorf("the request itself was changed: %+v", r)
	}
}
