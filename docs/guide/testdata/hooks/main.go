package main

import (
	"context"
	"fmt"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/hook"
	"github.com/seed7221b0f9/parley/claude/tool"
	"log"
	"strings"
)

func main() {
	opts := &claude.Options{
		AllowedTools: []string{"Bash"},
		Hooks: &hook.Hooks{
			PreToolUse:       hook.On("Bash", dryRun),
			PostToolUse:      hook.On("", audit),
			UserPromptSubmit: hook.On("", addContext),
			Stop:             hook.On("", review),
		},
	}
	result, err := claude.Run(context.Background(), "Delete the build directory.", opts)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Result)
}

func dryRun(ctx context.Context, in *hook.PreToolUseInput) (*hook.PreToolUseOutput, error) {
	var bash tool.BashInput
	if err := in.ToolInput.Decode(&bash); err != nil {
		return nil, err // refuses the call
	}
	if strings.Contains(bash.Command, "sudo") {
		return &hook.PreToolUseOutput{PermissionDecision: hook.DecisionDeny, PermissionDecisionReason: "no sudo"}, nil
	}
	bash.Command = "echo would run: " + bash.Command
	return &hook.PreToolUseOutput{PermissionDecision: hook.DecisionAllow, UpdatedInput: bash}, nil
}

func audit(ctx context.Context, in *hook.PostToolUseInput) (*hook.PostToolUseOutput, error) {
	fmt.Println("ran", in.ToolName, in.ToolInput)
	return &hook.PostToolUseOutput{Output: hook.Output{Async: true}}, nil
}

func addContext(ctx context.Context, in *hook.UserPromptSubmitInput) (*hook.UserPromptSubmitOutput, error) {
	return &hook.UserPromptSubmitOutput{AdditionalContext: "The build directory is safe to delete."}, nil
}

func review(ctx context.Context, in *hook.StopInput) (*hook.StopOutput, error) {
	return nil, nil // hook.DecisionBlock with a Reason would keep the agent going
}
