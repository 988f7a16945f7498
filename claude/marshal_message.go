package claude

// Every message writes the line that it was decoded from, or its own fields when
// it was built; every block, event and delta likewise its own text. The local
// type of each method drops the methods, or it would call itself.

// MarshalJSON writes the line of m, or its fields.
func (m *APIRetryMessage) MarshalJSON() ([]byte, error) {
	type plain APIRetryMessage
	return encodeMessage(m, struct {
		*plain
		unmarshaled
	}{plain: (*plain)(m)})
}

// MarshalJSON writes the line of m, or its fields.
func (m *ActiveGoalMessage) MarshalJSON() ([]byte, error) {
	type plain ActiveGoalMessage
	return encodeMessage(m, (*plain)(m))
}

// MarshalJSON writes the line of m, or its fields.
func (m *AssistantMessage) MarshalJSON() ([]byte, error) {
	type plain AssistantMessage
	return encodeMessage(m, (*plain)(m))
}

// MarshalJSON writes the line of m, or its fields.
func (m *AuthStatusMessage) MarshalJSON() ([]byte, error) {
	type plain AuthStatusMessage
	return encodeMessage(m, (*plain)(m))
}

// MarshalJSON writes the line of m, or its fields.
func (m *AutocompactStateMessage) MarshalJSON() ([]byte, error) {
	type plain AutocompactStateMessage
	return encodeMessage(m, (*plain)(m))
}

// MarshalJSON writes the line of m, or its fields.
func (m *BackgroundTasksChangedMessage) MarshalJSON() ([]byte, error) {
	type plain BackgroundTasksChangedMessage
	return encodeMessage(m, struct {
		*plain
		unmarshaled
	}{plain: (*plain)(m)})
}

// MarshalJSON writes the line of m, or its fields.
func (m *CommandLifecycleMessage) MarshalJSON() ([]byte, error) {
	type plain CommandLifecycleMessage
	return encodeMessage(m, (*plain)(m))
}

// MarshalJSON writes the line of m, or its fields.
func (m *CommandsChangedMessage) MarshalJSON() ([]byte, error) {
	type plain CommandsChangedMessage
	return encodeMessage(m, struct {
		*plain
		unmarshaled
	}{plain: (*plain)(m)})
}

// MarshalJSON writes the line of m, or its fields.
func (m *CompactBoundaryMessage) MarshalJSON() ([]byte, error) {
	type plain CompactBoundaryMessage
	return encodeMessage(m, struct {
		*plain
		unmarshaled
	}{plain: (*plain)(m)})
}

// MarshalJSON writes the line of m, or its fields.
func (m *ControlCancelRequestMessage) MarshalJSON() ([]byte, error) {
	type plain ControlCancelRequestMessage
	return encodeMessage(m, (*plain)(m))
}

// MarshalJSON writes the line of m, or its fields.
func (m *ControlRequestMessage) MarshalJSON() ([]byte, error) {
	type plain ControlRequestMessage
	return encodeMessage(m, (*plain)(m))
}

// MarshalJSON writes the line of m, or its fields.
func (m *ControlRequestProgressMessage) MarshalJSON() ([]byte, error) {
	type plain ControlRequestProgressMessage
	return encodeMessage(m, struct {
		*plain
		unmarshaled
	}{plain: (*plain)(m)})
}

// MarshalJSON writes the line of m, or its fields.
func (m *ControlResponseMessage) MarshalJSON() ([]byte, error) {
	type plain ControlResponseMessage
	return encodeMessage(m, (*plain)(m))
}

// MarshalJSON writes the line of m, or its fields.
func (m *ConversationResetMessage) MarshalJSON() ([]byte, error) {
	type plain ConversationResetMessage
	return encodeMessage(m, (*plain)(m))
}

// MarshalJSON writes the line of m, or its fields.
func (m *ElicitationCompleteMessage) MarshalJSON() ([]byte, error) {
	type plain ElicitationCompleteMessage
	return encodeMessage(m, struct {
		*plain
		unmarshaled
	}{plain: (*plain)(m)})
}

// MarshalJSON writes the line of m, or its fields.
func (m *ErrorMessage) MarshalJSON() ([]byte, error) {
	type plain ErrorMessage
	return encodeMessage(m, (*plain)(m))
}

// MarshalJSON writes the line of m, or its fields.
func (m *FilesPersistedMessage) MarshalJSON() ([]byte, error) {
	type plain FilesPersistedMessage
	return encodeMessage(m, struct {
		*plain
		unmarshaled
	}{plain: (*plain)(m)})
}

