package main

import (
	"context"
	"fmt"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/claude/tool"
	"log"
	"strings"
)

func main() {
	opts := &claude.Options{CanUseTool: decide, OnQuestion: choose, OnPlan: approve, Guard: guard}
	result, err := claude.Run(context.Background(), "Clean up this directory.", opts)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Result)
	for _, d := range result.PermissionDenials {
		fmt.Println("denied:", d.ToolName)
	}
}

func decide(ctx context.Context, req *claude.PermissionRequest) (claude.PermissionResult, error) {
	input, err := tool.Decode(req)
	if err != nil {
		return nil, err // the tool does not run
	}
	switch in := input.(type) {
	case *tool.BashInput:
		if strings.HasPrefix(in.Command, "rm ") {
			return &claude.Deny{Message: "Move files to trash/ instead of deleting them."}, nil
		}
		return &claude.Allow{}, nil
	case *tool.ReadInput:
		return &claude.Allow{}, nil
	}
	return &claude.Deny{Message: req.ToolName + " is not allowed here."}, nil
}

func always(ctx context.Context, req *claude.PermissionRequest) (claude.PermissionResult, error) {
	rules := claude.RulesOnly(req.Suggestions)
	for i := range rules {
		rules[i].Destination = message.DestinationSession // not written to a file
	}
	return &claude.Allow{UpdatedPermissions: rules}, nil
}

func choose(ctx context.Context, req *claude.QuestionRequest) (*claude.QuestionAnswer, error) {
	answer := &claude.QuestionAnswer{}
	for _, q := range req.Questions {
		answer.Choose(q.Question, q.Options[0].Label)
	}
	return answer, nil
}

func approve(ctx context.Context, req *claude.PlanRequest) (*claude.PlanDecision, error) {
	fmt.Println(req.Plan)
	return &claude.PlanDecision{Approve: true, Mode: message.ModeAcceptEdits}, nil
}

func guard(ctx context.Context, req *claude.GuardRequest) (*claude.Deny, error) {
	if strings.Contains(string(req.ToolInput), ".env") {
		return &claude.Deny{Message: "Secrets stay where they are."}, nil
	}
	return nil, nil // rules, mode and callback decide
}

func later(client *claude.Client, requests <-chan *claude.PermissionRequest) error {
	req := <-requests // filled by a CanUseTool that returned claude.ErrAnswerLater
	return client.AnswerPermission(context.Background(), req.RequestID, &claude.Deny{Message: "Not today."})
}
