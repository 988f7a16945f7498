package hook

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Hooks are the hooks of a session: for each event a list of matchers, each with
// its hooks. The CLI calls the hooks of all matchers that match, at the same time.
// Several hooks, also calls of one hook, may run at once. [On] makes a list of
// one matcher.
type Hooks struct {
	PreToolUse          []Matcher[PreToolUseInput, PreToolUseOutput]
	PostToolUse         []Matcher[PostToolUseInput, PostToolUseOutput]
	PostToolUseFailure  []Matcher[PostToolUseFailureInput, PostToolUseFailureOutput]
	PostToolBatch       []Matcher[PostToolBatchInput, PostToolBatchOutput]
	Notification        []Matcher[NotificationInput, NotificationOutput]
	UserPromptSubmit    []Matcher[UserPromptSubmitInput, UserPromptSubmitOutput]
	UserPromptExpansion []Matcher[UserPromptExpansionInput, UserPromptExpansionOutput]
	SessionStart        []Matcher[SessionStartInput, SessionStartOutput]
	SessionEnd          []Matcher[SessionEndInput, SessionEndOutput]
	Stop                []Matcher[StopInput, StopOutput]
	StopFailure         []Matcher[StopFailureInput, StopFailureOutput]
	SubagentStart       []Matcher[SubagentStartInput, SubagentStartOutput]
	SubagentStop        []Matcher[SubagentStopInput, SubagentStopOutput]
	PreCompact          []Matcher[PreCompactInput, PreCompactOutput]
	PostCompact         []Matcher[PostCompactInput, PostCompactOutput]
	PreModelSwitch      []Matcher[PreModelSwitchInput, PreModelSwitchOutput]
	PostModelSwitch     []Matcher[PostModelSwitchInput, PostModelSwitchOutput]
	PermissionRequest   []Matcher[PermissionRequestInput, PermissionRequestOutput]
	PermissionDenied    []Matcher[PermissionDeniedInput, PermissionDeniedOutput]
	Setup               []Matcher[SetupInput, SetupOutput]
	TeammateIdle        []Matcher[TeammateIdleInput, TeammateIdleOutput]
	TaskCreated         []Matcher[TaskCreatedInput, TaskCreatedOutput]
	TaskCompleted       []Matcher[TaskCompletedInput, TaskCompletedOutput]
	Elicitation         []Matcher[ElicitationInput, ElicitationOutput]
	ElicitationResult   []Matcher[ElicitationResultInput, ElicitationResultOutput]
	ConfigChange        []Matcher[ConfigChangeInput, ConfigChangeOutput]
	WorktreeCreate      []Matcher[WorktreeCreateInput, WorktreeCreateOutput]
	WorktreeRemove      []Matcher[WorktreeRemoveInput, WorktreeRemoveOutput]
	InstructionsLoaded  []Matcher[InstructionsLoadedInput, InstructionsLoadedOutput]
	CwdChanged          []Matcher[CwdChangedInput, CwdChangedOutput]
	FileChanged         []Matcher[FileChangedInput, FileChangedOutput]
	DirectoryAdded      []Matcher[DirectoryAddedInput, DirectoryAddedOutput]
	MessageDisplay      []Matcher[MessageDisplayInput, MessageDisplayOutput]

	// Other has the hooks of events that this package has no type for, by the
	// event's name.
	Other map[string][]Matcher[OtherInput, OtherOutput]
}

// all yields every matcher with its event, in the order in which hooks are
// numbered: that of the fields, then Other by name.
func (h *Hooks) all(yield func(Event, anyMatcher) bool) {
	if h == nil {
		return
	}
	for field, list := range reflect.ValueOf(h).Elem().Fields() {
		if field.Type.Kind() != reflect.Slice {
			continue
		}
		for i := range list.Len() {
			if !yield(Event(field.Name), list.Index(i).Interface().(anyMatcher)) {
				return
			}
		}
	}
	for _, event := range slices.Sorted(maps.Keys(h.Other)) {
		for _, m := range h.Other[event] {
			if !yield(Event(event), m) {
				return
			}
		}
	}
}