// MarshalJSON writes the line of m, or its fields.
func (m *HookProgressMessage) MarshalJSON() ([]byte, error) {
	type plain HookProgressMessage
	return encodeMessage(m, struct {
		*plain
		unmarshaled
	}{plain: (*plain)(m)})
}

// MarshalJSON writes the line of m, or its fields.
func (m *HookResponseMessage) MarshalJSON() ([]byte, error) {
	type plain HookResponseMessage
	return encodeMessage(m, struct {
		*plain
		unmarshaled
	}{plain: (*plain)(m)})
}

// MarshalJSON writes the line of m, or its fields.
func (m *HookStartedMessage) MarshalJSON() ([]byte, error) {
	type plain HookStartedMessage
	return encodeMessage(m, struct {
		*plain
		unmarshaled
	}{plain: (*plain)(m)})
}

// MarshalJSON writes the line of m, or its fields.
func (m *InformationalMessage) MarshalJSON() ([]byte, error) {
	type plain InformationalMessage
	return encodeMessage(m, struct {
		*plain
		unmarshaled
	}{plain: (*plain)(m)})
}

// MarshalJSON writes the line of m, or its fields.
func (m *InitMessage) MarshalJSON() ([]byte, error) {
	type plain InitMessage
	return encodeMessage(m, struct {
		*plain
		unmarshaled
	}{plain: (*plain)(m)})
}

// MarshalJSON writes the line of m, or its fields.
func (m *KeepAliveMessage) MarshalJSON() ([]byte, error) {
	type plain KeepAliveMessage
	return encodeMessage(m, (*plain)(m))
}

// MarshalJSON writes the line of m, or its fields.
func (m *LocalCommandOutputMessage) MarshalJSON() ([]byte, error) {
	type plain LocalCommandOutputMessage
	return encodeMessage(m, struct {
		*plain
		unmarshaled
	}{plain: (*plain)(m)})
}

// MarshalJSON writes the line of m, or its fields.
func (m *MemoryRecallMessage) MarshalJSON() ([]byte, error) {
	type plain MemoryRecallMessage
	return encodeMessage(m, struct {
		*plain
		unmarshaled
	}{plain: (*plain)(m)})
}

// MarshalJSON writes the line of m, or its fields.
func (m *MirrorErrorMessage) MarshalJSON() ([]byte, error) {
	type plain MirrorErrorMessage
	return encodeMessage(m, struct {
		*plain
		unmarshaled
	}{plain: (*plain)(m)})
}

// MarshalJSON writes the line of m, or its fields.
func (m *ModelFallbackMessage) MarshalJSON() ([]byte, error) {
	type plain ModelFallbackMessage
	return encodeMessage(m, struct {
		*plain
		unmarshaled
	}{plain: (*plain)(m)})
}

// MarshalJSON writes the line of m, or its fields.
func (m *ModelRefusalFallbackMessage) MarshalJSON() ([]byte, error) {
	type plain ModelRefusalFallbackMessage
	return encodeMessage(m, struct {
		*plain
		unmarshaled
	}{plain: (*plain)(m)})
}

// MarshalJSON writes the line of m, or its fields.
func (m *ModelRefusalNoFallbackMessage) MarshalJSON() ([]byte, error) {
	type plain ModelRefusalNoFallbackMessage
	return encodeMessage(m, struct {
		*plain
		unmarshaled
	}{plain: (*plain)(m)})
}

// MarshalJSON writes the line of m, or its fields.
func (m *NotificationMessage) MarshalJSON() ([]byte, error) {
	type plain NotificationMessage
	return encodeMessage(m, struct {
		*plain
		unmarshaled
	}{plain: (*plain)(m)})
}

// MarshalJSON writes the line of m, or its fields.
func (m *PermissionDeniedMessage) MarshalJSON() ([]byte, error) {
	type plain PermissionDeniedMessage
	return encodeMessage(m, struct {
		*plain
		unmarshaled
	}{plain: (*plain)(m)})
}

// MarshalJSON writes the line of m, or its fields.
func (m *PluginInstallMessage) MarshalJSON() ([]byte, error) {
	type plain PluginInstallMessage
	return encodeMessage(m, struct {
		*plain
		unmarshaled
	}{plain: (*plain)(m)})
}

// MarshalJSON writes the line of m, or its fields.
func (m *PromptSuggestionMessage) MarshalJSON() ([]byte, error) {
	type plain PromptSuggestionMessage
	return encodeMessage(m, (*plain)(m))
}

// MarshalJSON writes the line of m, or its fields.
func (m *RateLimitEventMessage) MarshalJSON() ([]byte, error) {
	type plain RateLimitEventMessage
	return encodeMessage(m, (*plain)(m))
}

