package claude

import (
	"cmp"
	"fmt"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/claude/tool"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// PlanRequest is a plan that the agent made in plan mode and submits for approval.
type PlanRequest struct {
	// Plan is the plan, in Markdown; PlanFilePath is its file, if there is one.
	Plan         string
	PlanFilePath string
	// AllowedPrompts are the actions that the plan needs permission for, in words.
	AllowedPrompts []tool.AllowedPrompt
	*PermissionRequest
}

// PlanDecision answers a [PlanRequest]. The zero value does not approve the plan, and the agent
// reads Message as the reason.
type PlanDecision struct {
	// Approve ends plan mode and lets the agent execute the plan.
	Approve bool
	// Plan, if set, replaces the agent's plan.
	Plan string
	// Mode, if set, is the new permission mode of the session.
	Mode message.PermissionMode
	// Message is the text that the agent reads if the plan is not approved, by default a
	// general sentence; Interrupt also ends the turn.
	Message   string
	Interrupt bool
}

// planMessage is the text that the model reads for a plan that was not approved.
const planMessage = "The plan was not approved. Keep planning."

func (p *PermissionRequest) asksForPlan() bool {
	return tool.Canonical(p.ToolName) == tool.ExitPlanMode
}

func newPlanRequest(p *PermissionRequest) *PlanRequest {
	var in tool.ExitPlanModeInput
	if v, err := tool.Decode(p); err == nil {
		if decoded, ok := v.(*tool.ExitPlanModeInput); ok {
			in = *decoded
		}
	}
	return &PlanRequest{Plan: in.Plan, PlanFilePath: in.PlanFilePath, AllowedPrompts: in.AllowedPrompts, PermissionRequest: p}
}

func (d *PlanDecision) answerPermission(p *PermissionRequest) (permissionAnswer, error) {
	switch {
	case d == nil:
		return permissionAnswer{}, errNilResult
	case !p.asksForPlan():
		return permissionAnswer{}, fmt.Errorf("claude: a PlanDecision is not an answer to a request for %s", p.ToolName)
	case !d.Approve:
		deny := &Deny{Message: d.Message, Interrupt: d.Interrupt}
		deny.Message = cmp.Or(deny.Message, planMessage)
		return deny.answerPermission(p)
	}
	allow := &Allow{}
	if d.Plan != "" {
		updated, err := jsonwire.Overlay(string(p.Input), map[string]string{"plan": d.Plan})
		if err != nil {
			return permissionAnswer{}, err
		}
		allow.UpdatedInput = message.JSON(updated)
	}
	if d.Mode != "" {
		allow.UpdatedPermissions = []message.PermissionUpdate{{Type: message.UpdateSetMode, Mode: d.Mode, Destination: message.DestinationSession}}
	}
	return allow.answer(p)
}
