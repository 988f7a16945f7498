package tool

import (
	"errors"
	"fmt"
	"slices"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// ErrNoResult is returned when a message has no tool_use_result: it is not the result of a tool, or
// it belongs to a subagent; those messages have only the block for the model.
var ErrNoResult = errors.New("claude: the message has no tool_use_result")

// toolResults is the decode table of results that are objects, by canonical name. It omits tools
// with undocumented results.
var toolResults = map[string]func() any{
	Agent:                    func() any { return new(AgentResult) },
	Artifact:                 func() any { return new(ArtifactResult) },
	AskUserQuestion:          func() any { return new(AskUserQuestionResult) },
	Bash:                     func() any { return new(BashResult) },
	ClaudeDesign:             func() any { return new(ClaudeDesignResult) },
	CronCreate:               func() any { return new(CronCreateResult) },
	CronDelete:               func() any { return new(CronDeleteResult) },
	CronList:                 func() any { return new(CronListResult) },
	Edit:                     func() any { return new(EditResult) },
	EnterPlanMode:            func() any { return new(EnterPlanModeResult) },
	EnterWorktree:            func() any { return new(EnterWorktreeResult) },
	ExitPlanMode:             func() any { return new(ExitPlanModeResult) },
	ExitWorktree:             func() any { return new(ExitWorktreeResult) },
	Glob:                     func() any { return new(GlobResult) },
	Grep:                     func() any { return new(GrepResult) },
	Monitor:                  func() any { return new(MonitorResult) },
	NotebookEdit:             func() any { return new(NotebookEditResult) },
	OfferChromeSetup:         func() any { return new(OfferChromeSetupResult) },
	Projects:                 func() any { return new(ProjectsResult) },
	ProposeGoal:              func() any { return new(ProposeGoalResult) },
	ProposeSkills:            func() any { return new(ProposeSkillsResult) },
	PushNotification:         func() any { return new(PushNotificationResult) },
	Read:                     func() any { return new(ReadResult) },
	ReadMCPResource:          func() any { return new(ReadMCPResourceResult) },
	ReadMCPResourceDir:       func() any { return new(ReadMCPResourceDirResult) },
	ReadNotifications:        func() any { return new(ReadNotificationsResult) },
	RemoteTrigger:            func() any { return new(RemoteTriggerResult) },
	ReportFindings:           func() any { return new(ReportFindingsResult) },
	ScheduleWakeup:           func() any { return new(ScheduleWakeupResult) },
	SendFeedback:             func() any { return new(SendFeedbackResult) },
	ShowOnboardingRolePicker: func() any { return new(ShowOnboardingRolePickerResult) },
	TaskCreate:               func() any { return new(TaskCreateResult) },
	TaskGet:                  func() any { return new(TaskGetResult) },
	TaskList:                 func() any { return new(TaskListResult) },
	TaskStop:                 func() any { return new(TaskStopResult) },
	TaskUpdate:               func() any { return new(TaskUpdateResult) },
	TodoWrite:                func() any { return new(TodoWriteResult) },
	WebFetch:                 func() any { return new(WebFetchResult) },
	WebSearch:                func() any { return new(WebSearchResult) },
	Workflow:                 func() any { return new(WorkflowResult) },
	Write:                    func() any { return new(WriteResult) },
}

// toolListResults is the decode table of results that are arrays.
var toolListResults = map[string]func() any{
	ListMCPResources: func() any { return new(ListMCPResourcesResult) },
	RefreshMCPTools:  func() any { return new(RefreshMCPToolsResult) },
}

// ErrorResult is the result of a tool that failed, was refused, or did not run. Text is the reason
// as the model reads it.
type ErrorResult struct{ Text string }

// TextResult is the result of a tool that succeeded and returned a string, as StructuredOutput and
// some tools of MCP servers do.
type TextResult struct{ Text string }

// ContentResult is a result that consists of content blocks, as the tools of MCP servers return
// it.
type ContentResult struct{ Blocks []message.ContentBlock }

// UnknownResult is the result of a tool that is undocumented or newer than this package.
type UnknownResult struct {
	Name string // of the tool
	JSON message.JSON
}

// DecodeResultOf decodes m.ToolUseResult, the structured output of a tool. The message does not name
// the tool; its name is in the *[message.ToolUse] with the ID that equals the ToolUseID of the
// message's *[message.ToolResult]. It returns one of
//
//   - a pointer to the type of the tool, *[BashResult] for Bash, *[EditResult] for Edit and so
//     on; an older name of a tool counts as its current one
//   - *[MCPResult] for an object from a tool of an MCP server
//   - *[ContentResult] for blocks, mostly from a tool of an MCP server
//   - *[ErrorResult] for a string if the block of the message is an error, otherwise *[TextResult]
//   - *[UnknownResult] for anything else
//
// Unknown members are ignored, and a member of another type than its field leaves the field
// zero; m.ToolUseResult still has all of them. The error is [ErrNoResult] if there is no result.
func DecodeResultOf(m *message.User, toolName string) (any, error) {
	return DecodeResult(toolName, m.ToolUseResult, hasToolError(m))
}

// hasToolError reports whether the tool result in the message is an error. The CLI writes a message
// for each result, so the first result block decides.
func hasToolError(m *message.User) bool {
	return slices.ContainsFunc(m.Message.Content.Blocks(), func(b message.ContentBlock) bool {
		r, ok := b.(*message.ToolResult)
		return ok && r.IsError
	})
}

// DecodeResult decodes the result of the tool with this name, as [DecodeResultOf] does for a
// message. Use it for results from other sources, such as a hook or a transcript. A string is an
// *[ErrorResult] if isError is set. The error is [ErrNoResult] for an empty result. The text must be
// valid JSON, like in messages; not every syntax error in other text is reported.
func DecodeResult(toolName string, result message.JSON, isError bool) (any, error) {
	if result == "" {
		return nil, ErrNoResult
	}
	d := jsonwire.NewDecoder(string(result))
	v := decodeResult(d, toolName, result, isError)
	if err := d.Err(); err != nil {
		return nil, fmt.Errorf("claude: result of tool %s: %w", toolName, err)
	}
	return v, nil
}

func decodeResult(d *jsonwire.Decoder, name string, result message.JSON, isError bool) any {
	switch d.Kind() {
	case '"':
		text, _ := d.String()
		if isError {
			return &ErrorResult{Text: text}
		}
		return &TextResult{Text: text}
	case '{':
		return decodeObjectResult(d, name, result)
	case '[':
		return decodeListResult(d, name, result)
	}
	return &UnknownResult{Name: name, JSON: result}
}

func decodeObjectResult(d *jsonwire.Decoder, name string, result message.JSON) any {
	if create, ok := toolResults[Canonical(name)]; ok {
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
	return &UnknownResult{Name: name, JSON: result}
}

func decodeListResult(d *jsonwire.Decoder, name string, result message.JSON) any {
	if create, ok := toolListResults[Canonical(name)]; ok {
		v := create()
		d.Into(v)
		return v
	}
	if !isBlockList(result) {
		return &UnknownResult{Name: name, JSON: result}
	}
	v := new(ContentResult)
	d.Into(&v.Blocks)
	return v
}

// isBlockList reports whether every element of an array is an object with a type, as a content block
// is.
func isBlockList(list message.JSON) bool {
	d := jsonwire.NewDecoder(string(list))
	for e := d.Elements(); e.Next(); d.Skip() {
		if d.Kind() != '{' || d.Peek("type") == "" {
			return false
		}
	}
	return true
}

// Text returns the texts of all text blocks, joined without a separator. Other blocks are omitted.
func (r *ContentResult) Text() string { return message.TextOf(r.Blocks) }