// clone is a copy that the caller's changes do not reach.
func (h *Hooks) Clone() *Hooks {
	if h == nil {
		return nil
	}
	c := *h
	for _, list := range reflect.ValueOf(&c).Elem().Fields() {
		if list.Kind() == reflect.Slice && !list.IsNil() {
			list.Set(reflect.AppendSlice(reflect.MakeSlice(list.Type(), 0, list.Len()), list))
			for i := range list.Len() {
				list.Index(i).Set(reflect.ValueOf(list.Index(i).Interface().(anyMatcher).clone()))
			}
		}
	}
	c.Other = maps.Clone(h.Other)
	for event, list := range c.Other {
		c.Other[event] = slices.Clone(list)
		for i, m := range list {
			c.Other[event][i] = m.clone().(Matcher[OtherInput, OtherOutput])
		}
	}
	return &c
}

// check refuses hooks that cannot work.
func (h *Hooks) Check() error {
	if h == nil {
		return nil
	}
	for event := range h.Other {
		if _, known := reflect.TypeFor[Hooks]().FieldByName(event); known || event == "" {
			return fmt.Errorf("claude: Hooks.Other: %q has a field of its own or is no event", event)
		}
	}
	for event, m := range h.all {
		if err := m.check(); err != nil {
			return fmt.Errorf("claude: Hooks.%s: %w", event, err)
		}
	}
	return nil
}

var (
	errNilFunc     = errors.New("a hook is nil")
	errHookTimeout = errors.New("a Timeout is negative")
)

// Event is the name of an event that hooks can be registered for. The set is
// open; [Hooks.Other] takes the events that have no constant.
type Event string

// The events that are known. A newer CLI may send others, so a switch over them needs a default.
const (
	PreToolUse          Event = "PreToolUse"
	PostToolUse         Event = "PostToolUse"
	PostToolUseFailure  Event = "PostToolUseFailure"
	PostToolBatch       Event = "PostToolBatch"
	Notification        Event = "Notification"
	UserPromptSubmit    Event = "UserPromptSubmit"
	UserPromptExpansion Event = "UserPromptExpansion"
	SessionStart        Event = "SessionStart"
	SessionEnd          Event = "SessionEnd"
	Stop                Event = "Stop"
	StopFailure         Event = "StopFailure"
	SubagentStart       Event = "SubagentStart"
	SubagentStop        Event = "SubagentStop"
	PreCompact          Event = "PreCompact"
	PostCompact         Event = "PostCompact"
	PreModelSwitch      Event = "PreModelSwitch"
	PostModelSwitch     Event = "PostModelSwitch"
	PermissionRequest   Event = "PermissionRequest"
	PermissionDenied    Event = "PermissionDenied"
	Setup               Event = "Setup"
	TeammateIdle        Event = "TeammateIdle"
	TaskCreated         Event = "TaskCreated"
	TaskCompleted       Event = "TaskCompleted"
	Elicitation         Event = "Elicitation"
	ElicitationResult   Event = "ElicitationResult"
	ConfigChange        Event = "ConfigChange"
	WorktreeCreate      Event = "WorktreeCreate"
	WorktreeRemove      Event = "WorktreeRemove"
	InstructionsLoaded  Event = "InstructionsLoaded"
	CwdChanged          Event = "CwdChanged"
	FileChanged         Event = "FileChanged"
	DirectoryAdded      Event = "DirectoryAdded"
	MessageDisplay      Event = "MessageDisplay"
)

