package claude_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/claude/tool"
	"github.com/seed7221b0f9/parley/spawn"
)

// asksFor returns a CLI that sends a request to the program in its only turn, and ends
// the turn with the answer.
func asksFor(subtype string, fields any) spawn.Spawner {
	return claudetest.InProcess(func(cli *claudetest.CLI) int {
		if _, err := cli.Handshake(); err != nil {
			return 1
		}
		if _, err := cli.Prompt(); err != nil {
			return 1
		}
		answer, err := cli.Request(subtype, fields)
		if err != nil {
			answer = []byte(err.Error())
		}
		cli.Turn(string(answer))
		return 0
	})
}

// finish runs a prompt and prints the result.
func finish(opts *claude.Options) {
	result, err := claude.Run(context.Background(), "go", opts)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Result)
}

// Allow a tool with a different input.
func ExampleAllow() {
	opts := &claude.Options{Spawner: asksFor("can_use_tool", map[string]any{
		"tool_name": "Bash", "input": map[string]string{"command": "rm -r build"}, "tool_use_id": "toolu_1"})}
	opts.CanUseTool = func(ctx context.Context, req *claude.PermissionRequest) (claude.PermissionResult, error) {
		in, err := tool.Decode(req)
		if err != nil {
			return nil, err // the tool does not run
		}
		bash, ok := in.(*tool.BashInput)
		if !ok {
			return &claude.Deny{Message: "Only Bash may be used."}, nil
		}
		fmt.Println("asked:", bash.Command)
		return &claude.Allow{UpdatedInput: `{"command":"rm -ri build"}`}, nil
	}
	finish(opts)
	// Output:
	// asked: rm -r build
	// {"behavior":"allow","updatedInput":{"command":"rm -ri build"},"toolUseID":"toolu_1"}
}

// Allow similar calls for the rest of the session, and no more: for touch the CLI
// suggests not only a rule but also a permission mode and a directory.
func ExamplePermissionUpdate() {
	opts := &claude.Options{Spawner: asksFor("can_use_tool", map[string]any{
		"tool_name": "Bash", "input": map[string]string{"command": "touch z"}, "tool_use_id": "toolu_1",
		"permission_suggestions": []any{
			map[string]any{"type": "setMode", "mode": "acceptEdits", "destination": "session"},
			map[string]any{"type": "addDirectories", "directories": []string{"/src"}, "destination": "session"},
			map[string]any{"type": "addRules", "behavior": "allow", "destination": "localSettings", "rules": []any{map[string]string{"toolName": "Bash", "ruleContent": "touch:*"}}},
		},
	})}
	opts.CanUseTool = func(_ context.Context, req *claude.PermissionRequest) (claude.PermissionResult, error) {
		rules := claude.RulesOnly(req.Suggestions)
		for i := range rules {
			fmt.Println(rules[i].Behavior, rules[i].Rules)
			rules[i].Destination = message.DestinationSession
		}
		return &claude.Allow{UpdatedPermissions: rules}, nil
	}
	finish(opts)
	// Output:
	// allow [Bash(touch:*)]
	// {"behavior":"allow","updatedInput":{"command":"touch z"},"updatedPermissions":[{"behavior":"allow","destination":"session","rules":[{"toolName":"Bash","ruleContent":"touch:*"}],"type":"addRules"}],"toolUseID":"toolu_1"}
}

// Answer the agent's questions: the first option of each.
func ExampleQuestionAnswer() {
	opts := &claude.Options{Spawner: asksFor("can_use_tool", map[string]any{"tool_name": "AskUserQuestion", "tool_use_id": "toolu_1", "input": map[string]any{
		"questions": []tool.Question{{Question: "Which colour?", Header: "Colour", Options: []tool.QuestionOption{{Label: "Red"}, {Label: "Blue"}}}}}})}
	opts.OnQuestion = func(_ context.Context, req *claude.QuestionRequest) (*claude.QuestionAnswer, error) {
		answer := &claude.QuestionAnswer{}
		for _, q := range req.Questions {
			fmt.Println(q.Question)
			answer.Choose(q.Question, q.Options[0].Label)
		}
		return answer, nil
	}
	result, err := claude.Run(context.Background(), "go", opts)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Contains(result.Result, `"answers":{"Which colour?":"Red"}`))
	// Output:
	// Which colour?
	// true
}

