package claude

import (
	"context"
	"errors"

	"github.com/seed7221b0f9/parley/claude/internal/control"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// PermissionRequest asks whether a tool may run. The CLI asks when neither its rules nor
// its mode decide. Its texts can come from the model, from files and from MCP servers, so
// escape them for display. It is read-only.
type PermissionRequest struct {
	ToolName string `json:"tool_name"`
	// Input is the input of the tool; see [tool.Decode].
	Input message.JSON `json:"input"`
	// MCPServer is the server of the tool, nil for a built-in tool. Trust its Source, not
	// its Name.
	MCPServer *message.MCPProvenance `json:"mcp_server"`
	// Suggestions are updates that prevent the CLI from asking about similar calls again,
	// if they are returned as [Allow].UpdatedPermissions.
	Suggestions []message.PermissionUpdate `json:"permission_suggestions"`
	// BlockedPath is the path that made the CLI ask.
	BlockedPath string `json:"blocked_path"`
	// DecisionReason is the reason why the CLI asks, DecisionReasonType its kind: rule,
	// mode, hook, safetyCheck, workingDir, other …
	DecisionReason     string `json:"decision_reason"`
	DecisionReasonType string `json:"decision_reason_type"`
	// Title is the whole question, DisplayName a name of the tool for display, Description
	// the purpose of the call; each may be "".
	Title       string `json:"title"`
	DisplayName string `json:"display_name"`
	Description string `json:"description"`
	ToolUseID   string `json:"tool_use_id"`
	// AgentID is the subagent that asks, "" for the main conversation.
	AgentID string `json:"agent_id"`
	// RequestID is the argument for [Client.AnswerPermission].
	RequestID string `json:"-"`
	// MatchedAskRule is a rule of the user that requires asking a person.
	MatchedAskRule *MatchedAskRule `json:"matched_ask_rule"`
	// ClassifierApprovable is set if a safety check is among the reasons. It is false if
	// one of them requires a person.
	ClassifierApprovable *bool `json:"classifier_approvable"`
	// SuppressAlwaysAllowRule means that a user interface must not offer to always allow
	// it. DefaultToNo means that a single key must not allow it.
	SuppressAlwaysAllowRule bool `json:"suppress_always_allow_rule"`
	DefaultToNo             bool `json:"default_to_no"`
	// RequiresUserInteraction means that the tool interacts with a person.
	RequiresUserInteraction bool `json:"requires_user_interaction"`
	// ServerPolicyAskOnly means that the policy of the MCP server always requires asking
	// for this tool.
	ServerPolicyAskOnly bool `json:"server_policy_ask_only"`

	raw message.JSON
	// tellsUnanswered reports whether the CLI accepts annotations of unanswered questions.
	tellsUnanswered bool
}

// MatchedAskRule is a rule of the settings that makes the CLI ask for permission, and the
// source that it comes from.
type MatchedAskRule struct {
	Source      string `json:"source"`
	ToolName    string `json:"tool_name"`
	RuleContent string `json:"rule_content"`
}

// Raw returns the request as the CLI sent it, including members that have no field in this
// type.
func (p *PermissionRequest) Raw() message.JSON { return p.raw }

// Call returns the name of the tool and its input, undecoded, in the form in which
// [tool.Decode] takes them.
func (p *PermissionRequest) Call() (name string, input message.JSON) { return p.ToolName, p.Input }

func (l *launch) hasPermissionCallbacks() bool {
	return l.asksForPermission() || l.OnElicitation != nil || l.OnUserDialog != nil
}

// asksForPermission reports whether the CLI should ask this process for permission.
func (o *Options) asksForPermission() bool {
	return o.CanUseTool != nil || o.OnQuestion != nil || o.OnPlan != nil
}

// permissionPromptTool returns the tool that decides permission requests.
func (l *launch) permissionPromptTool() string {
	if l.asksForPermission() {
		return "stdio"
	}
	return l.PermissionPromptToolName
}

// checkPromptTool returns an error if both a tool and a callback decide permission
// requests.
func (o *Options) checkPromptTool() error {
	return refuse(o.asksForPermission() && o.PermissionPromptToolName != "", "cannot be used with CanUseTool, OnQuestion or OnPlan: only one can be asked")
}

// canUseTool answers can_use_tool.
func (r *responder) canUseTool(ctx context.Context, req control.Request) ([]byte, error) {
	if !r.launch.asksForPermission() {
		return nil, errors.New("canUseTool callback is not provided")
	}
	p := r.permissionRequest(req)
	answer, err := answerNowOrLater(ctx, r, req, p.encode, func() (PermissionResult, error) { return r.launch.decide(ctx, p) })
	if err != nil {
		return nil, err
	}
	defer r.permissionHooks.forget(permissionKey(p.ToolName, p.Input))
	return r.afterHooks(ctx, p, answer)
}

func (r *responder) permissionRequest(req control.Request) *PermissionRequest {
	p := new(PermissionRequest)
	_ = jsonwire.Unmarshal(req.Body, p) // cannot fail; members of other types stay in Raw
	p.RequestID, p.raw = req.ID, message.JSON(req.Body)
	if p.asksQuestion() {
		p.tellsUnanswered = r.has("ask_user_question_unanswered_v1")
	}
	return p
}

// decide calls the callback for a request.
func (l *launch) decide(ctx context.Context, p *PermissionRequest) (PermissionResult, error) {
	switch {
	case p.asksQuestion() && l.OnQuestion != nil:
		return l.OnQuestion(ctx, newQuestionRequest(p))
	case p.asksForPlan() && l.OnPlan != nil:
		return l.OnPlan(ctx, newPlanRequest(p))
	case l.CanUseTool != nil:
		return l.CanUseTool(ctx, p)
	}
	// The CLI asks about all tools or about none, so a request can arrive without a callback.
	return &Deny{Message: "There is no user here who could permit " + p.ToolName + "."}, nil
}
