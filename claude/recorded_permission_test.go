package claude_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
)

// canUseTool repeats the recorded permission callback.
func (a *callAnswers) canUseTool(ctx context.Context, req *claude.PermissionRequest) (claude.PermissionResult, error) {
	answer, err := a.give(ctx, "can_use_tool "+req.ToolName, func(r *recordedAnswer) bool {
		return r.Subtype == "can_use_tool" && (r.ToolUseID == "" || r.ToolUseID == req.ToolUseID)
	})
	if err != nil {
		return nil, err
	}
	if isNull(answer.Return) {
		return nil, claude.ErrAnswerLater // it is never answered
	}
	return permissionResult(answer.Return)
}

// permissionResult converts the result of a callback to a value of this SDK.
func permissionResult(raw json.RawMessage) (claude.PermissionResult, error) {
	var v struct {
		Behavior           string                     `json:"behavior"`
		UpdatedInput       message.JSON               `json:"updatedInput"`
		UpdatedPermissions []message.PermissionUpdate `json:"updatedPermissions"`
		Message            string                     `json:"message"`
		Interrupt          bool                       `json:"interrupt"`
		Classification     string                     `json:"decisionClassification"`
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, err
	}
	switch v.Behavior {
	case "allow":
		return &claude.Allow{UpdatedInput: v.UpdatedInput, UpdatedPermissions: v.UpdatedPermissions, Classification: claude.DecisionClassification(v.Classification)}, nil
	case "deny":
		return &claude.Deny{Message: v.Message, Interrupt: v.Interrupt, Classification: claude.DecisionClassification(v.Classification)}, nil
	}
	return nil, fmt.Errorf("recording: no answer is of the behavior %q", v.Behavior)
}

// onElicitation repeats the recorded elicitation callback.
func (a *callAnswers) onElicitation(ctx context.Context, req *claude.ElicitationRequest) (*claude.ElicitationResult, error) {
	answer, err := a.give(ctx, "elicitation "+req.MCPServerName, func(r *recordedAnswer) bool {
		return r.Subtype == "elicitation" && (r.Server == "" || r.Server == req.MCPServerName)
	})
	if err != nil {
		return nil, err
	}
	var v struct {
		Action  message.ElicitationAction `json:"action"`
		Content map[string]any            `json:"content"`
	}
	if err := json.Unmarshal(answer.Return, &v); err != nil {
		return nil, err
	}
	return &claude.ElicitationResult{Action: v.Action, Content: v.Content}, nil
}

// onUserDialog repeats the recorded dialog callback.
func (a *callAnswers) onUserDialog(ctx context.Context, req *claude.UserDialogRequest) (*claude.UserDialogResult, error) {
	answer, err := a.give(ctx, "request_user_dialog "+req.DialogKind, func(r *recordedAnswer) bool { return r.Subtype == "request_user_dialog" })
	if err != nil {
		return nil, err
	}
	var v struct {
		Behavior string       `json:"behavior"`
		Result   message.JSON `json:"result"`
	}
	if err := json.Unmarshal(answer.Return, &v); err != nil {
		return nil, err
	}
	return &claude.UserDialogResult{Result: v.Result, Cancelled: v.Behavior == "cancelled"}, nil
}
