// Package message has the types of the Claude Code CLI's output: one message for each line of
// its output, the content blocks inside, the events and deltas of a stream, token counts, and
// the prompts sent to the CLI.
//
// [Decode] decodes a line. [Message], [ContentBlock], [Event] and [Delta] are closed sets of
// pointer types, each with a type for unknown values: *[Unknown] for a message, *[System] for
// a system message of an unknown subtype, *[UnknownBlock], *[UnknownEvent], *[UnknownDelta].
// The output of a newer CLI decodes without errors or loss: Raw returns the line byte for byte
// and [Encode] writes it again.
//
// A decoded value is read-only and may be read by several goroutines. Its strings are parts of
// its line, so a program that keeps one for longer than the message should clone it with
// [strings.Clone]. Members with a shape that this package does not define, such as the input
// of a tool, have the type [JSON] and are decoded on demand; package claude/tool has their
// types. [Accumulator] joins streamed answers.
//
// # Names
//
// A Go name is the wire's name without the words that the package name implies. The table maps
// every name to those of the official SDKs; names that start with SDK are TypeScript's. The
// design documents that this project began with use Python's names.
//
//	wire                              Go                          official SDKs
//
//	Messages
//	assistant                         Assistant                   SDKAssistantMessage, Python AssistantMessage
//	user                              User                        SDKUserMessage, Python UserMessage
//	result                            Result                      SDKResultMessage, Python ResultMessage
//	stream_event                      StreamEvent                 SDKPartialAssistantMessage, Python StreamEvent
//	tool_progress                     ToolProgress                SDKToolProgressMessage
//	tool_use_summary                  ToolUseSummary              SDKToolUseSummaryMessage
//	auth_status                       AuthStatus                  SDKAuthStatusMessage
//	rate_limit_event                  RateLimitEvent              SDKRateLimitEvent, Python RateLimitEvent
//	prompt_suggestion                 PromptSuggestion            SDKPromptSuggestionMessage
//	conversation_reset                ConversationReset           SDKConversationResetMessage
//	active_goal                       ActiveGoal                  SDKActiveGoalMessage
//	keep_alive                        KeepAlive                   SDKKeepAliveMessage
//	transcript_mirror                 TranscriptMirror
//	command_lifecycle                 CommandLifecycle
//	autocompact_state                 AutocompactState
//	control_request                   ControlRequest              SDKControlRequest
//	control_response                  ControlResponse             SDKControlResponse
//	control_cancel_request            ControlCancelRequest        SDKControlCancelRequest
//	error                             Error
//	system/init                       Init                        SDKSystemMessage, Python SystemMessage
//	system/status                     Status                      SDKStatusMessage
//	system/compact_boundary           CompactBoundary             SDKCompactBoundaryMessage
//	system/api_retry                  APIRetry                    SDKAPIRetryMessage
//	system/control_request_progress   ControlRequestProgress      SDKControlRequestProgressMessage
//	system/model_refusal_fallback     ModelRefusalFallback        SDKModelRefusalFallbackMessage
//	system/model_refusal_no_fallback  ModelRefusalNoFallback      SDKModelRefusalNoFallbackMessage
//	system/model_fallback             ModelFallback
//	system/local_command_output       LocalCommandOutput          SDKLocalCommandOutputMessage
//	system/hook_started               HookStarted                 SDKHookStartedMessage
//	system/hook_progress              HookProgress                SDKHookProgressMessage
//	system/hook_response              HookResponse                SDKHookResponseMessage
//	system/plugin_install             PluginInstall               SDKPluginInstallMessage
//	system/task_started               TaskStarted                 SDKTaskStartedMessage, Python TaskStartedMessage
//	system/task_progress              TaskProgress                SDKTaskProgressMessage, Python TaskProgressMessage
//	system/task_updated               TaskUpdated                 SDKTaskUpdatedMessage
//	system/task_notification          TaskNotification            SDKTaskNotificationMessage, Python TaskNotificationMessage
//	system/background_tasks_changed   BackgroundTasksChanged      SDKBackgroundTasksChangedMessage
//	system/thinking_tokens            ThinkingTokens              SDKThinkingTokensMessage
//	system/session_state_changed      SessionStateChanged         SDKSessionStateChangedMessage
//	system/session_title_changed      SessionTitleChanged
//	system/worker_shutting_down       WorkerShuttingDown          SDKWorkerShuttingDownMessage
//	system/commands_changed           CommandsChanged             SDKCommandsChangedMessage
//	system/notification               Notification                SDKNotificationMessage
//	system/files_persisted            FilesPersisted              SDKFilesPersistedEvent
//	system/memory_recall              MemoryRecall                SDKMemoryRecallMessage
//	system/elicitation_complete       ElicitationComplete         SDKElicitationCompleteMessage
//	system/permission_denied          PermissionDenied            SDKPermissionDeniedMessage
//	system/mirror_error               MirrorError                 SDKMirrorErrorMessage
//	system/informational              Informational               SDKInformationalMessage
//	system/session_writes_lost        SessionWritesLost           SDKSessionWritesLostMessage
//
//	Blocks
//	text                              Text                        Python TextBlock
//	thinking                          Thinking                    Python ThinkingBlock
//	redacted_thinking                 RedactedThinking
//	tool_use                          ToolUse                     Python ToolUseBlock
//	tool_result                       ToolResult                  Python ToolResultBlock
//	server_tool_use                   ServerToolUse               Python ServerToolUseBlock
//	mcp_tool_use                      MCPToolUse
//	mcp_tool_result                   MCPToolResult
//	container_upload                  ContainerUpload
//	compaction                        Compaction
//	fallback                          Fallback
//	image                             Image
//	document                          Document
//	search_result                     SearchResult
//	*_tool_result                     ServerToolResult
//
//	Events of a stream_event
//	message_start                     MessageStart
//	content_block_start               ContentBlockStart
//	content_block_delta               ContentBlockDelta
//	content_block_stop                ContentBlockStop
//	message_delta                     MessageDelta
//	message_stop                      MessageStop
//	ping                              Ping
//	error                             StreamError
//
//	Deltas of a content_block_delta
//	text_delta                        TextDelta
//	thinking_delta                    ThinkingDelta
//	signature_delta                   SignatureDelta
//	input_json_delta                  InputJSONDelta
//	citations_delta                   CitationsDelta
//	compaction_delta                  CompactionDelta
package message
