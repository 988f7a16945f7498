package claude

// The types of the hooks, one for each event.
type (
	// PreToolUseHook is called before a tool runs.
	PreToolUseHook = Hook[PreToolUseInput, PreToolUseOutput]
	// PostToolUseHook is called after a tool ran well.
	PostToolUseHook = Hook[PostToolUseInput, PostToolUseOutput]
	// PostToolUseFailureHook is called after a tool failed.
	PostToolUseFailureHook = Hook[PostToolUseFailureInput, PostToolUseFailureOutput]
	// PostToolBatchHook is called after all tools of a step.
	PostToolBatchHook = Hook[PostToolBatchInput, PostToolBatchOutput]
	// NotificationHook is called with a note for the user.
	NotificationHook = Hook[NotificationInput, NotificationOutput]
	// UserPromptSubmitHook is called before the model sees a prompt.
	UserPromptSubmitHook = Hook[UserPromptSubmitInput, UserPromptSubmitOutput]
	// UserPromptExpansionHook is called when a command becomes a prompt.
	UserPromptExpansionHook = Hook[UserPromptExpansionInput, UserPromptExpansionOutput]
	// SessionStartHook is called when a session begins.
	SessionStartHook = Hook[SessionStartInput, SessionStartOutput]
	// SessionEndHook is called when a session ends.
	SessionEndHook = Hook[SessionEndInput, SessionEndOutput]
	// StopHook is called before a turn ends.
	StopHook = Hook[StopInput, StopOutput]
	// StopFailureHook is called after an error of the API ended a turn.
	StopFailureHook = Hook[StopFailureInput, StopFailureOutput]
	// SubagentStartHook is called when a subagent starts.
	SubagentStartHook = Hook[SubagentStartInput, SubagentStartOutput]
	// SubagentStopHook is called before a subagent ends.
	SubagentStopHook = Hook[SubagentStopInput, SubagentStopOutput]
	// PreCompactHook is called before the conversation is compacted.
	PreCompactHook = Hook[PreCompactInput, PreCompactOutput]
	// PostCompactHook is called after the conversation was compacted.
	PostCompactHook = Hook[PostCompactInput, PostCompactOutput]
	// PreModelSwitchHook is called before the model changes.
	PreModelSwitchHook = Hook[PreModelSwitchInput, PreModelSwitchOutput]
	// PostModelSwitchHook is called after the model changed.
	PostModelSwitchHook = Hook[PostModelSwitchInput, PostModelSwitchOutput]
	// PermissionRequestHook is called when permission is asked for.
	PermissionRequestHook = Hook[PermissionRequestInput, PermissionRequestOutput]
	// PermissionDeniedHook is called after a call was denied.
	PermissionDeniedHook = Hook[PermissionDeniedInput, PermissionDeniedOutput]
	// SetupHook is called when a project is set up.
	SetupHook = Hook[SetupInput, SetupOutput]
	// TeammateIdleHook is called when an agent of a team has nothing to do.
	TeammateIdleHook = Hook[TeammateIdleInput, TeammateIdleOutput]
	// TaskCreatedHook is called when a task is put on the list.
	TaskCreatedHook = Hook[TaskCreatedInput, TaskCreatedOutput]
	// TaskCompletedHook is called when a task of the list is done.
	TaskCompletedHook = Hook[TaskCompletedInput, TaskCompletedOutput]
	// ElicitationHook is called when an MCP server asks something.
	ElicitationHook = Hook[ElicitationInput, ElicitationOutput]
	// ElicitationResultHook is called before an MCP server gets its answer.
	ElicitationResultHook = Hook[ElicitationResultInput, ElicitationResultOutput]
	// ConfigChangeHook is called when configuration changed on disk.
	ConfigChangeHook = Hook[ConfigChangeInput, ConfigChangeOutput]
	// WorktreeCreateHook is called to make a worktree.
	WorktreeCreateHook = Hook[WorktreeCreateInput, WorktreeCreateOutput]
	// WorktreeRemoveHook is called to remove a worktree.
	WorktreeRemoveHook = Hook[WorktreeRemoveInput, WorktreeRemoveOutput]
	// InstructionsLoadedHook is called when a file of instructions was read.
	InstructionsLoadedHook = Hook[InstructionsLoadedInput, InstructionsLoadedOutput]
	// CwdChangedHook is called when the working directory changed.
	CwdChangedHook = Hook[CwdChangedInput, CwdChangedOutput]
	// FileChangedHook is called when a watched file changed.
	FileChangedHook = Hook[FileChangedInput, FileChangedOutput]
	// DirectoryAddedHook is called when a directory was added.
	DirectoryAddedHook = Hook[DirectoryAddedInput, DirectoryAddedOutput]
	// MessageDisplayHook is called with lines of an answer as they are shown.
	MessageDisplayHook = Hook[MessageDisplayInput, MessageDisplayOutput]
	// OtherHook is called for an event that this package has no type for.
	OtherHook = Hook[OtherHookInput, OtherHookOutput]
)