// The types of the hooks, one for each event.
type (
	// PreToolUseFunc is called before a tool runs.
	PreToolUseFunc = Func[PreToolUseInput, PreToolUseOutput]
	// PostToolUseFunc is called after a tool ran well.
	PostToolUseFunc = Func[PostToolUseInput, PostToolUseOutput]
	// PostToolUseFailureFunc is called after a tool failed.
	PostToolUseFailureFunc = Func[PostToolUseFailureInput, PostToolUseFailureOutput]
	// PostToolBatchFunc is called after all tools of a step.
	PostToolBatchFunc = Func[PostToolBatchInput, PostToolBatchOutput]
	// NotificationFunc is called with a note for the user.
	NotificationFunc = Func[NotificationInput, NotificationOutput]
	// UserPromptSubmitFunc is called before the model sees a prompt.
	UserPromptSubmitFunc = Func[UserPromptSubmitInput, UserPromptSubmitOutput]
	// UserPromptExpansionFunc is called when a command becomes a prompt.
	UserPromptExpansionFunc = Func[UserPromptExpansionInput, UserPromptExpansionOutput]
	// SessionStartFunc is called when a session begins.
	SessionStartFunc = Func[SessionStartInput, SessionStartOutput]
	// SessionEndFunc is called when a session ends.
	SessionEndFunc = Func[SessionEndInput, SessionEndOutput]
	// StopFunc is called before a turn ends.
	StopFunc = Func[StopInput, StopOutput]
	// StopFailureFunc is called after an error of the API ended a turn.
	StopFailureFunc = Func[StopFailureInput, StopFailureOutput]
	// SubagentStartFunc is called when a subagent starts.
	SubagentStartFunc = Func[SubagentStartInput, SubagentStartOutput]
	// SubagentStopFunc is called before a subagent ends.
	SubagentStopFunc = Func[SubagentStopInput, SubagentStopOutput]
	// PreCompactFunc is called before the conversation is compacted.
	PreCompactFunc = Func[PreCompactInput, PreCompactOutput]
	// PostCompactFunc is called after the conversation was compacted.
	PostCompactFunc = Func[PostCompactInput, PostCompactOutput]
	// PreModelSwitchFunc is called before the model changes.
	PreModelSwitchFunc = Func[PreModelSwitchInput, PreModelSwitchOutput]
	// PostModelSwitchFunc is called after the model changed.
	PostModelSwitchFunc = Func[PostModelSwitchInput, PostModelSwitchOutput]
	// PermissionRequestFunc is called when permission is asked for.
	PermissionRequestFunc = Func[PermissionRequestInput, PermissionRequestOutput]
	// PermissionDeniedFunc is called after a call was denied.
	PermissionDeniedFunc = Func[PermissionDeniedInput, PermissionDeniedOutput]
	// SetupFunc is called when a project is set up.
	SetupFunc = Func[SetupInput, SetupOutput]
	// TeammateIdleFunc is called when an agent of a team has nothing to do.
	TeammateIdleFunc = Func[TeammateIdleInput, TeammateIdleOutput]
	// TaskCreatedFunc is called when a task is put on the list.
	TaskCreatedFunc = Func[TaskCreatedInput, TaskCreatedOutput]
	// TaskCompletedFunc is called when a task of the list is done.
	TaskCompletedFunc = Func[TaskCompletedInput, TaskCompletedOutput]
	// ElicitationFunc is called when an MCP server asks something.
	ElicitationFunc = Func[ElicitationInput, ElicitationOutput]
	// ElicitationResultFunc is called before an MCP server gets its answer.
	ElicitationResultFunc = Func[ElicitationResultInput, ElicitationResultOutput]
	// ConfigChangeFunc is called when configuration changed on disk.
	ConfigChangeFunc = Func[ConfigChangeInput, ConfigChangeOutput]
	// WorktreeCreateFunc is called to make a worktree.
	WorktreeCreateFunc = Func[WorktreeCreateInput, WorktreeCreateOutput]
	// WorktreeRemoveFunc is called to remove a worktree.
	WorktreeRemoveFunc = Func[WorktreeRemoveInput, WorktreeRemoveOutput]
	// InstructionsLoadedFunc is called when a file of instructions was read.
	InstructionsLoadedFunc = Func[InstructionsLoadedInput, InstructionsLoadedOutput]
	// CwdChangedFunc is called when the working directory changed.
	CwdChangedFunc = Func[CwdChangedInput, CwdChangedOutput]
	// FileChangedFunc is called when a watched file changed.
	FileChangedFunc = Func[FileChangedInput, FileChangedOutput]
	// DirectoryAddedFunc is called when a directory was added.
	DirectoryAddedFunc = Func[DirectoryAddedInput, DirectoryAddedOutput]
	// MessageDisplayFunc is called with lines of an answer as they are shown.
	MessageDisplayFunc = Func[MessageDisplayInput, MessageDisplayOutput]
	// OtherFunc is called for an event that this package has no type for.
	OtherFunc = Func[OtherInput, OtherOutput]
)
