package message

// System is a message about the session that is not part of the conversation. Each subtype that
// this package knows has its own type, which embeds System; a message of an unknown subtype is a
// *System itself.
type System struct {
	Header
	Subtype string `json:"subtype"`
}

// Data returns all members of the line as a map, for subtypes and members that have no field.
// It decodes at each call.
func (m *System) Data() map[string]any {
	data, _ := JSON(m.line).Value().(map[string]any)
	return data
}

// AsSystem returns the part that all system messages have in common. One case of a type switch,
// interface{ AsSystem() *System }, matches all of them.
func (m *System) AsSystem() *System { return m }

// Init is the first message of every turn, not only of the first one. It lists the session's
// model, permission mode, tools, MCP servers, commands and plugins.
type Init struct {
	System
	CWD                     string            `json:"cwd"`
	Model                   string            `json:"model"`
	PermissionMode          PermissionMode    `json:"permissionMode"`
	Tools                   []string          `json:"tools"`
	MCPServers              []InitMCPServer   `json:"mcp_servers"`
	SlashCommands           []string          `json:"slash_commands"`
	TerminalSlashCommands   []string          `json:"terminal_slash_commands,omitempty"`
	Agents                  []string          `json:"agents,omitempty"`
	Skills                  []string          `json:"skills"`
	Plugins                 []InitPlugin      `json:"plugins"`
	PluginErrors            []PluginError     `json:"plugin_errors,omitempty"`
	Betas                   []string          `json:"betas,omitempty"`
	Capabilities            []string          `json:"capabilities,omitempty"`
	OutputStyle             string            `json:"output_style"`
	APIKeySource            string            `json:"apiKeySource"`
	ClaudeCodeVersion       string            `json:"claude_code_version"`
	Effort                  string            `json:"effort,omitempty"`
	ViewMode                string            `json:"view_mode,omitempty"`
	FastModeState           string            `json:"fast_mode_state,omitempty"`
	FastModeDisabledReason  string            `json:"fast_mode_disabled_reason,omitempty"`
	UserMessageUUIDs        []string          `json:"user_message_uuids,omitempty"` // the prompts of this turn
	OriginalCWD             string            `json:"original_cwd,omitempty"`
	AdditionalDirectories   []string          `json:"additional_directories,omitempty"`
	MemoryPaths             map[string]string `json:"memory_paths,omitempty"`
	MessagingSocketPath     string            `json:"messaging_socket_path,omitempty"`
	AnalyticsDisabled       bool              `json:"analytics_disabled,omitempty"`
	ProductFeedbackDisabled bool              `json:"product_feedback_disabled,omitempty"`
	PerTurnEffortActive     bool              `json:"per_turn_effort_active,omitempty"`
	UltrathinkAvailable     bool              `json:"ultrathink_available,omitempty"`
	UltrathinkTypedRaises   bool              `json:"ultrathink_typed_raises,omitempty"`
}

// InitMCPServer is an MCP server of the session with the status that it had when the turn
// began.
type InitMCPServer struct {
	Name   string `json:"name"`
	Status string `json:"status"` // connected, failed, needs-auth, pending, disabled
	Source string `json:"source,omitempty"`
}

// InitPlugin is a plugin that the session has loaded: its name, its version, and where it comes
// from.
type InitPlugin struct {
	Name    string `json:"name"`
	Path    string `json:"path"`
	Version string `json:"version,omitempty"`
	Source  string `json:"source,omitempty"`
}

// PluginError is a plugin that the session could not load, with the type of the error and a
// message for people.
type PluginError struct {
	Plugin      string `json:"plugin"`
	Type        string `json:"type"`
	Message     string `json:"message"`
	Path        string `json:"path,omitempty"`
	ManagedLock JSON   `json:"managed_lock,omitempty"`
}

// PermissionMode decides tool calls that no permission rule matches. The set is open: a newer CLI
// may send values that have no constant here.
type PermissionMode string

// The modes that are known. A newer CLI may send others, so a switch over them needs a default.
const (
	ModeDefault           PermissionMode = "default"           // asks for permission
	ModeAcceptEdits       PermissionMode = "acceptEdits"       // runs file edits without asking, asks for the rest
	ModeBypassPermissions PermissionMode = "bypassPermissions" // runs all calls without asking
	ModePlan              PermissionMode = "plan"              // the agent plans and makes no changes
	ModeDontAsk           PermissionMode = "dontAsk"           // a call that would ask is denied
	ModeAuto              PermissionMode = "auto"              // a classifier decides
)

// Status reports the CLI's activity: "requesting" before each API call, "compacting" while it
// compacts the conversation, or "" when only PermissionMode has changed.
type Status struct {
	System
	Status             string         `json:"status,omitempty"`
	PermissionMode     PermissionMode `json:"permissionMode,omitempty"`
	CompactResult      string         `json:"compact_result,omitempty"` // success, failed
	CompactError       string         `json:"compact_error,omitempty"`
	CompactOutputChars int64          `json:"compact_output_chars,omitempty"`
	UserMessageUUIDs   []string       `json:"user_message_uuids,omitempty"`
}

// CompactBoundary marks the place at which the conversation was compacted: a summary replaces the
// messages before it.
type CompactBoundary struct {
	System
	CompactMetadata   CompactMetadata `json:"compact_metadata"`
	LogicalParentUUID string          `json:"logical_parent_uuid,omitempty"`
}

