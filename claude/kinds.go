package claude

import "reflect"

// messageTypes is the one decode table: the wire's name of a message, with the
// subtype for system messages, and its Go type.
var messageTypes = map[string]func() Message{
	"assistant":              create[AssistantMessage],
	"user":                   create[UserMessage],
	"result":                 create[ResultMessage],
	"stream_event":           create[StreamEventMessage],
	"tool_progress":          create[ToolProgressMessage],
	"tool_use_summary":       create[ToolUseSummaryMessage],
	"auth_status":            create[AuthStatusMessage],
	"rate_limit_event":       create[RateLimitEventMessage],
	"prompt_suggestion":      create[PromptSuggestionMessage],
	"conversation_reset":     create[ConversationResetMessage],
	"active_goal":            create[ActiveGoalMessage],
	"keep_alive":             create[KeepAliveMessage],
	"transcript_mirror":      create[TranscriptMirrorMessage],
	"command_lifecycle":      create[CommandLifecycleMessage],
	"autocompact_state":      create[AutocompactStateMessage],
	"control_request":        create[ControlRequestMessage],
	"control_response":       create[ControlResponseMessage],
	"control_cancel_request": create[ControlCancelRequestMessage],
	"error":                  create[ErrorMessage],

	"system/init":                      create[InitMessage],
	"system/status":                    create[StatusMessage],
	"system/compact_boundary":          create[CompactBoundaryMessage],
	"system/api_retry":                 create[APIRetryMessage],
	"system/control_request_progress":  create[ControlRequestProgressMessage],
	"system/model_refusal_fallback":    create[ModelRefusalFallbackMessage],
	"system/model_refusal_no_fallback": create[ModelRefusalNoFallbackMessage],
	"system/model_fallback":            create[ModelFallbackMessage],
	"system/local_command_output":      create[LocalCommandOutputMessage],
	"system/hook_started":              create[HookStartedMessage],
	"system/hook_progress":             create[HookProgressMessage],
	"system/hook_response":             create[HookResponseMessage],
	"system/plugin_install":            create[PluginInstallMessage],
	"system/task_started":              create[TaskStartedMessage],
	"system/task_progress":             create[TaskProgressMessage],
	"system/task_updated":              create[TaskUpdatedMessage],
	"system/task_notification":         create[TaskNotificationMessage],
	"system/background_tasks_changed":  create[BackgroundTasksChangedMessage],
	"system/thinking_tokens":           create[ThinkingTokensMessage],
	"system/session_state_changed":     create[SessionStateChangedMessage],
	"system/session_title_changed":     create[SessionTitleChangedMessage],
	"system/worker_shutting_down":      create[WorkerShuttingDownMessage],
	"system/commands_changed":          create[CommandsChangedMessage],
	"system/notification":              create[NotificationMessage],
	"system/files_persisted":           create[FilesPersistedMessage],
	"system/memory_recall":             create[MemoryRecallMessage],
	"system/elicitation_complete":      create[ElicitationCompleteMessage],
	"system/permission_denied":         create[PermissionDeniedMessage],
	"system/mirror_error":              create[MirrorErrorMessage],
	"system/informational":             create[InformationalMessage],
	"system/session_writes_lost":       create[SessionWritesLostMessage],
}

func create[T any, M interface {
	*T
	Message
}]() Message {
	return M(new(T))
}

// messageKinds is the table the other way round.
var messageKinds = func() map[reflect.Type]string {
	kinds := map[reflect.Type]string{}
	for kind, create := range messageTypes {
		kinds[reflect.TypeOf(create())] = kind
	}
	return kinds
}()

func kindOf(m Message) string { return messageKinds[reflect.TypeOf(m)] }
