package hook

// SessionStartSource is the way in which a session started. The set is open: a newer CLI may
// send values that have no constant here.
type SessionStartSource string

// The sources that are known. A newer CLI may send others, so a switch over them needs a default.
const (
	SessionStartup SessionStartSource = "startup"
	SessionResume  SessionStartSource = "resume"
	SessionClear   SessionStartSource = "clear"
	SessionCompact SessionStartSource = "compact"
	SessionFork    SessionStartSource = "fork"
)

// SessionStartInput is the input of a SessionStart hook. The CLI calls Go hooks for it after
// /clear and when it compacts the conversation, but not when its process starts. The fields after
// SessionTitle are for sessions that are resumed or forked.
type SessionStartInput struct {
	Input
	Source                   SessionStartSource `json:"source"`
	Model                    string             `json:"model,omitempty"`
	SessionTitle             string             `json:"session_title,omitempty"`
	SecondsSinceLastResponse *float64           `json:"seconds_since_last_response,omitempty"`
	ContextTokens            *int64             `json:"context_tokens,omitempty"`
	PromptCacheLikelyExpired *bool              `json:"prompt_cache_likely_expired,omitempty"`
	EstimatedCacheWriteUSD   *float64           `json:"estimated_cache_write_usd,omitempty"`
}

// ExitReason is the reason why a session ends. The set is open: a newer CLI may send values that
// have no constant here.
type ExitReason string

// The reasons that are known. A newer CLI may send others, so a switch over them needs a default.
const (
	ExitClear           ExitReason = "clear"
	ExitResume          ExitReason = "resume"
	ExitLogout          ExitReason = "logout"
	ExitPromptInputExit ExitReason = "prompt_input_exit"
	ExitOther           ExitReason = "other"
)

// SessionEndInput is the input of a SessionEnd hook. The CLI calls Go hooks for it at /clear, but
// not when its process ends.
type SessionEndInput struct {
	Input
	Reason ExitReason `json:"reason"`
}

// SetupTrigger is the reason for a setup. The set is open: a newer CLI may send values that have
// no constant here.
type SetupTrigger string

// The triggers that are known. A newer CLI may send others, so a switch over them needs a default.
const (
	SetupInit        SetupTrigger = "init"
	SetupMaintenance SetupTrigger = "maintenance"
)

// SetupInput is the input of a Setup hook. The CLI sets up a project, for the first time or for
// maintenance.
type SetupInput struct {
	Input
	Trigger SetupTrigger `json:"trigger"`
}

// CompactTrigger tells whether a user requested the compaction or the context was full. The set is
// open: a newer CLI may send values that have no constant here.
type CompactTrigger string

// The triggers that are known. A newer CLI may send others, so a switch over them needs a default.
const (
	CompactManual CompactTrigger = "manual"
	CompactAuto   CompactTrigger = "auto"
)

// PreCompactInput is the input of a PreCompact hook. The conversation is about to be compacted,
// automatically or on request.
type PreCompactInput struct {
	Input
	Trigger            CompactTrigger `json:"trigger"`
	CustomInstructions *string        `json:"custom_instructions"` // nil: none
}

// PostCompactInput is the input of a PostCompact hook, with the summary that replaces the
// conversation so far.
type PostCompactInput struct {
	Input
	Trigger        CompactTrigger `json:"trigger"`
	CompactSummary string         `json:"compact_summary"`
}

// ModelSwitchSource is the cause of a model change. The set is open: a newer CLI may send values
// that have no constant here.
type ModelSwitchSource string

// The sources that are known. A newer CLI may send others, so a switch over them needs a default.
const (
	SwitchByCommand ModelSwitchSource = "command"
	SwitchByPicker  ModelSwitchSource = "picker"
	SwitchBySDK     ModelSwitchSource = "sdk"
	SwitchByItself  ModelSwitchSource = "auto"   // a fallback; PostModelSwitch only
	SwitchByResume  ModelSwitchSource = "resume" // PostModelSwitch only
)

// ModelSwitch describes a change of the model: the old and the new model, the cause, and the
// estimated cost.
type ModelSwitch struct {
	FromModel      string            `json:"from_model"`
	ToModel        string            `json:"to_model"`
	RequestedModel *string           `json:"requested_model"` // as requested; nil: the default
	Source         ModelSwitchSource `json:"source"`
	// ContextTokens go to the new model with the next request; EstimatedCacheWriteUSD is the
	// cost of caching them there, without the answer.
	ContextTokens          int64   `json:"context_tokens"`
	PromptCacheWarm        bool    `json:"prompt_cache_warm"` // true: the change loses a filled prompt cache
	CacheTTL               string  `json:"cache_ttl"`         // 5m, 1h
	EstimatedCacheWriteUSD float64 `json:"estimated_cache_write_usd"`
	Pricing                string  `json:"pricing"` // configured, catalog, default
}

// PreModelSwitchInput is the input of a PreModelSwitch hook: a change of the model that the
// hook can still refuse.
type PreModelSwitchInput struct {
	Input
	ModelSwitch
}

// PostModelSwitchInput is the input of a PostModelSwitch hook: a completed change of the model.
type PostModelSwitchInput struct {
	Input
	ModelSwitch
}
