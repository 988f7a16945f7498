package claude_test

import (
	"context"
	"errors"
	"testing"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/claude/tool"
)

func TestGuardAnswers(t *testing.T) {
	const ask = `{"subtype":"hook_callback","callback_id":"hook_0","tool_use_id":"toolu_1","input":{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"toolu_1"}}`
	denied := func(reason, more string) string {
		return `{` + more + `"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"` + reason + `"}}`
	}
	for _, tt := range []struct {
		name  string
		guard func(ctx context.Context, req *claude.GuardRequest) (*claude.Deny, error)
		want  string
	}{
		{"pass", func(context.Context, *claude.GuardRequest) (*claude.Deny, error) { return nil, nil }, `{}`},
		{"deny", func(_ context.Context, g *claude.GuardRequest) (*claude.Deny, error) {
			in, err := tool.Decode(g)
			return &claude.Deny{Message: g.ToolName + " " + in.(*tool.BashInput).Command}, err
		}, denied("Bash ls", "")},
		{"deny without a word", func(context.Context, *claude.GuardRequest) (*claude.Deny, error) { return &claude.Deny{}, nil }, denied("Permission to use this tool was denied.", "")},
		{"interrupt", func(context.Context, *claude.GuardRequest) (*claude.Deny, error) {
			return &claude.Deny{Message: "stop", Interrupt: true}, nil
		}, denied("stop", `"continue":false,"stopReason":"stop",`)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			withOptions(t, &claude.Options{Guard: tt.guard}, func(t *testing.T, cli *memCLI, _ *claude.Client) {
				cli.say(request("r1", ask))
				if got := cli.answered("r1"); got != tt.want {
					t.Errorf("got  %s\nwant %s", got, tt.want)
				}
			})
		})
	}
}

// A failing guard refuses the call.
func TestGuardFailsClosed(t *testing.T) {
	const ask = `{"subtype":"hook_callback","callback_id":"hook_0","input":{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}}`
	for name, guard := range map[string]func(context.Context, *claude.GuardRequest) (*claude.Deny, error){
		"error": func(context.Context, *claude.GuardRequest) (*claude.Deny, error) { return nil, errors.New("boom") },
		"panic": func(context.Context, *claude.GuardRequest) (*claude.Deny, error) { panic("boom") },
	} {
		withOptions(t, &claude.Options{Guard: guard}, func(t *testing.T, cli *memCLI, _ *claude.Client) {
			cli.say(request("r1", ask))
			var out struct {
				HookSpecificOutput struct{ PermissionDecision, HookEventName string }
			}
			if err := message.JSON(cli.answered("r1")).Decode(&out); err != nil || out.HookSpecificOutput.PermissionDecision != "deny" || out.HookSpecificOutput.HookEventName != "PreToolUse" {
				t.Errorf("%s: %s, %v; want err == nil and out.HookSpecificOutput.PermissionDecision == \"deny\" and out.HookSpecificOutput.HookEventName == \"PreToolUse\"", name, cli.answered("r1"), err)
			}
		})
	}
}
