package claude_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
)

func TestRulesOnly(t *testing.T) {
	rule := []message.PermissionRule{{ToolName: "Bash", RuleContent: "ls:*"}}
	narrow := message.PermissionUpdate{Type: message.UpdateAddRules, Behavior: message.BehaviorAllow, Rules: rule, Destination: message.DestinationLocalSettings}
	got := claude.RulesOnly([]message.PermissionUpdate{
		{Type: message.UpdateSetMode, Mode: message.ModeAcceptEdits, Destination: message.DestinationSession},
		narrow,
		{Type: message.UpdateAddDirectories, Directories: []string{"/"}, Destination: message.DestinationSession},
		{Type: message.UpdateAddRules, Behavior: message.BehaviorAllow, Destination: message.DestinationSession},
		{Type: message.UpdateAddRules, Behavior: message.BehaviorAsk, Rules: rule, Destination: message.DestinationSession},
		{Type: message.UpdateReplaceRules, Behavior: message.BehaviorAllow, Rules: rule, Destination: message.DestinationSession},
		{Type: message.UpdateRemoveRules, Behavior: message.BehaviorDeny, Rules: rule, Destination: message.DestinationSession},
		{Type: "addPowers", Behavior: message.BehaviorAllow, Rules: rule, Destination: message.DestinationSession},
	})
	if diff := cmp.Diff([]message.PermissionUpdate{narrow}, got, cmpopts.IgnoreUnexported(message.PermissionUpdate{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := claude.RulesOnly(nil); got != nil {
		t.Errorf("of nothing: %v", got)
	}
}
