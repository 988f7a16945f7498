package claude

import (
	"errors"
	"fmt"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// ErrNoToolResult is what decoding the result of a message without
// tool_use_result gives: it is not about a tool, or it comes from a subagent,
// whose messages carry only the block for the model.
var ErrNoToolResult = errors.New("claude: the message has no tool_use_result")

// toolResults is the decode table of results that are objects, by canonical
// name. Tools whose result nobody has written down are not in it.
var toolResults = map[string]func() any{
	ToolAgent:                    func() any { return new(AgentResult) },
	ToolArtifact:                 func() any { return new(ArtifactResult) },
	ToolAskUserQuestion:          func() any { return new(AskUserQuestionResult) },
	ToolBash:                     func() any { return new(BashResult) },
	ToolClaudeDesign:             func() any { return new(ClaudeDesignResult) },
	ToolCronCreate:               func() any { return new(CronCreateResult) },
	ToolCronDelete:               func() any { return new(CronDeleteResult) },
	ToolCronList:                 func() any { return new(CronListResult) },
	ToolEdit:                     func() any { return new(EditResult) },
	ToolEnterPlanMode:            func() any { return new(EnterPlanModeResult) },
	ToolEnterWorktree:            func() any { return new(EnterWorktreeResult) },
	ToolExitPlanMode:             func() any { return new(ExitPlanModeResult) },
	ToolExitWorktree:             func() any { return new(ExitWorktreeResult) },
	ToolGlob:                     func() any { return new(GlobResult) },
	ToolGrep:                     func() any { return new(GrepResult) },
	ToolMonitor:                  func() any { return new(MonitorResult) },
	ToolNotebookEdit:             func() any { return new(NotebookEditResult) },
	ToolOfferChromeSetup:         func() any { return new(OfferChromeSetupResult) },
	ToolProjects:                 func() any { return new(ProjectsResult) },
	ToolProposeGoal:              func() any { return new(ProposeGoalResult) },
	ToolProposeSkills:            func() any { return new(ProposeSkillsResult) },
	ToolPushNotification:         func() any { return new(PushNotificationResult) },
	ToolRead:                     func() any { return new(ReadResult) },
	ToolReadMCPResource:          func() any { return new(ReadMCPResourceResult) },
	ToolReadMCPResourceDir:       func() any { return new(ReadMCPResourceDirResult) },
	ToolReadNotifications:        func() any { return new(ReadNotificationsResult) },
	ToolRemoteTrigger:            func() any { return new(RemoteTriggerResult) },
	ToolReportFindings:           func() any { return new(ReportFindingsResult) },
	ToolScheduleWakeup:           func() any { return new(ScheduleWakeupResult) },
	ToolSendFeedback:             func() any { return new(SendFeedbackResult) },
	ToolShowOnboardingRolePicker: func() any { return new(ShowOnboardingRolePickerResult) },
	ToolTaskCreate:               func() any { return new(TaskCreateResult) },
	ToolTaskGet:                  func() any { return new(TaskGetResult) },
	ToolTaskList:                 func() any { return new(TaskListResult) },
	ToolTaskStop:                 func() any { return new(TaskStopResult) },
	ToolTaskUpdate:               func() any { return new(TaskUpdateResult) },
	ToolTodoWrite:                func() any { return new(TodoWriteResult) },
	ToolWebFetch:                 func() any { return new(WebFetchResult) },
	ToolWebSearch:                func() any { return new(WebSearchResult) },
	ToolWorkflow:                 func() any { return new(WorkflowResult) },
	ToolWrite:                    func() any { return new(WriteResult) },
}

// toolListResults is the decode table of results that are arrays.
var toolListResults = map[string]func() any{
	ToolListMCPResources: func() any { return new(ListMCPResourcesResult) },
	ToolRefreshMCPTools:  func() any { return new(RefreshMCPToolsResult) },
}

// ToolErrorResult is the result of a tool that failed, was refused, or did not
// run, in words.
type ToolErrorResult struct{ Text string }

// ToolTextResult is a result that is a string and no failure, such as that of
// StructuredOutput and of some MCP tools.
type ToolTextResult struct{ Text string }

// ToolContentResult is a result of blocks, as tools of MCP servers give it.
type ToolContentResult struct{ Blocks []ContentBlock }

// UnknownToolResult is a result that this package has no type for.
type UnknownToolResult struct {
	Name string // of the tool
	JSON JSON
}

// DecodeToolResult decodes ToolUseResult, the structured output of the tool that
// the message is the result of. The message does not say which tool it was; the
// name stands in the *[ToolUseBlock] whose ID is the ToolUseID of the message's
// *[ToolResultBlock]. What is returned is one of
//
//   - a pointer to the tool's own type, *[BashResult] for Bash, *[EditResult] for
//     Edit and so on; a legacy name counts as the one of today
//   - *[MCPResult] for an object from a tool of an MCP server
//   - *[ToolContentResult] for blocks, mostly from a tool of an MCP server
//   - *[ToolErrorResult] or *[ToolTextResult] for a string, as the message's
//     block says it is an error or not
//   - *[UnknownToolResult] for anything else
//
// Unknown members are passed over and one of another type than its field leaves
// the field zero; m.ToolUseResult has all of them. The error is
// [ErrNoToolResult].
func (m *UserMessage) DecodeToolResult(toolName string) (any, error) {
	return DecodeToolResult(toolName, m.ToolUseResult, m.hasToolError())
}

// hasToolError reports whether a block of the message is a tool's failure. The
// CLI writes a message for each result, so there is one block to ask.
func (m *UserMessage) hasToolError() bool {
	for _, b := range m.Message.Content.Blocks() {
		if r, ok := b.(*ToolResultBlock); ok && r.IsError {
			return true
		}
	}
	return false
}

// DecodeToolResult does for a result from anywhere, such as a hook or a
// transcript, what [UserMessage.DecodeToolResult] does for a message's. A string
// is a *[ToolErrorResult] if isError says so.
func DecodeToolResult(toolName string, result JSON, isError bool) (any, error) {
	if result == "" {
		return nil, ErrNoToolResult
	}
	d := jsonwire.NewDecoder(string(result))
	v := decodeResult(d, toolName, result, isError)
	if err := d.Err(); err != nil {
		return nil, fmt.Errorf("claude: result of tool %s: %w", toolName, err)
	}
	return v, nil
}

func decodeResult(d *jsonwire.Decoder, name string, result JSON, isError bool) any {
	switch d.Kind() {
	case '"':
		text, _ := d.String()
		if isError {
			return &ToolErrorResult{Text: text}
		}
		return &ToolTextResult{Text: text}
	case '{':
		return decodeObjectResult(d, name, result)
	case '[':
		return decodeListResult(d, name, result)
	}
	return &UnknownToolResult{Name: name, JSON: result}
}

func decodeObjectResult(d *jsonwire.Decoder, name string, result JSON) any {
	if create, ok := toolResults[CanonicalTool(name)]; ok {
		v := create()
		d.Into(v)
		return v
	}
	if isMCPTool(name) {
		v := new(MCPResult)
		d.Into(v)
		if !v.Content.IsZero() || v.StructuredContent != "" {
			return v
		}
	}
	return &UnknownToolResult{Name: name, JSON: result}
}

func decodeListResult(d *jsonwire.Decoder, name string, result JSON) any {
	if create, ok := toolListResults[CanonicalTool(name)]; ok {
		v := create()
		d.Into(v)
		return v
	}
	if !isBlockList(result) {
		return &UnknownToolResult{Name: name, JSON: result}
	}
	v := new(ToolContentResult)
	d.Into(&v.Blocks)
	return v
}

// isBlockList reports whether every element of an array is an object with a
// type, which is what makes it a block.
func isBlockList(list JSON) bool {
	d := jsonwire.NewDecoder(string(list))
	for e := d.Elements(); e.Next(); d.Skip() {
		if d.Kind() != '{' || d.Peek("type") == "" {
			return false
		}
	}
	return true
}

// Text is the text blocks one after another.
func (r *ToolContentResult) Text() string { return textOf(r.Blocks) }