// Approve a plan, and allow its edits without asking.
func ExamplePlanDecision() {
	opts := &claude.Options{Spawner: asksFor("can_use_tool", map[string]any{"tool_name": "ExitPlanMode", "input": map[string]string{"plan": "Paint it."}, "tool_use_id": "toolu_1"})}
	opts.OnPlan = func(_ context.Context, req *claude.PlanRequest) (*claude.PlanDecision, error) {
		fmt.Println("the plan:", req.Plan)
		return &claude.PlanDecision{Approve: true, Mode: message.ModeAcceptEdits}, nil
	}
	finish(opts)
	// Output:
	// the plan: Paint it.
	// {"behavior":"allow","updatedInput":{"plan":"Paint it."},"updatedPermissions":[{"type":"setMode","mode":"acceptEdits","destination":"session"}],"toolUseID":"toolu_1"}
}

// Fill in the form of an MCP server.
func ExampleElicitationResult() {
	opts := &claude.Options{Spawner: asksFor("elicitation", map[string]any{"mcp_server_name": "crm", "message": "Your name?", "mode": "form"})}
	opts.OnElicitation = func(_ context.Context, req *claude.ElicitationRequest) (*claude.ElicitationResult, error) {
		fmt.Println(req.MCPServerName, "asks:", req.Message)
		if req.Mode == message.ElicitationURL {
			return &claude.ElicitationResult{Action: message.ElicitationDecline}, nil
		}
		return &claude.ElicitationResult{Action: message.ElicitationAccept, Content: map[string]any{"name": "Ada"}}, nil
	}
	finish(opts)
	// Output:
	// crm asks: Your name?
	// {"action":"accept","content":{"name":"Ada"}}
}

// Show a dialog of the CLI.
func ExampleUserDialogResult() {
	opts := &claude.Options{Spawner: asksFor("request_user_dialog", map[string]any{"dialog_kind": "refusal_fallback_prompt", "payload": map[string]string{"model": "m"}})}
	opts.SupportedDialogKinds = []string{"refusal_fallback_prompt"}
	opts.OnUserDialog = func(_ context.Context, req *claude.UserDialogRequest) (*claude.UserDialogResult, error) {
		fmt.Println(req.DialogKind, req.Payload)
		return &claude.UserDialogResult{Cancelled: true}, nil
	}
	finish(opts)
	// Output:
	// refusal_fallback_prompt {"model":"m"}
	// {"behavior":"cancelled"}
}

// Protect a file from all tools, regardless of mode and rules.
func ExampleGuardRequest() {
	opts := &claude.Options{Spawner: asksFor("hook_callback", map[string]any{"callback_id": "hook_0", "tool_use_id": "toolu_1", "input": map[string]any{
		"hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": map[string]string{"file_path": "/srv/.env"}, "tool_use_id": "toolu_1"}})}
	opts.Guard = func(_ context.Context, req *claude.GuardRequest) (*claude.Deny, error) {
		if strings.Contains(string(req.ToolInput), ".env") {
			return &claude.Deny{Message: "Secrets stay where they are."}, nil
		}
		return nil, nil // rules and mode decide
	}
	finish(opts)
	// Output:
	// {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Secrets stay where they are."}}
}

// Answer a permission request later, possibly after hours and in another goroutine.
func ExampleClient_AnswerPermission() {
	ctx := context.Background()
	requests := make(chan *claude.PermissionRequest, 1)
	opts := &claude.Options{Spawner: asksFor("can_use_tool", map[string]any{"tool_name": "Bash", "input": map[string]string{"command": "ls"}, "tool_use_id": "toolu_1"})}
	opts.CanUseTool = func(_ context.Context, req *claude.PermissionRequest) (claude.PermissionResult, error) {
		requests <- req
		return nil, claude.ErrAnswerLater
	}
	client, err := claude.Connect(ctx, opts)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	turn, err := client.Send(ctx, claude.Text("go"))
	if err != nil {
		log.Fatal(err)
	}
	req := <-requests
	if err := client.AnswerPermission(ctx, req.RequestID, &claude.Deny{Message: "not today"}); err != nil {
		log.Fatal(err)
	}
	err = client.AnswerPermission(ctx, req.RequestID, &claude.Allow{})
	fmt.Println("twice:", errors.Is(err, claude.ErrNotOpen))
	result, err := turn.Wait(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Result)
	// Output:
	// twice: true
	// {"behavior":"deny","message":"not today","toolUseID":"toolu_1"}
}
