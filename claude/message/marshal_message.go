package message

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *APIRetry) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *ActiveGoal) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *Assistant) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *AuthStatus) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *AutocompactState) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *BackgroundTasksChanged) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *CommandLifecycle) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *CommandsChanged) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *CompactBoundary) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *ControlCancelRequest) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *ControlRequest) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *ControlRequestProgress) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *ControlResponse) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *ConversationReset) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *ElicitationComplete) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *Error) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *FilesPersisted) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *HookProgress) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *HookResponse) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *HookStarted) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *Informational) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *Init) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *KeepAlive) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *LocalCommandOutput) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *MemoryRecall) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *MirrorError) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *ModelFallback) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *ModelRefusalFallback) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *ModelRefusalNoFallback) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *Notification) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *PermissionDenied) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *PluginInstall) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *PromptSuggestion) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *RateLimitEvent) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *Result) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *SessionStateChanged) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *SessionTitleChanged) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *SessionWritesLost) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *Status) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *StreamEvent) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *TaskNotification) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *TaskProgress) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *TaskStarted) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *TaskUpdated) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *ThinkingTokens) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *ToolProgress) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *ToolUseSummary) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *TranscriptMirror) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *User) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *WorkerShuttingDown) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *System) MarshalJSON() ([]byte, error) { return marshalMessage(m) }

// MarshalJSON writes the line that m was decoded from, byte for byte, or the fields of a message that was built.
func (m *Unknown) MarshalJSON() ([]byte, error) { return marshalMessage(m) }
