package claude

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
	PreToolUse          []HookMatcher[PreToolUseInput, PreToolUseOutput]
	PostToolUse         []HookMatcher[PostToolUseInput, PostToolUseOutput]
	PostToolUseFailure  []HookMatcher[PostToolUseFailureInput, PostToolUseFailureOutput]
	PostToolBatch       []HookMatcher[PostToolBatchInput, PostToolBatchOutput]
	Notification        []HookMatcher[NotificationInput, NotificationOutput]
	UserPromptSubmit    []HookMatcher[UserPromptSubmitInput, UserPromptSubmitOutput]
	UserPromptExpansion []HookMatcher[UserPromptExpansionInput, UserPromptExpansionOutput]
	SessionStart        []HookMatcher[SessionStartInput, SessionStartOutput]
	SessionEnd          []HookMatcher[SessionEndInput, SessionEndOutput]
	Stop                []HookMatcher[StopInput, StopOutput]
	StopFailure         []HookMatcher[StopFailureInput, StopFailureOutput]
	SubagentStart       []HookMatcher[SubagentStartInput, SubagentStartOutput]
	SubagentStop        []HookMatcher[SubagentStopInput, SubagentStopOutput]
	PreCompact          []HookMatcher[PreCompactInput, PreCompactOutput]
	PostCompact         []HookMatcher[PostCompactInput, PostCompactOutput]
	PreModelSwitch      []HookMatcher[PreModelSwitchInput, PreModelSwitchOutput]
	PostModelSwitch     []HookMatcher[PostModelSwitchInput, PostModelSwitchOutput]
	PermissionRequest   []HookMatcher[PermissionRequestInput, PermissionRequestOutput]
	PermissionDenied    []HookMatcher[PermissionDeniedInput, PermissionDeniedOutput]
	Setup               []HookMatcher[SetupInput, SetupOutput]
	TeammateIdle        []HookMatcher[TeammateIdleInput, TeammateIdleOutput]
	TaskCreated         []HookMatcher[TaskCreatedInput, TaskCreatedOutput]
	TaskCompleted       []HookMatcher[TaskCompletedInput, TaskCompletedOutput]
	Elicitation         []HookMatcher[ElicitationInput, ElicitationOutput]
	ElicitationResult   []HookMatcher[ElicitationResultInput, ElicitationResultOutput]
	ConfigChange        []HookMatcher[ConfigChangeInput, ConfigChangeOutput]
	WorktreeCreate      []HookMatcher[WorktreeCreateInput, WorktreeCreateOutput]
	WorktreeRemove      []HookMatcher[WorktreeRemoveInput, WorktreeRemoveOutput]
	InstructionsLoaded  []HookMatcher[InstructionsLoadedInput, InstructionsLoadedOutput]
	CwdChanged          []HookMatcher[CwdChangedInput, CwdChangedOutput]
	FileChanged         []HookMatcher[FileChangedInput, FileChangedOutput]
	DirectoryAdded      []HookMatcher[DirectoryAddedInput, DirectoryAddedOutput]
	MessageDisplay      []HookMatcher[MessageDisplayInput, MessageDisplayOutput]

	// Other has the hooks of events that this package has no type for, by the
	// event's name.
	Other map[string][]HookMatcher[OtherHookInput, OtherHookOutput]
}

// all yields every matcher with its event, in the order in which hooks are
// numbered: that of the fields, then Other by name.
func (h *Hooks) all(yield func(HookEvent, hookMatcher) bool) {
	if h == nil {
		return
	}
	for field, list := range reflect.ValueOf(h).Elem().Fields() {
		if field.Type.Kind() != reflect.Slice {
			continue
		}
		for i := range list.Len() {
			if !yield(HookEvent(field.Name), list.Index(i).Interface().(hookMatcher)) {
				return
			}
		}
	}
	for _, event := range slices.Sorted(maps.Keys(h.Other)) {
		for _, m := range h.Other[event] {
			if !yield(HookEvent(event), m) {
				return
			}
		}
	}
}

// clone is a copy that the caller's changes do not reach.
func (h *Hooks) clone() *Hooks {
	if h == nil {
		return nil
	}
	c := *h
	for _, list := range reflect.ValueOf(&c).Elem().Fields() {
		if list.Kind() == reflect.Slice && !list.IsNil() {
			list.Set(reflect.AppendSlice(reflect.MakeSlice(list.Type(), 0, list.Len()), list))
			for i := range list.Len() {
				list.Index(i).Set(reflect.ValueOf(list.Index(i).Interface().(hookMatcher).clone()))
			}
		}
	}
	c.Other = maps.Clone(h.Other)
	for event, list := range c.Other {
		c.Other[event] = slices.Clone(list)
		for i, m := range list {
			c.Other[event][i] = m.clone().(HookMatcher[OtherHookInput, OtherHookOutput])
		}
	}
	return &c
}

// check refuses hooks that cannot work.
func (h *Hooks) check() error {
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
	errNilHook     = errors.New("a hook is nil")
	errHookTimeout = errors.New("a Timeout is negative")
)
