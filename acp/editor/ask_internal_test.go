package editor

import (
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
)

// TestChoices checks the options of a request and the effect of each.
func TestChoices(t *testing.T) {
	mode := event.Suggestion{Kind: event.SuggestMode, Mode: "acceptEdits", Update: `{"type":"setMode","mode":"acceptEdits","destination":"session"}`}
	rule := event.Suggestion{Kind: event.SuggestRules, Label: "Always allow Bash(ls:*)", Update: `{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"ls:*"}],"behavior":"allow"}`}
	bypass := event.Suggestion{Kind: event.SuggestMode, Mode: "bypassPermissions", Update: `{"type":"setMode","mode":"bypassPermissions"}`}
	deny := event.Suggestion{Kind: event.SuggestRules, Behavior: "deny", Update: `{"type":"addRules","behavior":"deny"}`}
	tests := []struct {
		name string
		ev   event.PermissionRequest
		want []string // kind and part of the update, in order
	}{
		{"a command without a rule gets its own", event.PermissionRequest{ToolName: "Bash", Input: `{"command":"touch x"}`, Suggestions: []event.Suggestion{mode}}, []string{
			"allow_once ", `allow_always "ruleContent":"touch x"`, "allow_always setMode", "reject_once ",
		}},
		{"rules come first", event.PermissionRequest{ToolName: "Bash", Input: `{"command":"ls"}`, Suggestions: []event.Suggestion{mode, rule}}, []string{
			"allow_once ", "allow_always ls:*", "allow_always setMode", "reject_once ",
		}},
		{"an edit gets no rule of ours", event.PermissionRequest{ToolName: "Edit", Suggestions: []event.Suggestion{mode}}, []string{"allow_once ", "allow_always setMode", "reject_once "}},
		{"a mode that the session does not have", event.PermissionRequest{ToolName: "Edit", Suggestions: []event.Suggestion{bypass, deny}}, []string{"allow_once ", "reject_once "}},
		{"no rule is wanted", event.PermissionRequest{ToolName: "Bash", Input: `{"command":"rm x"}`, Data: `{"suppress_always_allow_rule":true}`}, []string{"allow_once ", "reject_once "}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			list := choices(&tt.ev, []string{"default", "acceptEdits", "plan"})
			if len(list) != len(tt.want) {
				t.Fatalf("%d options, want %v", len(list), tt.want)
			}
			seen := map[acp.PermissionOptionID]bool{}
			for i, c := range list {
				kind, part, _ := strings.Cut(tt.want[i], " ")
				a, _ := c.answer.(*agent.PermissionAnswer)
				if a == nil || string(c.option.Kind) != kind || !strings.Contains(string(a.UpdatedPermissions), part) || a.Allow != strings.HasPrefix(kind, "allow") {
					t.Errorf("option %d is %+v with %+v, want %s", i, c.option, a, tt.want[i])
				}
				if seen[c.option.OptionID] || c.option.Name == "" {
					t.Errorf("option %d has the id %q and the name %q", i, c.option.OptionID, c.option.Name)
				}
				seen[c.option.OptionID] = true
			}
		})
	}
}
