package tool

import (
	"fmt"
	"strings"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// toolInputs is the decode table of inputs, by canonical name. It omits tools with undocumented
// input.
var toolInputs = map[string]func() any{
	Agent:                    func() any { return new(AgentInput) },
	Artifact:                 func() any { return new(ArtifactInput) },
	AskUserQuestion:          func() any { return new(AskUserQuestionInput) },
	Bash:                     func() any { return new(BashInput) },
	ClaudeDesign:             func() any { return new(ClaudeDesignInput) },
	CronCreate:               func() any { return new(CronCreateInput) },
	CronDelete:               func() any { return new(CronDeleteInput) },
	CronList:                 func() any { return new(CronListInput) },
	Edit:                     func() any { return new(EditInput) },
	EnterPlanMode:            func() any { return new(EnterPlanModeInput) },
	EnterWorktree:            func() any { return new(EnterWorktreeInput) },
	ExitPlanMode:             func() any { return new(ExitPlanModeInput) },
	ExitWorktree:             func() any { return new(ExitWorktreeInput) },
	Glob:                     func() any { return new(GlobInput) },
	Grep:                     func() any { return new(GrepInput) },
	ListAgents:               func() any { return new(ListAgentsInput) },
	ListMCPResources:         func() any { return new(ListMCPResourcesInput) },
	Monitor:                  func() any { return new(MonitorInput) },
	NotebookEdit:             func() any { return new(NotebookEditInput) },
	OfferChromeSetup:         func() any { return new(OfferChromeSetupInput) },
	Projects:                 func() any { return new(ProjectsInput) },
	ProposeGoal:              func() any { return new(ProposeGoalInput) },
	ProposeSkills:            func() any { return new(ProposeSkillsInput) },
	PushNotification:         func() any { return new(PushNotificationInput) },
	Read:                     func() any { return new(ReadInput) },
	ReadMCPResource:          func() any { return new(ReadMCPResourceInput) },
	ReadMCPResourceDir:       func() any { return new(ReadMCPResourceDirInput) },
	ReadNotifications:        func() any { return new(ReadNotificationsInput) },
	RefreshMCPTools:          func() any { return new(RefreshMCPToolsInput) },
	RemoteTrigger:            func() any { return new(RemoteTriggerInput) },
	ReportFindings:           func() any { return new(ReportFindingsInput) },
	ScheduleWakeup:           func() any { return new(ScheduleWakeupInput) },
	SendFeedback:             func() any { return new(SendFeedbackInput) },
	ShowOnboardingRolePicker: func() any { return new(ShowOnboardingRolePickerInput) },
	Skill:                    func() any { return new(SkillInput) },
	TaskCreate:               func() any { return new(TaskCreateInput) },
	TaskGet:                  func() any { return new(TaskGetInput) },
	TaskList:                 func() any { return new(TaskListInput) },
	TaskStop:                 func() any { return new(TaskStopInput) },
	TaskUpdate:               func() any { return new(TaskUpdateInput) },
	TodoWrite:                func() any { return new(TodoWriteInput) },
	ToolSearch:               func() any { return new(ToolSearchInput) },
	WebFetch:                 func() any { return new(WebFetchInput) },
	WebSearch:                func() any { return new(WebSearchInput) },
	Workflow:                 func() any { return new(WorkflowInput) },
	Write:                    func() any { return new(WriteInput) },
}

// UnknownInput is the input of a tool that this package has no type for: a tool of an MCP server,
// a tool of a newer CLI, or StructuredOutput, for which the caller defines the schema. It also
// holds input that is not an object.
type UnknownInput struct {
	Name  string
	Input message.JSON
}

// UnparsedInput is an input that was not valid JSON, because the model wrote invalid JSON or was
// cut off. The tool does not run and has an error as its result. [Decode] returns an
// UnparsedInput as the value, [DecodeAs] as the error.
type UnparsedInput struct {
	Name string // of the tool
	Text string // the model's text, possibly shortened by the CLI
	Len  int64  // the length before shortening
}

func (u *UnparsedInput) Error() string {
	return fmt.Sprintf("claude: the input of tool %s is not JSON: %.200q", u.Name, u.Text)
}

// Decode decodes the input of a call and returns a pointer to the type of the tool: *[BashInput]
// for Bash, *[EditInput] for Edit, and so on. An older name of a tool counts as its current one,
// see [Canonical]. For any other tool it returns an *[UnknownInput], and for an input that is not
// valid JSON an *[UnparsedInput].
//
// Unknown members are ignored, and a member of another type than its field leaves the field zero;
// the JSON of the call still has all of them. Decode returns an error only for a call that the
// program built without input or with invalid JSON.
func Decode(c Call) (any, error) {
	name, input := c.Call()
	return DecodeInput(name, input)
}

// Call is anything that holds a call of a tool: a block of an answer, the input of a hook, or a
// request for permission.
type Call interface {
	// Call returns the tool's name and the input as the model wrote it.
	Call() (name string, input message.JSON)
}

// DecodeInput decodes the input of the tool with this name, as [Decode] does for a call. Use it
// for inputs from other sources, such as a transcript.
func DecodeInput(name string, input message.JSON) (any, error) {
	if input == "" {
		return nil, fmt.Errorf("claude: the call of tool %s has no input", name)
	}
	if unparsed := unparsedInput(name, input); unparsed != nil {
		return unparsed, nil
	}
	d := jsonwire.NewDecoder(string(input))
	create, ok := toolInputs[Canonical(name)]
	if !ok || d.Kind() != '{' {
		return &UnknownInput{Name: name, Input: input}, nil
	}
	v := create()
	d.Into(v)
	if err := d.End(); err != nil {
		return nil, fmt.Errorf("claude: input of tool %s: %w", name, err)
	}
	return v, nil
}

// DecodeAs decodes the input of a call into a T by the rules of [encoding/json.Unmarshal], so it
// fails on a member of the wrong type, unlike [Decode]. It ignores the name of the tool, so T may
// be a caller's type for a tool of an MCP server. For an input that is not valid JSON the error
// is an *[UnparsedInput].
func DecodeAs[T any](c Call) (*T, error) {
	name, input := c.Call()
	if input == "" {
		return nil, fmt.Errorf("claude: the call of tool %s has no input", name)
	}
	if unparsed := unparsedInput(name, input); unparsed != nil {
		return nil, unparsed
	}
	v := new(T)
	if err := input.Decode(v); err != nil {
		return nil, fmt.Errorf("claude: input of tool %s: %w", name, err)
	}
	return v, nil
}

// unparsedKey is the only member of the object that the CLI substitutes for input that was not
// JSON; see the recording invalid-tool-input.
const unparsedKey = "__unparsedToolInput"

// unparsedInput decodes such an object; it returns nil for any other input. The string search
// first avoids parsing large inputs twice.
func unparsedInput(name string, input message.JSON) *UnparsedInput {
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
	return &UnparsedInput{Name: name, Text: in[unparsedKey].Raw, Len: in[unparsedKey].Len}
}
