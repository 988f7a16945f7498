package claude

import (
	"fmt"
	"strings"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// toolInputs is the decode table of inputs, by canonical name. Tools whose
// input nobody has written down are not in it.
var toolInputs = map[string]func() any{
	ToolAgent:                    func() any { return new(AgentInput) },
	ToolArtifact:                 func() any { return new(ArtifactInput) },
	ToolAskUserQuestion:          func() any { return new(AskUserQuestionInput) },
	ToolBash:                     func() any { return new(BashInput) },
	ToolClaudeDesign:             func() any { return new(ClaudeDesignInput) },
	ToolCronCreate:               func() any { return new(CronCreateInput) },
	ToolCronDelete:               func() any { return new(CronDeleteInput) },
	ToolCronList:                 func() any { return new(CronListInput) },
	ToolEdit:                     func() any { return new(EditInput) },
	ToolEnterPlanMode:            func() any { return new(EnterPlanModeInput) },
	ToolEnterWorktree:            func() any { return new(EnterWorktreeInput) },
	ToolExitPlanMode:             func() any { return new(ExitPlanModeInput) },
	ToolExitWorktree:             func() any { return new(ExitWorktreeInput) },
	ToolGlob:                     func() any { return new(GlobInput) },
	ToolGrep:                     func() any { return new(GrepInput) },
	ToolListAgents:               func() any { return new(ListAgentsInput) },
	ToolListMCPResources:         func() any { return new(ListMCPResourcesInput) },
	ToolMonitor:                  func() any { return new(MonitorInput) },
	ToolNotebookEdit:             func() any { return new(NotebookEditInput) },
	ToolOfferChromeSetup:         func() any { return new(OfferChromeSetupInput) },
	ToolProjects:                 func() any { return new(ProjectsInput) },
	ToolProposeGoal:              func() any { return new(ProposeGoalInput) },
	ToolProposeSkills:            func() any { return new(ProposeSkillsInput) },
	ToolPushNotification:         func() any { return new(PushNotificationInput) },
	ToolRead:                     func() any { return new(ReadInput) },
	ToolReadMCPResource:          func() any { return new(ReadMCPResourceInput) },
	ToolReadMCPResourceDir:       func() any { return new(ReadMCPResourceDirInput) },
	ToolReadNotifications:        func() any { return new(ReadNotificationsInput) },
	ToolRefreshMCPTools:          func() any { return new(RefreshMCPToolsInput) },
	ToolRemoteTrigger:            func() any { return new(RemoteTriggerInput) },
	ToolReportFindings:           func() any { return new(ReportFindingsInput) },
	ToolScheduleWakeup:           func() any { return new(ScheduleWakeupInput) },
	ToolSendFeedback:             func() any { return new(SendFeedbackInput) },
	ToolShowOnboardingRolePicker: func() any { return new(ShowOnboardingRolePickerInput) },
	ToolSkill:                    func() any { return new(SkillInput) },
	ToolTaskCreate:               func() any { return new(TaskCreateInput) },
	ToolTaskGet:                  func() any { return new(TaskGetInput) },
	ToolTaskList:                 func() any { return new(TaskListInput) },
	ToolTaskStop:                 func() any { return new(TaskStopInput) },
	ToolTaskUpdate:               func() any { return new(TaskUpdateInput) },
	ToolTodoWrite:                func() any { return new(TodoWriteInput) },
	ToolToolSearch:               func() any { return new(ToolSearchInput) },
	ToolWebFetch:                 func() any { return new(WebFetchInput) },
	ToolWebSearch:                func() any { return new(WebSearchInput) },
	ToolWorkflow:                 func() any { return new(WorkflowInput) },
	ToolWrite:                    func() any { return new(WriteInput) },
}

// UnknownToolInput is the input of a tool that this package has no type for: a
// tool of an MCP server, StructuredOutput (whose shape is the caller's own
// schema), a newer CLI's tool; or an input that is no object.
type UnknownToolInput struct {
	Name  string
	Input JSON
}

// UnparsedToolInput is an input that was no JSON at all: the model wrote
// something else, or was cut off. The tool does not run; its result says so.
// [ToolUseBlock.DecodeInput] returns it as a value, [DecodeInputAs] as the
// error.
type UnparsedToolInput struct {
	Name string // of the tool
	Text string // what the model wrote; the CLI may have shortened it
	Len  int64  // how long it was
}

func (u *UnparsedToolInput) Error() string {
	return fmt.Sprintf("claude: the input of tool %s is no JSON: %.200q", u.Name, u.Text)
}

// DecodeInput decodes the input of the call into a pointer to the tool's own
// type: *[BashInput] for Bash, *[EditInput] for Edit, and so on; a legacy name
// counts as the one of today. For any other tool it is an *[UnknownToolInput],
// for an input that was no JSON an *[UnparsedToolInput].
//
// As everywhere on the wire, members that are unknown are passed over and one of
// another type than its field leaves the field zero; b.Input has all of them.
// The error is for a block that was built without an input, or with one that is
// no JSON.
func (b *ToolUseBlock) DecodeInput() (any, error) { return DecodeToolInput(b.Name, b.Input) }

// DecodeToolInput does for the input of any call, such as one that a hook or a
// permission request is about, what [ToolUseBlock.DecodeInput] does for a
// block's.
func DecodeToolInput(name string, input JSON) (any, error) {
	if input == "" {
		return nil, fmt.Errorf("claude: the call of tool %s has no input", name)
	}
	if unparsed := unparsedInput(name, input); unparsed != nil {
		return unparsed, nil
	}
	d := jsonwire.NewDecoder(string(input))
	create, ok := toolInputs[CanonicalTool(name)]
	if !ok || d.Kind() != '{' {
		return &UnknownToolInput{Name: name, Input: input}, nil
	}
	v := create()
	d.Into(v)
	if err := d.End(); err != nil {
		return nil, fmt.Errorf("claude: input of tool %s: %w", name, err)
	}
	return v, nil
}

// DecodeInputAs decodes the input of a call into a T, as [json.Unmarshal] does:
// unlike [ToolUseBlock.DecodeInput] it fails on a member of the wrong type. The
// tool's name is not looked at, so T may be a type of the caller for a tool of
// an MCP server. An input that was no JSON is the error *[UnparsedToolInput].
func DecodeInputAs[T any](b *ToolUseBlock) (*T, error) {
	if b.Input == "" {
		return nil, fmt.Errorf("claude: the call of tool %s has no input", b.Name)
	}
	if unparsed := unparsedInput(b.Name, b.Input); unparsed != nil {
		return nil, unparsed
	}
	v := new(T)
	if err := b.Input.Decode(v); err != nil {
		return nil, fmt.Errorf("claude: input of tool %s: %w", b.Name, err)
	}
	return v, nil
}

// unparsedKey is the only member of an input that stands for one that was no
// JSON; see the recording invalid-tool-input.
const unparsedKey = "__unparsedToolInput"

// unparsedInput is what such an input says, nil for any other. The search keeps
// large inputs from being scanned twice.
func unparsedInput(name string, input JSON) *UnparsedToolInput {
	if !strings.Contains(string(input), `"`+unparsedKey+`"`) {
		return nil
	}
	var in map[string]*struct {
		Raw string `json:"raw"`
		Len int64  `json:"len"`
	}
	if jsonwire.Unmarshal(string(input), &in) != nil || len(in) != 1 || in[unparsedKey] == nil {
		return nil
	}
	return &UnparsedToolInput{Name: name, Text: in[unparsedKey].Raw, Len: in[unparsedKey].Len}
}
