package hook

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Hooks holds the hooks of a session: for each event a list of matchers, each with its hooks. The
// CLI calls the hooks of all matchers that match at the same time, so several hooks, and several
// calls of one hook, may run at once. [On] makes a list of one matcher.
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

	// Other holds the hooks of events that this package has no type for, by event name.
	Other map[string][]Matcher[OtherInput, OtherOutput]
}

// all yields every matcher with its event, in the order of their ids: the fields in order, then
// Other by name.
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

// Clone returns a copy that is independent of later changes to h. The functions are shared.
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

// Check returns an error for hooks that cannot work: a nil function, a negative timeout, or a
// known event in Other.
func (h *Hooks) Check() error {
	if h == nil {
		return nil
	}
	for event := range h.Other {
		if _, known := reflect.TypeFor[Hooks]().FieldByName(event); known || event == "" {
			return fmt.Errorf("claude: Hooks.Other: %q has a separate field or is not an event", event)
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

// Event is the name of an event that hooks can be registered for. The set is open: hooks of events
// without a constant go into [Hooks.Other].
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
	// PreToolUseFunc is called before a tool runs. It can allow, deny or defer the call, and
	// change its input.
	PreToolUseFunc = Func[PreToolUseInput, PreToolUseOutput]
	// PostToolUseFunc is called after a tool succeeded. It can add context to the result, or
	// replace it.
	PostToolUseFunc = Func[PostToolUseInput, PostToolUseOutput]
	// PostToolUseFailureFunc is called after a tool failed or was interrupted. It can add
	// context to the error.
	PostToolUseFailureFunc = Func[PostToolUseFailureInput, PostToolUseFailureOutput]
	// PostToolBatchFunc is called after all tools of a step have ended. It can add context to
	// their results.
	PostToolBatchFunc = Func[PostToolBatchInput, PostToolBatchOutput]
	// NotificationFunc is called with a note that the CLI would show to its user, such as a
	// request for permission.
	NotificationFunc = Func[NotificationInput, NotificationOutput]
	// UserPromptSubmitFunc is called before the model sees a prompt. It can refuse the prompt
	// or add context to it.
	UserPromptSubmitFunc = Func[UserPromptSubmitInput, UserPromptSubmitOutput]
	// UserPromptExpansionFunc is called when a command becomes a prompt. It can refuse the
	// prompt or add context to it.
	UserPromptExpansionFunc = Func[UserPromptExpansionInput, UserPromptExpansionOutput]
	// SessionStartFunc is called after /clear and when the conversation was compacted, but not when
	// the CLI starts. It can add context and a first prompt.
	SessionStartFunc = Func[SessionStartInput, SessionStartOutput]
	// SessionEndFunc is called at /clear, with the reason, but not when the CLI ends. It cannot
	// change the session.
	SessionEndFunc = Func[SessionEndInput, SessionEndOutput]
	// StopFunc is called before a turn ends. It can keep the turn going and give the model the
	// reason.
	StopFunc = Func[StopInput, StopOutput]
	// StopFailureFunc is called after an error of the API ended a turn, in place of a
	// [StopFunc].
	StopFailureFunc = Func[StopFailureInput, StopFailureOutput]
	// SubagentStartFunc is called when a subagent starts. It can add context to the subagent's
	// first prompt.
	SubagentStartFunc = Func[SubagentStartInput, SubagentStartOutput]
	// SubagentStopFunc is called before a subagent ends. It can keep the subagent going, as a
	// [StopFunc] does for a turn.
	SubagentStopFunc = Func[SubagentStopInput, SubagentStopOutput]
	// PreCompactFunc is called before the conversation is compacted, whether a user asked for
	// it or the context is full.
	PreCompactFunc = Func[PreCompactInput, PreCompactOutput]
	// PostCompactFunc is called after the conversation was compacted, with the summary that
	// replaces the earlier messages.
	PostCompactFunc = Func[PostCompactInput, PostCompactOutput]
	// PreModelSwitchFunc is called before the model of the session changes. It can refuse the
	// change and give the reason.
	PreModelSwitchFunc = Func[PreModelSwitchInput, PreModelSwitchOutput]
	// PostModelSwitchFunc is called after the model of the session changed. It can add context
	// to the next request.
	PostModelSwitchFunc = Func[PostModelSwitchInput, PostModelSwitchOutput]
	// PermissionRequestFunc is called when the CLI would ask for permission. It can answer in
	// place of the user.
	PermissionRequestFunc = Func[PermissionRequestInput, PermissionRequestOutput]
	// PermissionDeniedFunc is called after a tool call was denied. It can ask the model to retry
	// the call.
	PermissionDeniedFunc = Func[PermissionDeniedInput, PermissionDeniedOutput]
	// SetupFunc is called when the CLI sets up a project, for the first time or for
	// maintenance.
	SetupFunc = Func[SetupInput, SetupOutput]
	// TeammateIdleFunc is called when an agent of a team is idle, with the names of the agent and
	// the team.
	TeammateIdleFunc = Func[TeammateIdleInput, TeammateIdleOutput]
	// TaskCreatedFunc is called when a task is added to the agent's list, with its subject and
	// its description.
	TaskCreatedFunc = Func[TaskCreatedInput, TaskCreatedOutput]
	// TaskCompletedFunc is called when a task of the agent's list is about to be marked as
	// completed, with its subject and its description.
	TaskCompletedFunc = Func[TaskCompletedInput, TaskCompletedOutput]
	// ElicitationFunc is called when an MCP server asks the user a question. It can decline in
	// place of the user.
	ElicitationFunc = Func[ElicitationInput, ElicitationOutput]
	// ElicitationResultFunc is called before an MCP server gets the user's answer. It can turn
	// the answer into a refusal.
	ElicitationResultFunc = Func[ElicitationResultInput, ElicitationResultOutput]
	// ConfigChangeFunc is called when a file of the configuration, or a skill, has changed on
	// disk during the session.
	ConfigChangeFunc = Func[ConfigChangeInput, ConfigChangeOutput]
	// WorktreeCreateFunc is called to create a worktree in place of the CLI, which would use
	// git.
	WorktreeCreateFunc = Func[WorktreeCreateInput, WorktreeCreateOutput]
	// WorktreeRemoveFunc is called to remove a worktree that a [WorktreeCreateFunc] has
	// created, when the CLI no longer needs it.
	WorktreeRemoveFunc = Func[WorktreeRemoveInput, WorktreeRemoveOutput]
	// InstructionsLoadedFunc is called when the CLI has read a file of instructions, with the
	// reason.
	InstructionsLoadedFunc = Func[InstructionsLoadedInput, InstructionsLoadedOutput]
	// CwdChangedFunc is called when the working directory of the session has changed. It can
	// name files to watch.
	CwdChangedFunc = Func[CwdChangedInput, CwdChangedOutput]
	// FileChangedFunc is called when a file that is being watched was changed, added or
	// removed.
	FileChangedFunc = Func[FileChangedInput, FileChangedOutput]
	// DirectoryAddedFunc is called when a directory was added to the directories that tools may
	// use.
	DirectoryAddedFunc = Func[DirectoryAddedInput, DirectoryAddedOutput]
	// MessageDisplayFunc is called with lines of an answer as they are displayed. It can replace
	// the displayed text.
	MessageDisplayFunc = Func[MessageDisplayInput, MessageDisplayOutput]
	// OtherFunc is called for an event that this package has no type for, registered in
	// [Hooks.Other].
	OtherFunc = Func[OtherInput, OtherOutput]
)
