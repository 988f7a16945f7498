package message

import (
	"reflect"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// messageTypes is the decode table of messages: it maps the wire name, with the subtype
// for system messages, to the Go type.
var messageTypes = jsonwire.Table[Message]{
	"assistant":              create[Assistant],
	"user":                   create[User],
	"result":                 create[Result],
	"stream_event":           create[StreamEvent],
	"tool_progress":          create[ToolProgress],
	"tool_use_summary":       create[ToolUseSummary],
	"auth_status":            create[AuthStatus],
	"rate_limit_event":       create[RateLimitEvent],
	"prompt_suggestion":      create[PromptSuggestion],
	"conversation_reset":     create[ConversationReset],
	"active_goal":            create[ActiveGoal],
	"keep_alive":             create[KeepAlive],
	"transcript_mirror":      create[TranscriptMirror],
	"command_lifecycle":      create[CommandLifecycle],
	"autocompact_state":      create[AutocompactState],
	"control_request":        create[ControlRequest],
	"control_response":       create[ControlResponse],
	"control_cancel_request": create[ControlCancelRequest],
	"error":                  create[Error],

	"system/init":                      create[Init],
	"system/status":                    create[Status],
	"system/compact_boundary":          create[CompactBoundary],
	"system/api_retry":                 create[APIRetry],
	"system/control_request_progress":  create[ControlRequestProgress],
	"system/model_refusal_fallback":    create[ModelRefusalFallback],
	"system/model_refusal_no_fallback": create[ModelRefusalNoFallback],
	"system/model_fallback":            create[ModelFallback],
	"system/local_command_output":      create[LocalCommandOutput],
	"system/hook_started":              create[HookStarted],
	"system/hook_progress":             create[HookProgress],
	"system/hook_response":             create[HookResponse],
	"system/plugin_install":            create[PluginInstall],
	"system/task_started":              create[TaskStarted],
	"system/task_progress":             create[TaskProgress],
	"system/task_updated":              create[TaskUpdated],
	"system/task_notification":         create[TaskNotification],
	"system/background_tasks_changed":  create[BackgroundTasksChanged],
	"system/thinking_tokens":           create[ThinkingTokens],
	"system/session_state_changed":     create[SessionStateChanged],
	"system/session_title_changed":     create[SessionTitleChanged],
	"system/worker_shutting_down":      create[WorkerShuttingDown],
	"system/commands_changed":          create[CommandsChanged],
	"system/notification":              create[Notification],
	"system/files_persisted":           create[FilesPersisted],
	"system/memory_recall":             create[MemoryRecall],
	"system/elicitation_complete":      create[ElicitationComplete],
	"system/permission_denied":         create[PermissionDenied],
	"system/mirror_error":              create[MirrorError],
	"system/informational":             create[Informational],
	"system/session_writes_lost":       create[SessionWritesLost],
}

func create[T any, M interface {
	*T
	Message
}]() Message {
	return M(new(T))
}

// messageKinds maps the Go types back to the wire names.
var messageKinds = messageTypes.Names()

func kindOf(m Message) string { return messageKinds[reflect.TypeOf(m)] }