// MarshalJSON writes the line of m, or its fields.
func (m *ResultMessage) MarshalJSON() ([]byte, error) {
	type plain ResultMessage
	return encodeMessage(m, (*plain)(m))
}

// MarshalJSON writes the line of m, or its fields.
func (m *SessionStateChangedMessage) MarshalJSON() ([]byte, error) {
	type plain SessionStateChangedMessage
	return encodeMessage(m, struct {
		*plain
		unmarshaled
	}{plain: (*plain)(m)})
}

// MarshalJSON writes the line of m, or its fields.
func (m *SessionTitleChangedMessage) MarshalJSON() ([]byte, error) {
	type plain SessionTitleChangedMessage
	return encodeMessage(m, struct {
		*plain
		unmarshaled
	}{plain: (*plain)(m)})
}

// MarshalJSON writes the line of m, or its fields.
func (m *SessionWritesLostMessage) MarshalJSON() ([]byte, error) {
	type plain SessionWritesLostMessage
	return encodeMessage(m, struct {
		*plain
		unmarshaled
	}{plain: (*plain)(m)})
}

// MarshalJSON writes the line of m, or its fields.
func (m *StatusMessage) MarshalJSON() ([]byte, error) {
	type plain StatusMessage
	return encodeMessage(m, struct {
		*plain
		unmarshaled
	}{plain: (*plain)(m)})
}

// MarshalJSON writes the line of m, or its fields.
func (m *StreamEventMessage) MarshalJSON() ([]byte, error) {
	type plain StreamEventMessage
	return encodeMessage(m, (*plain)(m))
}

// MarshalJSON writes the line of m, or its fields.
func (m *TaskNotificationMessage) MarshalJSON() ([]byte, error) {
	type plain TaskNotificationMessage
	return encodeMessage(m, struct {
		*plain
		unmarshaled
	}{plain: (*plain)(m)})
}

// MarshalJSON writes the line of m, or its fields.
func (m *TaskProgressMessage) MarshalJSON() ([]byte, error) {
	type plain TaskProgressMessage
	return encodeMessage(m, struct {
		*plain
		unmarshaled
	}{plain: (*plain)(m)})
}

// MarshalJSON writes the line of m, or its fields.
func (m *TaskStartedMessage) MarshalJSON() ([]byte, error) {
	type plain TaskStartedMessage
	return encodeMessage(m, struct {
		*plain
		unmarshaled
	}{plain: (*plain)(m)})
}

// MarshalJSON writes the line of m, or its fields.
func (m *TaskUpdatedMessage) MarshalJSON() ([]byte, error) {
	type plain TaskUpdatedMessage
	return encodeMessage(m, struct {
		*plain
		unmarshaled
	}{plain: (*plain)(m)})
}

// MarshalJSON writes the line of m, or its fields.
func (m *ThinkingTokensMessage) MarshalJSON() ([]byte, error) {
	type plain ThinkingTokensMessage
	return encodeMessage(m, struct {
		*plain
		unmarshaled
	}{plain: (*plain)(m)})
}

// MarshalJSON writes the line of m, or its fields.
func (m *ToolProgressMessage) MarshalJSON() ([]byte, error) {
	type plain ToolProgressMessage
	return encodeMessage(m, (*plain)(m))
}

// MarshalJSON writes the line of m, or its fields.
func (m *ToolUseSummaryMessage) MarshalJSON() ([]byte, error) {
	type plain ToolUseSummaryMessage
	return encodeMessage(m, (*plain)(m))
}

// MarshalJSON writes the line of m, or its fields.
func (m *TranscriptMirrorMessage) MarshalJSON() ([]byte, error) {
	type plain TranscriptMirrorMessage
	return encodeMessage(m, (*plain)(m))
}

// MarshalJSON writes the line of m, or its fields.
func (m *UserMessage) MarshalJSON() ([]byte, error) {
	type plain UserMessage
	return encodeMessage(m, (*plain)(m))
}

// MarshalJSON writes the line of m, or its fields.
func (m *WorkerShuttingDownMessage) MarshalJSON() ([]byte, error) {
	type plain WorkerShuttingDownMessage
	return encodeMessage(m, struct {
		*plain
		unmarshaled
	}{plain: (*plain)(m)})
}

// MarshalJSON writes the line of m, or its fields.
func (m *SystemMessage) MarshalJSON() ([]byte, error) {
	type plain SystemMessage
	return encodeMessage(m, (*plain)(m))
}

// MarshalJSON writes the line of m, or its fields.
func (m *UnknownMessage) MarshalJSON() ([]byte, error) {
	type plain UnknownMessage
	return encodeMessage(m, (*plain)(m))
}