// CompactMetadata describes a compaction: its trigger, the tokens before and after it, and the
// messages that were kept.
type CompactMetadata struct {
	Trigger                 string             `json:"trigger"` // manual, auto
	PreTokens               int64              `json:"pre_tokens"`
	PostTokens              int64              `json:"post_tokens,omitempty"`
	DurationMS              int64              `json:"duration_ms,omitempty"`
	CumulativeDroppedTokens int64              `json:"cumulative_dropped_tokens,omitempty"`
	PreservedSegment        *PreservedSegment  `json:"preserved_segment,omitempty"`
	PreservedMessages       *PreservedMessages `json:"preserved_messages,omitempty"`
}

// PreservedSegment is a run of messages that a compaction kept, from the head to the tail, by
// their uuids.
type PreservedSegment struct {
	HeadUUID   string `json:"head_uuid"`
	AnchorUUID string `json:"anchor_uuid"`
	TailUUID   string `json:"tail_uuid"`
}

// PreservedMessages lists the messages that a compaction kept, by their uuids, and the message
// that they follow.
type PreservedMessages struct {
	AnchorUUID string   `json:"anchor_uuid"`
	UUIDs      []string `json:"uuids"`
	AllUUIDs   []string `json:"all_uuids,omitempty"`
}

// APIRetry reports that a request to the API failed, why, and when the CLI will retry it.
type APIRetry struct {
	System
	Attempt      int64          `json:"attempt"`
	MaxRetries   int64          `json:"max_retries"`
	RetryDelayMS float64        `json:"retry_delay_ms"`
	ErrorStatus  int64          `json:"error_status,omitempty"` // the HTTP status; 0: no answer at all
	Error        AssistantError `json:"error"`
	NoResponse   *NoResponse    `json:"no_response,omitempty"`
}

// NoResponse holds the time that the CLI waited for an answer of the API, and the time until it
// tries again.
type NoResponse struct {
	WaitedMS    float64 `json:"waited_ms"`
	RetryWaitMS float64 `json:"retry_wait_ms"`
}

// ControlRequestProgress reports that the CLI is still working on a control request, or retries a
// request to the API for it.
type ControlRequestProgress struct {
	System
	RequestID    string  `json:"request_id"`
	Status       string  `json:"status"` // started, api_retry
	Attempt      int64   `json:"attempt,omitempty"`
	MaxRetries   int64   `json:"max_retries,omitempty"`
	RetryDelayMS float64 `json:"retry_delay_ms,omitempty"`
	ErrorStatus  int64   `json:"error_status,omitempty"`
}

// ModelRefusalFallback reports that a model refused to answer and that another one answers in its
// place. A program must remove the messages of RetractedMessageUUIDs from its display and its
// storage.
type ModelRefusalFallback struct {
	System
	Trigger                string   `json:"trigger"`
	Direction              string   `json:"direction"` // retry, revert, sticky
	Scope                  string   `json:"scope,omitempty"`
	OriginalModel          string   `json:"original_model"`
	FallbackModel          string   `json:"fallback_model"`
	RequestID              string   `json:"request_id,omitempty"`
	RefusalCategory        string   `json:"api_refusal_category,omitempty"`
	RefusalExplanation     string   `json:"api_refusal_explanation,omitempty"`
	RetractedMessageUUIDs  []string `json:"retracted_message_uuids,omitempty"`
	RefusedUserMessageUUID string   `json:"refused_user_message_uuid,omitempty"`
	Content                string   `json:"content"`
}

// ModelRefusalNoFallback reports that the model refused to answer and that no other model
// answers in its place.
type ModelRefusalNoFallback struct {
	System
	OriginalModel          string `json:"original_model"`
	RequestID              string `json:"request_id,omitempty"`
	RefusalCategory        string `json:"api_refusal_category,omitempty"`
	RefusalExplanation     string `json:"api_refusal_explanation,omitempty"`
	RefusedUserMessageUUID string `json:"refused_user_message_uuid,omitempty"`
	Content                string `json:"content"`
}

// ModelFallback reports that another model answers from here on, and what caused it. Content is
// a text for people.
type ModelFallback struct {
	System
	Trigger       string `json:"trigger"`
	OriginalModel string `json:"original_model"`
	FallbackModel string `json:"fallback_model"`
	Content       string `json:"content"`
}

// LocalCommandOutput is the output of a slash command that the CLI ran by itself, without
// asking the model.
type LocalCommandOutput struct {
	System
	Content string `json:"content"`
}

// HookStarted reports that a command hook of the settings has begun. The CLI sends it with
// claude.Options.IncludeHookEvents, and always for SessionStart and Setup. Hooks that are Go
// functions have no such messages.
type HookStarted struct {
	System
	HookID    string `json:"hook_id"`
	HookName  string `json:"hook_name"`
	HookEvent string `json:"hook_event"`
}

// HookProgress holds the standard output and standard error so far of a command hook that is
// still running.
type HookProgress struct {
	System
	HookID    string `json:"hook_id"`
	HookName  string `json:"hook_name"`
	HookEvent string `json:"hook_event"`
	Output    string `json:"output"`
	Stdout    string `json:"stdout"`
	Stderr    string `json:"stderr"`
}

// HookResponse reports the end of a command hook: its output, its exit code, and whether it
// succeeded.
type HookResponse struct {
	System
	HookID    string `json:"hook_id"`
	HookName  string `json:"hook_name"`
	HookEvent string `json:"hook_event"`
	Output    string `json:"output"`
	Stdout    string `json:"stdout"`
	Stderr    string `json:"stderr"`
	ExitCode  *int64 `json:"exit_code,omitempty"`
	Outcome   string `json:"outcome"` // success, error, cancelled
}
