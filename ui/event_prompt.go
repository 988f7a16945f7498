package ui

import "github.com/seed7221b0f9/parley/claude"

// The kinds of a [PermissionRequest].
const (
	PermissionTool = "tool" // may this tool run?
	PermissionPlan = "plan" // is this plan approved?
)

// The kinds of a [QuestionRequest].
const (
	QuestionAsk         = "ask_user_question" // the model asks
	QuestionElicitation = "elicitation"       // an MCP server asks
)

// PermissionRequest asks a person whether a tool may run or a plan is approved. It
// waits until a *[PermissionResolved] with its request id, and silence is no answer.
type PermissionRequest struct {
	Header
	Kind        string // PermissionTool, PermissionPlan
	RequestID   string
	ToolUseID   string
	ToolName    string
	DisplayName string
	Description string
	Input       claude.JSON
	Suggestions claude.JSON // rules that could be added
	BlockedPath string
	AgentID     string
	Data        claude.JSON // the whole request, as the CLI sent it
}

// PermissionResolved ends a permission request.
type PermissionResolved struct {
	Header
	RequestID string
	ToolUseID string
	Behavior  string // allow, deny, cancelled
	Message   string // why it was denied
	By        string // who answered
}

// QuestionRequest asks a person something. It waits until a *[QuestionResolved] with
// its request id.
type QuestionRequest struct {
	Header
	Kind          string // QuestionAsk, QuestionElicitation
	RequestID     string
	ToolUseID     string
	Questions     claude.JSON // of AskUserQuestion
	MCPServerName string      // of an elicitation, as all below
	Message       string
	Mode          string // form, url
	Schema        claude.JSON
	URL           string
	Data          claude.JSON // the whole request, as the CLI sent it
}

// QuestionResolved ends a question.
type QuestionResolved struct {
	Header
	RequestID string
	ToolUseID string
	Action    string      // accept, decline, cancel
	Answers   claude.JSON // of AskUserQuestion, or the content of an elicitation
	By        string      // who answered
}
