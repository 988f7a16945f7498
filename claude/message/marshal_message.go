package message

// MarshalJSON writes the line of m, or its fields.
func (m *APIRetry) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *ActiveGoal) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *Assistant) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *AuthStatus) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *AutocompactState) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *BackgroundTasksChanged) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *CommandLifecycle) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *CommandsChanged) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *CompactBoundary) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *ControlCancelRequest) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *ControlRequest) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *ControlRequestProgress) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *ControlResponse) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *ConversationReset) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *ElicitationComplete) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *Error) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *FilesPersisted) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *HookProgress) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *HookResponse) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *HookStarted) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *Informational) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *Init) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *KeepAlive) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *LocalCommandOutput) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *MemoryRecall) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *MirrorError) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *ModelFallback) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *ModelRefusalFallback) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *ModelRefusalNoFallback) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *Notification) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *PermissionDenied) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *PluginInstall) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *PromptSuggestion) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *RateLimitEvent) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *Result) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *SessionStateChanged) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *SessionTitleChanged) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *SessionWritesLost) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *Status) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *StreamEvent) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *TaskNotification) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *TaskProgress) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *TaskStarted) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *TaskUpdated) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *ThinkingTokens) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *ToolProgress) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *ToolUseSummary) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *TranscriptMirror) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *User) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *WorkerShuttingDown) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *System) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line of m, or its fields.
func (m *Unknown) MarshalJSON() ([]byte, error) { return marshalMessage(m) }
